//! Reads the content of a file: a snapshot, a text, nothing, or a foreign format.

use std::io::{self, BufRead, Read as _};
use std::path::Path;

use diagnose::InputContents;
use trace::{ContentKind, container, read_snapshot, text};

use super::source::{OpenInput, unpack};
use crate::error::{Error, InputError};

/// The content of a file.
pub(super) enum Read {
    /// A snapshot or a text.
    Known(InputContents),
    Empty,
    /// The first bytes of a foreign format.
    Foreign {
        start: Vec<u8>,
    },
}

/// The longest text that is read, in bytes. No crash writes a longer log.
const MOST_TEXT: u64 = 4 << 30;
/// The number of first bytes that an error shows of a foreign file.
const SHOWN: usize = 8;
/// Keys near the beginning of a snapshot in JSON, which logs and tables lack.
const SNAPSHOT_KEYS: [&[u8]; 3] = [b"\"segments\"", b"\"device_traces\"", b"\"total_size\""];

/// Reads a file to its end. Errors show `name`.
pub(super) fn read(name: &Path, source: OpenInput) -> Result<Read, Error> {
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
        let snapshot = read_snapshot(&mut opened.content).map_err(|error| {
            Error::from(InputError::NotASnapshot { path: name.to_owned(), problem: error.to_string() })
        })?;
        // The checksum of a packed file is compared at its end.
        io::copy(&mut opened.content, &mut io::sink()).map_err(|error| damaged(error.to_string()))?;
        return Ok(Read::Known(InputContents::Snapshot(Box::new(snapshot))));
    }
    if is_binary(head) {
        return Ok(Read::Foreign { start: head[..head.len().min(SHOWN)].to_owned() });
    }
    let mut bytes = Vec::new();
    let mut content = opened.content.take(MOST_TEXT);
    content.read_to_end(&mut bytes).map_err(|error| damaged(error.to_string()))?;
    Ok(Read::Known(InputContents::Text(text::read(&in_utf8(bytes)))))
}

fn is_snapshot(head: &[u8]) -> bool {
    SNAPSHOT_KEYS.iter().any(|key| head.windows(key.len()).any(|window| window == *key))
}

/// Only UTF-16 has NUL bytes in a text.
fn is_binary(head: &[u8]) -> bool {
    head.contains(&0) && utf16(head).is_none()
}

/// Returns the decoder of two bytes, for a text with the byte order mark of UTF-16.
fn utf16(text: &[u8]) -> Option<fn([u8; 2]) -> u16> {
    match text {
        [0xff, 0xfe, ..] => Some(u16::from_le_bytes),
        [0xfe, 0xff, ..] => Some(u16::from_be_bytes),
        _ => None,
    }
}

/// Converts a text to UTF-8: PowerShell redirects output into files as UTF-16.
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
