//! Printed forms of `torch.cuda.memory_stats()`.

use std::collections::BTreeMap;

use super::line;

/// The flat keys of `torch.cuda.memory_stats()`, e.g. `reserved_bytes.all.peak`, and their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryStats {
    /// The line of the text on which the keys start, counted from 1.
    pub line: u32,
    /// The rank in a prefix of the line.
    pub rank: Option<u32>,
    /// Sizes in bytes, and plain counts; -1 for `max_split_size` without a limit.
    pub values: BTreeMap<String, i64>,
}

impl MemoryStats {
    /// The value of a key; `None` for a missing key or a negative value.
    pub fn get(&self, key: &str) -> Option<u64> {
        self.values.get(key).and_then(|&value| u64::try_from(value).ok())
    }
}

/// The least number of keys of a table; texts with fewer only mention a few keys.
const FEWEST: usize = 4;

/// Reads the keys from the one around `at` on; returns their end.
///
/// The keys may stand in a dict or an OrderedDict as Python prints it, in JSON, or as `key: value` on separate lines.
pub(super) fn read(text: &[u8], at: usize, line: u32) -> Option<(MemoryStats, usize)> {
    let key = text[..at].iter().rev().take_while(|byte| is_of_key(**byte)).count();
    let mut stats = MemoryStats { line, ..MemoryStats::default() };
    stats.rank = line::origin(&text[line::start(text, at)..at]).rank;
    let mut end = at - key;
    while let Some((key, value, next)) = pair(text, end) {
        stats.values.insert(key, value);
        end = next;
    }
    (stats.values.len() >= FEWEST).then_some((stats, end))
}

fn is_of_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.'
}

/// The key and the value after `at`, and their end.
fn pair(text: &[u8], at: usize) -> Option<(String, i64, usize)> {
    const LONGEST_KEY: usize = 256;
    let start = at + between(&text[at..], b",;(){}'\"");
    let length = text[start..].iter().take_while(|byte| is_of_key(**byte)).count();
    let key = Some(&text[start..start + length]).filter(|key| key.len() <= LONGEST_KEY)?;
    let key = std::str::from_utf8(key).ok().filter(|key| key.contains(['.', '_']))?;
    let value = start + length + between(&text[start + length..], b",:='\"");
    let sign = usize::from(text.get(value) == Some(&b'-'));
    let digits = text[value + sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let end = value + sign + digits;
    let number = std::str::from_utf8(&text[value..end]).ok()?.parse().ok()?;
    Some((key.to_owned(), number, end))
}

/// The number of bytes at the start of `text` that separate a key and a value.
fn between(text: &[u8], marks: &[u8]) -> usize {
    const LONGEST: usize = 200;
    let is_between = |byte: &u8| byte.is_ascii_whitespace() || marks.contains(byte);
    let mut length = 0;
    while length < LONGEST {
        match text.get(length..) {
            Some([byte, ..]) if is_between(byte) => length += 1,
            Some([b'\\', b'n' | b't', ..]) => length += 2,
            Some([b'\\', ..]) => length += 1,
            _ => break,
        }
    }
    length
}
