//! The text forms of protocols 0 and 1, and strings that are not quite UTF-8.

use std::borrow::Cow;

use super::error::PickleErrorKind;

/// A string of a binary instruction. Python writes file names that are not text as lone surrogates, which UTF-8 lacks.
pub(super) fn utf8(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// The argument of `UNICODE`: Latin-1 with `\uXXXX` and `\UXXXXXXXX`.
pub(super) fn raw_unicode_escape(line: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(line) {
        Ok(text) if text.is_ascii() && !text.contains('\\') => Cow::Borrowed(text),
        _ => Cow::Owned(unescape(line, |kind| match kind {
            b'u' => Some(Escape::Hex(4)),
            b'U' => Some(Escape::Hex(8)),
            _ => None,
        })),
    }
}

/// The argument of `STRING`: Python 2's `repr` of a string.
pub(super) fn quoted(line: &[u8]) -> Result<Cow<'_, str>, PickleErrorKind> {
    let line = line.trim_ascii_end();
    let inner = [b'\'', b'"'].iter().find_map(|&quote| line.strip_prefix(&[quote])?.strip_suffix(&[quote]));
    let inner = inner.ok_or(PickleErrorKind::BadQuotes)?;
    Ok(Cow::Owned(unescape(inner, |kind| match kind {
        b'x' => Some(Escape::Hex(2)),
        b'n' => Some(Escape::Is('\n')),
        b'r' => Some(Escape::Is('\r')),
        b't' => Some(Escape::Is('\t')),
        b'\\' | b'\'' | b'"' => Some(Escape::Is(char::from(kind))),
        _ => None,
    })))
}

enum Escape {
    /// A number of hexadecimal digits follows.
    Hex(usize),
    /// The escape stands for this character.
    Is(char),
}

/// Decodes Latin-1 with escapes. Escapes that `known` rejects stay as they are.
fn unescape(mut rest: &[u8], known: impl Fn(u8) -> Option<Escape>) -> String {
    let mut text = String::with_capacity(rest.len());
    while let Some((&byte, after)) = rest.split_first() {
        let escape = if byte == b'\\' { after.first().and_then(|&kind| known(kind)) } else { None };
        let taken = match escape {
            Some(Escape::Is(c)) => Some((c, 2)),
            Some(Escape::Hex(digits)) => after.get(1..=digits).and_then(code_point).map(|c| (c, 2 + digits)),
            None => None,
        };
        let (c, length) = taken.unwrap_or((char::from(byte), 1));
        text.push(c);
        rest = &rest[length..];
    }
    text
}

fn code_point(digits: &[u8]) -> Option<char> {
    let code = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    Some(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
}

/// The argument of `INT`, `LONG`, `FLOAT`, `GET` or `PUT`.
pub(super) fn number<T: std::str::FromStr>(line: &[u8]) -> Result<T, PickleErrorKind> {
    let text = utf8(line.trim_ascii());
    text.parse().map_err(|_| PickleErrorKind::BadNumber(text.chars().take(40).collect()))
}

/// A little-endian integer in two's complement, as in `LONG1` and `LONG4`.
pub(super) fn long(bytes: &[u8]) -> Result<i128, PickleErrorKind> {
    let negative = bytes.last().is_some_and(|&top| top >= 0x80);
    let mut wide = if negative { [0xff; 16] } else { [0; 16] };
    let low = wide.get_mut(..bytes.len()).ok_or(PickleErrorKind::IntTooLarge { bytes: bytes.len() })?;
    low.copy_from_slice(bytes);
    Ok(i128::from_le_bytes(wide))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_the_text_protocols_are_resolved() {
        let cases: [(&[u8], &str); 6] = [
            (b"plain", "plain"),
            (b"caf\xe9", "caf\u{e9}"),
            (b"\\u20ac and \\U0001f600", "\u{20ac} and \u{1f600}"),
            (b"\\ud800", "\u{fffd}"),
            (b"\\u12", "\\u12"),
            (b"C:\\new", "C:\\new"),
        ];
        for (line, expected) in cases {
            assert_eq!(raw_unicode_escape(line), expected);
        }
    }

    #[test]
    fn strings_of_python_2_are_unquoted() {
        let cases: [(&[u8], Result<&str, PickleErrorKind>); 5] = [
            (b"'a\\n\\x41\\'\\q'", Ok("a\nA'\\q")),
            (b"\"it's\"", Ok("it's")),
            (b"''", Ok("")),
            (b"'", Err(PickleErrorKind::BadQuotes)),
            (b"bare", Err(PickleErrorKind::BadQuotes)),
        ];
        for (line, expected) in cases {
            assert_eq!(quoted(line).as_deref(), expected.as_ref().copied());
        }
    }

    #[test]
    fn longs_are_little_endian_twos_complement_of_at_most_16_bytes() {
        let cases: [(&[u8], Result<i128, PickleErrorKind>); 6] = [
            (b"", Ok(0)),
            (b"\xff", Ok(-1)),
            (b"\xff\x00", Ok(255)),
            (b"\x00\x80", Ok(-32768)),
            (&[0xff; 16], Ok(-1)),
            (&[0; 17], Err(PickleErrorKind::IntTooLarge { bytes: 17 })),
        ];
        for (bytes, expected) in cases {
            assert_eq!(long(bytes), expected);
        }
    }
}
