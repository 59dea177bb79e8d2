//! The content of a file from a crash: a snapshot, a text, or neither.

use std::io::{self, BufRead, Cursor, Read};

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

/// The number of first bytes of foreign content that are kept.
const START: usize = 8;
/// The number of bytes behind NUL bytes by which a text is recognised.
const HEAD: usize = 512;
/// Keys near the beginning of a snapshot in JSON, and of no log or table.
/// The NUL bytes at the start of a log that are skipped: a pipe may have no others.
const MOST_NULS: u64 = 1 << 36;
const SNAPSHOT_KEYS: [&[u8]; 3] = [b"\"segments\"", b"\"device_traces\"", b"\"total_size\""];

/// Reads the content of an opened file to its end, by the kind of its first bytes.
pub fn read(mut opened: Opened<'_>) -> Result<Content, ContentError> {
    let head = opened.content.fill_buf()?;
    if head.is_empty() {
        return Ok(Content::Empty);
    }
    if opened.kind == ContentKind::Pickle || opened.kind == ContentKind::Json && is_snapshot(head) {
        let snapshot = read_snapshot(&mut opened.content)?;
        // A packed file ends in a checksum, which is compared at the end of the content.
        io::copy(&mut opened.content, &mut io::sink())?;
        return Ok(Content::Snapshot(Box::new(snapshot)));
    }
    let start = head[..head.len().min(START)].to_owned();
    let text = if start.starts_with(b"\0") && !text::is_utf16(&start) {
        text_behind_nuls(&mut opened.content)?
    } else {
        text_of(head)
    };
    let Some(head) = text else { return Ok(Content::Foreign(start)) };
    Ok(Content::Text(text::read_stream(head.chain(opened.content))?))
}

/// The bytes to read before a text's content: none. `None` for other content.
fn text_of(head: &[u8]) -> Option<Cursor<Vec<u8>>> {
    (!is_binary(head)).then(Cursor::default)
}

/// Skips the NUL bytes at the start of a log that was truncated while its writer kept the offset (`copytruncate` of
/// logrotate). Returns the first bytes behind, already read, if the content is a text.
fn text_behind_nuls(content: &mut impl BufRead) -> io::Result<Option<Cursor<Vec<u8>>>> {
    skip_nuls(content)?;
    let mut head = Vec::new();
    content.take(HEAD as u64).read_to_end(&mut head)?;
    let is_text = text::is_utf16(&head) || !head.iter().any(|byte| is_of_binary(*byte));
    Ok((is_text && !head.is_empty()).then(|| Cursor::new(head)))
}

fn skip_nuls(content: &mut impl BufRead) -> io::Result<()> {
    let mut skipped = 0;
    while skipped < MOST_NULS {
        let bytes = content.fill_buf()?;
        let (length, nuls) = (bytes.len(), bytes.iter().take_while(|byte| **byte == 0).count());
        content.consume(nuls);
        skipped += nuls as u64;
        if length == 0 || nuls < length {
            break;
        }
    }
    Ok(())
}

/// Tests for a control character of binaries, used neither for lines nor by terminals.
fn is_of_binary(byte: u8) -> bool {
    byte < b' ' && !(0x07..=0x0d).contains(&byte) && byte != 0x1b
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

    /// The content of a file: `text` with the number of errors, `foreign`, or `empty`.
    fn check(file: &[u8], expected: &str) {
        let opened = crate::container::open(Cursor::new(file));
        let found = match opened.ok().and_then(|opened| read(opened).ok()) {
            Some(Content::Text(artifacts)) => format!("text {}", artifacts.len()),
            Some(Content::Foreign(start)) => format!("foreign {}", start.len()),
            Some(Content::Empty) => "empty".to_owned(),
            other => format!("{other:?}"),
        };
        assert_eq!(found, expected, "{} bytes, first {:?}", file.len(), &file[..file.len().min(16)]);
    }

    #[test]
    fn nul_bytes_before_a_text_are_skipped_and_a_binary_is_foreign() {
        const LOG: &[u8] = b"step 1\nRuntimeError: CUDA error: out of memory\n";
        for nuls in [1, 2, 7, 511, 512, 513, 8192, 3 << 20] {
            let behind = |rest: &[u8]| [&vec![0; nuls], rest].concat();
            check(&behind(LOG), "text 1");
            check(&behind(b"\xff\xfeo\0k\0"), "text 0");
            check(&behind(b"\x1b[1mstep\x1b[0m \xe2\x94\x82\r\n"), "text 0");
            check(&behind(b""), &format!("foreign {}", nuls.min(START)));
            check(&behind(b"\x18ftypisom\0\0\x02"), &format!("foreign {START}"));
            check(&behind(b"\x01\xba!!"), &format!("foreign {}", (nuls + 4).min(START)));
        }
        check(b"", "empty");
        check(LOG, "text 1");
    }
}
