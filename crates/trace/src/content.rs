//! The content of a file from a crash: a snapshot, a text, or neither.

use std::io::{self, BufRead as _, Read as _};

use thiserror::Error;

use crate::container::{ContentKind, Opened};
use crate::snapshot::{Snapshot, SnapshotError, read_snapshot};
use crate::text::{self, Artifact};

/// The content of a file.
#[derive(Debug)]
pub enum Content {
    /// A memory snapshot.
    Snapshot(Box<Snapshot>),
    /// A text, with the artifacts found in it.
    Text(Vec<Artifact>),
    /// No bytes.
    Empty,
    /// Neither a snapshot nor a text; the first bytes.
    Foreign(Vec<u8>),
}

/// Errors of reading a file's content.
#[derive(Debug, Error)]
pub enum ContentError {
    /// Reading or unpacking failed.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// The content starts as a snapshot, but cannot be read as one.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
}

/// The most bytes read of a text. A larger log was not written by one crash.
const MOST_TEXT: u64 = 4 << 30;
/// The number of first bytes of foreign content that are kept.
const START: usize = 8;
/// Keys near the beginning of a snapshot in JSON, and of no log or table.
const SNAPSHOT_KEYS: [&[u8]; 3] = [b"\"segments\"", b"\"device_traces\"", b"\"total_size\""];

/// Reads the content of an opened file to its end, by the kind of its first bytes.
pub fn read(mut opened: Opened<'_>) -> Result<Content, ContentError> {
    let head = opened.content.fill_buf()?;
    if head.is_empty() {
        return Ok(Content::Empty);
    }
    if opened.kind == ContentKind::Pickle || opened.kind == ContentKind::Json && is_snapshot(head) {
        let snapshot = read_snapshot(&mut opened.content)?;
        // A packed file ends in its checksum, which is compared at the end of the content.
        io::copy(&mut opened.content, &mut io::sink())?;
        return Ok(Content::Snapshot(Box::new(snapshot)));
    }
    if is_binary(head) {
        return Ok(Content::Foreign(head[..head.len().min(START)].to_owned()));
    }
    let mut bytes = Vec::new();
    opened.content.take(MOST_TEXT).read_to_end(&mut bytes)?;
    Ok(Content::Text(text::read(&bytes)))
}

fn is_snapshot(head: &[u8]) -> bool {
    SNAPSHOT_KEYS.iter().any(|key| head.windows(key.len()).any(|window| window == *key))
}

/// Only texts in UTF-16 have NUL bytes.
fn is_binary(head: &[u8]) -> bool {
    head.contains(&0) && !text::is_utf16(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_with_nul_bytes_is_not_a_text() {
        let cases: [(&[u8], bool); 4] =
            [(b"log", false), (b"\x7fELF\x02\0\0", true), (b"\xff\xfeG\0", false), (b"\xff\xd8\xff\xe0\0", true)];
        for (head, expected) in cases {
            assert_eq!(is_binary(head), expected, "{head:?}");
        }
    }

    #[test]
    fn a_snapshot_as_json_differs_from_other_json() {
        let cases: [(&[u8], bool); 4] = [
            (b"{\"segments\": [", true),
            (b"[{\"device\": 0, \"total_size\": 2097152", true),
            (b"{\"allocated_bytes.all.current\": 0", false),
            (b"{\"level\": \"ERROR\", \"message\": \"CUDA out of memory\"}", false),
        ];
        for (head, expected) in cases {
            assert_eq!(is_snapshot(head), expected, "{}", String::from_utf8_lossy(head));
        }
    }
}
