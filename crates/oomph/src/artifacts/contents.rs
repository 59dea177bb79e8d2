//! What a file holds: a snapshot, a text, nothing, or something that oomph does not know.

use std::io::{self, BufRead, Read as _};
use std::path::Path;

use diagnose::Contents;
use trace::{ContentKind, container, read_snapshot, text};

use super::source::{Source, unpack};
use crate::error::Error;

/// What came of reading a file.
pub(super) enum Read {
    /// Something that can be explained, or a text, whatever it says.
    Known(Contents),
    /// Nothing at all.
    Empty,
    /// Neither a snapshot nor a text; its first bytes.
    Foreign { start: Vec<u8> },
}

/// The most of a text that is read. A log of this size was not written by one crash.
const MOST_TEXT: u64 = 4 << 30;
/// How many bytes of a foreign file are told.
const TOLD: usize = 8;
/// Keys that a snapshot as JSON has near its beginning, and no log or table.
const SNAPSHOT_KEYS: [&[u8]; 3] = [b"\"segments\"", b"\"device_traces\"", b"\"total_size\""];

/// Reads a file to its end. `name` is for errors.
pub(super) fn read(name: &Path, source: Source) -> Result<Read, Error> {
    let damaged = |problem: String| Error::Damaged { path: name.to_owned(), problem };
    let mut opened = unpack(source).map_err(|error| match error {
        container::ContainerError::Read(source) => Error::Unreadable { path: name.to_owned(), source },
        other => damaged(other.to_string()),
    })?;
    let head = opened.content.fill_buf().map_err(|error| damaged(error.to_string()))?;
    if head.is_empty() {
        return Ok(Read::Empty);
    }
    if opened.kind == ContentKind::Pickle || opened.kind == ContentKind::Json && is_snapshot(head) {
        let snapshot = read_snapshot(&mut opened.content)
            .map_err(|error| Error::NotASnapshot { path: name.to_owned(), problem: error.to_string() })?;
        // A packed file ends in its checksum, which is compared when the end is reached.
        io::copy(&mut opened.content, &mut io::sink()).map_err(|error| damaged(error.to_string()))?;
        return Ok(Read::Known(Contents::Snapshot(Box::new(snapshot))));
    }
    if is_binary(head) {
        return Ok(Read::Foreign { start: head[..head.len().min(TOLD)].to_owned() });
    }
    let mut bytes = Vec::new();
    let mut content = opened.content.take(MOST_TEXT);
    content.read_to_end(&mut bytes).map_err(|error| damaged(error.to_string()))?;
    Ok(Read::Known(Contents::Text(text::read(&in_utf8(bytes)))))
}

fn is_snapshot(head: &[u8]) -> bool {
    SNAPSHOT_KEYS.iter().any(|key| head.windows(key.len()).any(|window| window == *key))
}

/// No text has a NUL byte, unless it is in UTF-16.
fn is_binary(head: &[u8]) -> bool {
    head.contains(&0) && utf16(head).is_none()
}

/// A function from two bytes to a unit of UTF-16, for a text that begins with its byte order mark.
fn utf16(text: &[u8]) -> Option<fn([u8; 2]) -> u16> {
    match text {
        [0xff, 0xfe, ..] => Some(u16::from_le_bytes),
        [0xfe, 0xff, ..] => Some(u16::from_be_bytes),
        _ => None,
    }
}

/// The text as UTF-8: PowerShell writes what is redirected into a file as UTF-16.
fn in_utf8(text: Vec<u8>) -> Vec<u8> {
    let Some(unit) = utf16(&text) else { return text };
    let (pairs, _) = text.as_chunks::<2>();
    let letters = char::decode_utf16(pairs[1..].iter().map(|pair| unit(*pair)));
    letters.map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect::<String>().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_in_utf_16_is_read_as_any_other() {
        let cases: [(&[u8], &[u8]); 5] = [
            (b"CUDA", b"CUDA"),
            (b"\xff\xfeG\0P\0U\0", b"GPU"),
            (b"\xfe\xff\0G\0P\0U", b"GPU"),
            (b"\xff\xfe\x3d\xd8\x25\xdd", "\u{1f525}".as_bytes()),
            (b"\xff\xfe", b""),
        ];
        for (text, expected) in cases {
            assert_eq!(in_utf8(text.to_owned()), expected, "{text:?}");
        }
    }

    #[test]
    fn what_has_nul_bytes_is_no_text() {
        let cases: [(&[u8], bool); 4] =
            [(b"log", false), (b"\x7fELF\x02\0\0", true), (b"\xff\xfeG\0", false), (b"\xff\xd8\xff\xe0\0", true)];
        for (head, expected) in cases {
            assert_eq!(is_binary(head), expected, "{head:?}");
        }
    }

    #[test]
    fn a_snapshot_as_json_is_told_from_other_json() {
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
