//! Opens files by their first bytes, through gzip, zstd and zip, always as a stream.
//!
//! # Note [Container limits]
//! Content is unpacked while it is read, so a bomb costs time and not memory: at most a decoder's window for each layer
//! (zstd windows above 100 MiB are rejected). [`MOST_BYTES`] bounds the time: reading fails beyond this size. One
//! member of a zip is opened, after checking at most [`MOST_MEMBERS`]. Packed streams may nest [`MOST_LAYERS`] deep.

mod sniff;
mod unpack;
mod zip;

use std::io::{self, BufRead, BufReader, Read, Seek};

use thiserror::Error;

pub use self::sniff::{ContentKind, sniff};
use self::unpack::{Bounded, fill};

/// The most bytes unpacked from one file.
pub const MOST_BYTES: u64 = 16 << 30;
/// The most members of a zip that are checked.
pub const MOST_MEMBERS: usize = 1000;
/// The deepest nesting of packed streams.
pub const MOST_LAYERS: usize = 3;
/// The number of bytes by which content is recognised.
const HEAD: usize = 512;

/// The unpacked content of a file.
pub struct Opened<'a> {
    /// The kind of the content: [`ContentKind::Pickle`], [`ContentKind::Json`] or [`ContentKind::Text`].
    pub kind: ContentKind,
    /// The name of the member, if the file is a zip.
    pub member: Option<String>,
    /// The content, from its first byte. Errors of the unpacking are returned as [`io::Error`].
    pub content: Box<dyn BufRead + 'a>,
}

/// Errors of opening a file.
#[derive(Debug, Error)]
pub enum ContainerError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// The file starts as a zip, but is cut or damaged.
    #[error("a zip archive was expected: {0}")]
    Zip(String),
    /// The zip holds neither a snapshot nor a text.
    #[error("expected a snapshot or a text in the zip archive, found none among {members} members")]
    NoMember {
        /// The number of members.
        members: usize,
    },
    /// A member is stored by a method that is not supported.
    #[error("`{member}` in the zip archive is {how}; stored and deflated members are read")]
    Member {
        /// The name of the member.
        member: String,
        /// The method.
        how: String,
    },
    /// Too many nested packings.
    #[error("packed more than {MOST_LAYERS} times over")]
    Layers,
}

/// Opens a file, and unpacks it if necessary.
///
/// A zip is opened at its first pickle, else at the first JSON, else at the first text.
pub fn open<'a>(mut input: impl Read + Seek + 'a) -> Result<Opened<'a>, ContainerError> {
    let head = fill(&mut input, HEAD)?;
    input.rewind()?;
    if sniff(&head) == ContentKind::Zip {
        return zip::open(input);
    }
    open_stream(input)
}

/// [`open`] for streams without rewinding, such as a pipe. A zip is rejected: its directory is at its end.
pub fn open_stream<'a>(input: impl Read + 'a) -> Result<Opened<'a>, ContainerError> {
    let mut content: Box<dyn BufRead + 'a> = Box::new(BufReader::new(input));
    for _ in 0..MOST_LAYERS {
        let head = fill(&mut content, HEAD)?;
        let kind = sniff(&head);
        let whole = io::Cursor::new(head).chain(content);
        content = match kind {
            ContentKind::Gzip => Box::new(BufReader::new(Bounded::new(unpack::gzip(whole)))),
            ContentKind::Zstd => Box::new(BufReader::new(Bounded::new(unpack::zstd(whole)?))),
            ContentKind::Zip => return Err(ContainerError::Zip("one that can be rewound".to_owned())),
            ContentKind::Pickle | ContentKind::Json | ContentKind::Text => {
                return Ok(Opened { kind, member: None, content: Box::new(whole) });
            }
        };
    }
    Err(ContainerError::Layers)
}
