//! Opens the most useful member of a zip archive.

use std::io::{BufReader, Read, Seek, SeekFrom};

use zip::{CompressionMethod, ZipArchive};

use super::unpack::{self, Bounded, fill};
use super::{ContainerError, ContentKind, HEAD, MOST_MEMBERS, Opened, open_stream, sniff};

/// The location of a member.
struct Member {
    name: String,
    start: u64,
    packed: u64,
    method: CompressionMethod,
    encrypted: bool,
}

/// Opens the first pickle among the members, else the first JSON, else the first text.
pub(super) fn open<'a>(input: impl Read + Seek + 'a) -> Result<Opened<'a>, ContainerError> {
    let mut archive = ZipArchive::new(input).map_err(|error| ContainerError::Zip(error.to_string()))?;
    let all = archive.len();
    let members = (0..all.min(MOST_MEMBERS)).filter_map(|index| member(&mut archive, index).transpose());
    let members = members.collect::<Result<Vec<_>, _>>()?;
    let mut input = archive.into_inner();
    let mut best: Option<(ContentKind, Member)> = None;
    for member in members {
        let Some(kind) = kind(&mut input, &member)? else { continue };
        if best.as_ref().is_none_or(|(known, _)| rank(kind) < rank(*known)) {
            best = Some((kind, member));
        }
    }
    let (_, member) = best.ok_or(ContainerError::NoMember { members: all })?;
    input.seek(SeekFrom::Start(member.start))?;
    let opened = open_stream(content(input, &member))?;
    Ok(Opened { member: Some(member.name), ..opened })
}

/// The priority of a kind, best first. Packed members are snapshots more often than logs.
fn rank(kind: ContentKind) -> u8 {
    match kind {
        ContentKind::Pickle => 0,
        ContentKind::Gzip | ContentKind::Zstd => 1,
        ContentKind::Json => 2,
        ContentKind::Text => 3,
        ContentKind::Zip => 4,
    }
}

/// The location of a member; `None` for folders and empty files.
fn member<R: Read + Seek>(archive: &mut ZipArchive<R>, index: usize) -> Result<Option<Member>, ContainerError> {
    let file = archive.by_index_raw(index).map_err(|error| ContainerError::Zip(error.to_string()))?;
    let Some(start) = file.data_start().filter(|_| file.is_file() && file.size() > 0) else {
        return Ok(None);
    };
    let (name, packed) = (file.name().to_owned(), file.compressed_size());
    Ok(Some(Member { name, start, packed, method: file.compression(), encrypted: file.encrypted() }))
}

/// The kind of a member; `None` for binaries, such as the tensors that `torch.save` writes beside its pickle.
fn kind<R: Read + Seek>(input: &mut R, member: &Member) -> Result<Option<ContentKind>, ContainerError> {
    if member.encrypted {
        return Err(member.unreadable("encrypted"));
    }
    input.seek(SeekFrom::Start(member.start))?;
    if !matches!(member.method, CompressionMethod::Stored | CompressionMethod::Deflated) {
        return Err(member.unreadable(&format!("packed by {}", member.method)));
    }
    let head = fill(&mut content(input, member), HEAD)?;
    let kind = sniff(&head);
    Ok(Some(kind).filter(|&kind| kind != ContentKind::Zip && (kind != ContentKind::Text || !head.contains(&0))))
}

/// The unpacked bytes of the member at the position of `input`.
fn content<'a, R: Read + 'a>(input: R, member: &Member) -> Box<dyn Read + 'a> {
    let packed = input.take(member.packed);
    match member.method {
        CompressionMethod::Deflated => Box::new(Bounded::new(unpack::deflate(BufReader::new(packed)))),
        _ => Box::new(packed),
    }
}

impl Member {
    fn unreadable(&self, how: &str) -> ContainerError {
        ContainerError::Member { member: self.name.clone(), how: how.to_owned() }
    }
}
