//! Decodes a text to ASCII-compatible bytes.

use std::borrow::Cow;

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
