//! Decodes a text to ASCII-compatible bytes.

use std::borrow::Cow;

/// Tests for the byte order mark of UTF-16.
pub fn is_utf16(text: &[u8]) -> bool {
    matches!(text, [0xff, 0xfe, ..] | [0xfe, 0xff, ..])
}

/// Converts UTF-16 with a byte order mark to UTF-8; other bytes stay as they are.
pub(super) fn to_utf8(text: &[u8]) -> Cow<'_, [u8]> {
    if !is_utf16(text) {
        return Cow::Borrowed(text);
    }
    let (mut decoder, mut utf8) = (Decoder::default(), Vec::new());
    decoder.decode(text, &mut utf8);
    decoder.finish(&mut utf8);
    Cow::Owned(utf8)
}

/// The encoding of a text, by its first two bytes.
#[derive(Clone, Copy, Default)]
enum Encoding {
    /// Fewer than two bytes were read.
    #[default]
    Unknown,
    /// ASCII and any other bytes.
    Ascii,
    Utf16(fn([u8; 2]) -> u16),
}

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
                if self.pending.len() >= 2 {
                    self.start(decoded);
                }
            }
        }
    }

    /// Appends the pending bytes at the end of the text.
    pub(super) fn finish(&mut self, decoded: &mut Vec<u8>) {
        match self.encoding {
            Encoding::Utf16(unit) => self.decode_units(unit, true, decoded),
            Encoding::Ascii | Encoding::Unknown => decoded.append(&mut self.pending),
        }
    }

    fn start(&mut self, decoded: &mut Vec<u8>) {
        let mut first = std::mem::take(&mut self.pending);
        self.encoding = match first[..] {
            [0xff, 0xfe, ..] => Encoding::Utf16(u16::from_le_bytes),
            [0xfe, 0xff, ..] => Encoding::Utf16(u16::from_be_bytes),
            _ => Encoding::Ascii,
        };
        if is_utf16(&first) {
            first.drain(..2);
        }
        self.decode(&first, decoded);
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
        let cases: [(&[u8], &[u8]); 9] = [
            (b"CUDA", b"CUDA"),
            (b"", b""),
            (b"C", b"C"),
            (b"\xff\xfeG\0P\0U\0", b"GPU"),
            (b"\xfe\xff\0G\0P\0U", b"GPU"),
            (b"\xff\xfe\x3d\xd8\x25\xdd", "\u{1f525}".as_bytes()),
            (b"\xff\xfe\x3d\xd8", "\u{fffd}".as_bytes()),
            (b"\xff\xfe", b""),
            (b"\xff\xfeG\0P", b"G"),
        ];
        for (text, expected) in cases {
            assert_eq!(to_utf8(text).as_ref(), expected, "{text:?}");
            for length in 1..=6 {
                assert_eq!(in_pieces(text, length), expected, "{text:?} in pieces of {length}");
            }
        }
    }
}
