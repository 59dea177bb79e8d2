//! What a file is, by its first bytes, and the way to its content: through gzip, zstd and zip, always as a stream.
//!
//! # Note [Container limits]
//! Content is unpacked as it is read, so a bomb costs time and not memory: at most a decoder's window for each layer (zstd
//! windows above 100 MiB are refused).
//! [`MOST_BYTES`] bounds the time: reading fails beyond it. Of a zip one member is opened, after at most [`MOST_MEMBERS`]
//! were looked at. A packed stream may hold another one,
//! [`MOST_LAYERS`] deep in all.

mod sniff;
mod unpack;
mod zip;

use std::io::{self, BufRead, BufReader, Read, Seek};

use thiserror::Error;

pub use self::sniff::{Kind, sniff};
use self::unpack::{Bounded, fill};

/// The most bytes that are unpacked of one file.
pub const MOST_BYTES: u64 = 16 << 30;
/// The most members of a zip that are looked at.
pub const MOST_MEMBERS: usize = 1000;
/// How deep packed streams may lie in each other.
pub const MOST_LAYERS: usize = 3;
/// How many bytes are looked at to tell what something is.
const HEAD: usize = 512;

/// What lies in a file, unpacked.
pub struct Opened<'a> {
    /// What the content is: [`Kind::Pickle`], [`Kind::Json`] or [`Kind::Text`].
    pub kind: Kind,
    /// The name of the member, where the file is a zip.
    pub member: Option<String>,
    /// The content, from its first byte. Errors of the unpacking come out of it as [`io::Error`].
    pub content: Box<dyn BufRead + 'a>,
}

/// Why a packed file could not be opened.
#[derive(Debug, Error)]
pub enum ContainerError {
    /// The file itself cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// It starts as a zip and is none, or a cut one.
    #[error("a zip archive was expected: {0}")]
    Zip(String),
    /// It is a zip of other things.
    #[error("expected a snapshot or a text in the zip archive, found none among {members} members")]
    NoMember {
        /// How many it has.
        members: usize,
    },
    /// A member is stored in a way that is not read.
    #[error("`{member}` in the zip archive is {how}; stored and deflated members are read")]
    Member {
        /// Its name.
        member: String,
        /// How it is stored.
        how: String,
    },
    /// A packed stream in a packed stream in a packed stream.
    #[error("packed more than {MOST_LAYERS} times over")]
    Layers,
}

/// The content of a file: unpacked where it is packed, as it is where not.
///
/// A zip is read at its first member that is a pickle; where none is, at the first JSON, then at the first text.
pub fn open<'a>(mut input: impl Read + Seek + 'a) -> Result<Opened<'a>, ContainerError> {
    let head = fill(&mut input, HEAD)?;
    input.rewind()?;
    if sniff(&head) == Kind::Zip {
        return zip::open(input);
    }
    open_stream(input)
}

/// [`open`] for what cannot be rewound, such as a pipe. A zip is refused here: its directory is at its end.
pub fn open_stream<'a>(input: impl Read + 'a) -> Result<Opened<'a>, ContainerError> {
    let mut content: Box<dyn BufRead + 'a> = Box::new(BufReader::new(input));
    for _ in 0..MOST_LAYERS {
        let head = fill(&mut content, HEAD)?;
        let kind = sniff(&head);
        let whole = io::Cursor::new(head).chain(content);
        content = match kind {
            Kind::Gzip => Box::new(BufReader::new(Bounded::new(unpack::gzip(whole)))),
            Kind::Zstd => Box::new(BufReader::new(Bounded::new(unpack::zstd(whole)?))),
            Kind::Zip => return Err(ContainerError::Zip("one that can be rewound".to_owned())),
            Kind::Pickle | Kind::Json | Kind::Text => {
                return Ok(Opened { kind, member: None, content: Box::new(whole) });
            }
        };
    }
    Err(ContainerError::Layers)
}
