//! Decodes a text to ASCII-compatible bytes.

use std::borrow::Cow;

/// Tests for UTF-16: a byte order mark, or two ASCII characters of two bytes each.
pub fn is_utf16(text: &[u8]) -> bool {
    find_utf16(text).is_some()
}

/// Reads a unit of UTF-16.
type ReadUnit = fn([u8; 2]) -> u16;

/// Returns the order of the bytes and the length of the mark; `None` for any other encoding.
fn find_utf16(text: &[u8]) -> Option<(ReadUnit, usize)> {
    match text {
        [0xff, 0xfe, ..] => Some((u16::from_le_bytes, 2)),
        [0xfe, 0xff, ..] => Some((u16::from_be_bytes, 2)),
        [one, 0, other, 0, ..] if is_printed(*one) && is_printed(*other) => Some((u16::from_le_bytes, 0)),
        [0, one, 0, other, ..] if is_printed(*one) && is_printed(*other) => Some((u16::from_be_bytes, 0)),
        _ => None,
    }
}

fn is_printed(byte: u8) -> bool {
    byte.is_ascii_graphic() || byte.is_ascii_whitespace()
}

/// Converts UTF-16 to UTF-8; other bytes stay as they are.
pub(crate) fn to_utf8(text: &[u8]) -> Cow<'_, [u8]> {
    if !is_utf16(text) {
        return Cow::Borrowed(text);
    }
    let (mut decoder, mut utf8) = (Decoder::default(), Vec::new());
    decoder.decode(text, &mut utf8);
    decoder.finish(&mut utf8);
    Cow::Owned(utf8)
}

/// The encoding of a text, by its first four bytes.
#[derive(Clone, Copy, Default)]
enum Encoding {
    /// Fewer than [`FIRST`] bytes were read.
    #[default]
    Unknown,
    /// ASCII and any other bytes.
    Ascii,
    Utf16(fn([u8; 2]) -> u16),
}

/// The bytes that tell the encoding.
const FIRST: usize = 4;

/// [`to_utf8`] for a text that comes in pieces.
#[derive(Default)]
pub(super) struct Decoder {
    encoding: Encoding,
    /// The bytes whose meaning depends on the next piece.
    pending: Vec<u8>,
}

impl Decoder {
    /// Appends the next piece to `decoded`.
    pub(super) fn decode(&mut self, piece: &[u8], decoded: &mut Vec<u8>) {
        match self.encoding {
            Encoding::Ascii => decoded.extend_from_slice(piece),
            Encoding::Utf16(unit) => {
                self.pending.extend_from_slice(piece);
                self.decode_units(unit, false, decoded);
            }
            Encoding::Unknown => {
                self.pending.extend_from_slice(piece);
                if self.pending.len() >= FIRST {
                    self.start(decoded);
                }
            }
        }
    }

    /// Appends the pending bytes at the end of the text.
    pub(super) fn finish(&mut self, decoded: &mut Vec<u8>) {
        if matches!(self.encoding, Encoding::Unknown) {
            self.start(decoded);
        }
        if let Encoding::Utf16(unit) = self.encoding {
            self.decode_units(unit, true, decoded);
        }
    }

    fn start(&mut self, decoded: &mut Vec<u8>) {
        let first = std::mem::take(&mut self.pending);
        let found = find_utf16(&first);
        self.encoding = found.map_or(Encoding::Ascii, |(unit, _)| Encoding::Utf16(unit));
        let mark = found.map_or(0, |(_, mark)| mark);
        self.decode(&first[mark..], decoded);
    }

    /// Decodes all whole characters that are pending. An odd byte at the end of the text is dropped.
    fn decode_units(&mut self, unit: fn([u8; 2]) -> u16, is_end: bool, decoded: &mut Vec<u8>) {
        let mut units: Vec<u16> = self.pending.as_chunks().0.iter().map(|pair| unit(*pair)).collect();
        if !is_end {
            units.pop_if(|last| is_first_half(*last));
        }
        self.pending.drain(..2 * units.len());
        let characters = char::decode_utf16(units);
        let text: String = characters.map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        decoded.extend_from_slice(text.as_bytes());
    }
}

/// Tests for the first unit of a pair.
fn is_first_half(unit: u16) -> bool {
    (0xd800..0xdc00).contains(&unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_pieces(text: &[u8], length: usize) -> Vec<u8> {
        let (mut decoder, mut utf8) = (Decoder::default(), Vec::new());
        for piece in text.chunks(length) {
            decoder.decode(piece, &mut utf8);
        }
        decoder.finish(&mut utf8);
        utf8
    }

    #[test]
    fn a_text_in_utf_16_becomes_utf_8() {
        let cases: [(&[u8], &[u8]); 13] = [
            (b"CUDA", b"CUDA"),
            (b"", b""),
            (b"C", b"C"),
            (b"\xff\xfeG\0P\0U\0", b"GPU"),
            (b"\xfe\xff\0G\0P\0U", b"GPU"),
            (b"\xff\xfe\x3d\xd8\x25\xdd", "\u{1f525}".as_bytes()),
            (b"\xff\xfe\x3d\xd8", "\u{fffd}".as_bytes()),
            (b"\xff\xfe", b""),
            (b"\xff\xfeG\0P", b"G"),
            (b"G\0P\0U\0", b"GPU"),
            (b"\0G\0P\0U", b"GPU"),
            (b"G\0\xe9\0", b"G\0\xe9\0"),
            (b"G\0P", b"G\0P"),
        ];
        for (text, expected) in cases {
            assert_eq!(to_utf8(text).as_ref(), expected, "{text:?}");
            for length in 1..=6 {
                assert_eq!(in_pieces(text, length), expected, "{text:?} in pieces of {length}");
            }
        }
    }
}
