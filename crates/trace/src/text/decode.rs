//! Decodes a text to ASCII-compatible bytes.

use std::borrow::Cow;

/// Tests for the byte order mark of UTF-16.
pub fn is_utf16(text: &[u8]) -> bool {
    matches!(text, [0xff, 0xfe, ..] | [0xfe, 0xff, ..])
}

/// Converts UTF-16 with a byte order mark to UTF-8; other bytes stay as they are.
pub(super) fn to_utf8(text: &[u8]) -> Cow<'_, [u8]> {
    match text {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => Cow::Borrowed(text),
    }
}

fn utf16(text: &[u8], unit: fn([u8; 2]) -> u16) -> Cow<'_, [u8]> {
    let units = text.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    let characters = char::decode_utf16(units).map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER));
    Cow::Owned(characters.collect::<String>().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_in_utf_16_becomes_utf_8() {
        let cases: [(&[u8], &[u8]); 6] = [
            (b"CUDA", b"CUDA"),
            (b"\xff\xfeG\0P\0U\0", b"GPU"),
            (b"\xfe\xff\0G\0P\0U", b"GPU"),
            (b"\xff\xfe\x3d\xd8\x25\xdd", "\u{1f525}".as_bytes()),
            (b"\xff\xfe", b""),
            (b"\xff\xfeG\0P", b"G"),
        ];
        for (text, expected) in cases {
            assert_eq!(to_utf8(text).as_ref(), expected, "{text:?}");
        }
    }
}
