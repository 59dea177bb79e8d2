//! A part of a text, reduced to the message: without blanks, colours, borders of boxes, prefixes of lines, escapes.
//!
//! See Note [Text without blanks]: numbers and units that a terminal broke are joined again.

use super::automaton::{escape_length, is_passed_over};
use super::line;

/// The significant bytes of a stretch, with their offsets in the text.
pub(super) struct Normalized {
    /// The significant bytes, ASCII only.
    pub(super) bytes: Vec<u8>,
    /// The offset in the text of each byte.
    offsets: Vec<usize>,
    /// The offset in the text at which the stretch ends.
    end: usize,
}

impl Normalized {
    /// Reduces `text` from `start`, at most `limit` bytes.
    pub(super) fn new(text: &[u8], start: usize, limit: usize) -> Normalized {
        let end = text.len().min(start.saturating_add(limit));
        let mut normalized = Normalized { bytes: Vec::with_capacity(limit), offsets: Vec::with_capacity(limit), end };
        let prefix = &text[line::start(text, start)..start];
        let mut at = start;
        while at < end {
            if text[at].is_ascii_alphanumeric() {
                normalized.bytes.push(text[at]);
                normalized.offsets.push(at);
                at += 1;
                continue;
            }
            let skip = skip_length(&text[at..end]);
            if skip == 0 {
                let (byte, length) = decode_char(&text[at..end]);
                normalized.bytes.push(byte);
                normalized.offsets.push(at);
                at += length;
                continue;
            }
            at += skip;
            let is_line_end = text[at - 1] == b'\n';
            if is_line_end {
                at += line::common_prefix(prefix, &text[at..end]);
            }
        }
        normalized
    }

    /// The offset in the text of byte `index`; the end of the stretch for the index after the last.
    pub(super) fn offset(&self, index: usize) -> usize {
        self.offsets.get(index).copied().unwrap_or(self.end)
    }

    /// The bytes from `index` on.
    pub(super) fn from(&self, index: usize) -> &[u8] {
        self.bytes.get(index..).unwrap_or_default()
    }

    /// The bytes before `offset` in the text.
    pub(super) fn before(&self, offset: usize) -> &[u8] {
        &self.bytes[..self.offsets.partition_point(|&at| at < offset)]
    }

    /// Drops the bytes from `index` on.
    pub(super) fn cut(&mut self, index: usize) {
        if index < self.bytes.len() {
            self.end = self.offset(index);
            self.bytes.truncate(index);
            self.offsets.truncate(index);
        }
    }
}

/// The number of insignificant bytes at the start of `text`.
fn skip_length(text: &[u8]) -> usize {
    match text {
        [0x1b, ..] => escape_length(text),
        [byte, ..] if is_passed_over(*byte) || *byte == b'|' => 1,
        // The second form is a soft line end in quoted-printable.
        [b'\\', b'n' | b'r' | b't', ..] | [b'=', b'\n', ..] => 2,
        [b'\\', b'u', b'0', b'0', b'1', b'b' | b'B', rest @ ..] => 6 + escaped_escape(rest),
        [b'\\', b'x', b'1', b'b' | b'B', rest @ ..] => 4 + escaped_escape(rest),
        [b'\\', b'u', b'0' | b'2', _, _, _, ..] => 6,
        // An escape; bold in Markdown.
        [b'\\' | b'*', ..] => 1,
        [b'=', b'\r', b'\n', ..] | [b'=', b'2', b'0', ..] => 3,
        [b'<', ..] => tag_length(text),
        [b'&', ..] if text.starts_with(b"&nbsp;") || text.starts_with(b"&#160;") => 6,
        _ => 0,
    }
}

/// The length of an escape sequence whose ESC is itself escaped.
fn escaped_escape(rest: &[u8]) -> usize {
    match rest.first() {
        Some(b'[') => 1 + rest.iter().skip(1).take_while(|byte| (0x20..0x40).contains(*byte)).count() + 1,
        _ => 0,
    }
}

/// The length of the HTML tag at the start of `text`; 0 if there is none.
fn tag_length(text: &[u8]) -> usize {
    const LONGEST: usize = 64;
    if !text.get(1).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'/') {
        return 0;
    }
    let within = &text[..text.len().min(LONGEST)];
    within.iter().position(|&byte| byte == b'>').map_or(0, |end| end + 1)
}

/// The character at the start of `text`, and its length, which is more than 1 for an HTML entity.
fn decode_char(text: &[u8]) -> (u8, usize) {
    const ENTITIES: [(&[u8], u8); 6] =
        [(b"&gt;", b'>'), (b"&lt;", b'<'), (b"&amp;", b'&'), (b"&quot;", b'"'), (b"&#x27;", b'\''), (b"&#39;", b'\'')];
    let entity = ENTITIES.iter().find(|(entity, _)| text.starts_with(entity));
    entity.map_or((text[0], 1), |(entity, character)| (*character, entity.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let start = text.find("CUDA").unwrap_or(0);
        let normalized = Normalized::new(text.as_bytes(), start, text.len());
        assert_eq!(String::from_utf8_lossy(&normalized.bytes), expected, "{text:?}");
    }

    #[test]
    fn blanks_and_wrapping_vanish() {
        check("CUDA out of mem\r\nory. 20\n.00 M\n  iB", "CUDAoutofmemory.20.00MiB");
        check("│ CUDA out of  │\n│ memory.      │", "CUDAoutofmemory.");
        check("| CUDA out of  |\n| memory.      |", "CUDAoutofmemory.");
    }

    #[test]
    fn escapes_and_markup_vanish() {
        check("CUDA \\n out \\t of\\u001b[31m memory\\x1b[0m.", "CUDAoutofmemory.");
        check("CUDA <b>out</b> of&nbsp;memory is &gt;&gt; a < b", "CUDAoutofmemoryis>>a<b");
        check("CUDA \u{1b}[1;31mout of\u{1b}[0m memory", "CUDAoutofmemory");
    }

    #[test]
    fn the_prefix_of_the_first_line_vanishes_from_the_others() {
        check("[rank3]: CUDA out\n[rank3]: of memory", "CUDAoutofmemory");
        check("2024-05-01 10:00:00,123 | CUDA out\n2024-05-01 10:00:00,124 | of memory", "CUDAoutofmemory");
        check("app_1  | CUDA out\napp_1  | of memory", "CUDAoutofmemory");
        check("> CUDA out\n> of memory", "CUDAoutofmemory");
        check("[rank3]: CUDA limit (set)\n[rank3]:      : 12.00", "CUDAlimit(set):12.00");
    }

    #[test]
    fn a_line_that_only_begins_alike_keeps_its_beginning() {
        check("2.00 CUDA out\n2.11 GiB", "CUDAout2.11GiB");
        check("Error: CUDA out\nEr of", "CUDAoutErof");
    }
}
