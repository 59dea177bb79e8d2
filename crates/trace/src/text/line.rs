//! Lines of a log: their bounds, their prefixes, and their text without colours and escapes.

use memchr::{memchr, memmem, memrchr};

use super::automaton::escape_length;

/// The longest line: no search for the start or the end of a line goes further.
const LONGEST: usize = 64 << 10;

/// The offset at which the line of the byte at `at` starts.
pub(super) fn start(text: &[u8], at: usize) -> usize {
    let from = at.saturating_sub(LONGEST);
    memrchr(b'\n', &text[from..at]).map_or(from, |end| from + end + 1)
}

/// The offset of the end of the line of the byte at `at`: its line feed, or the end of the text.
pub(super) fn end(text: &[u8], at: usize) -> usize {
    let to = text.len().min(at.saturating_add(LONGEST));
    memchr(b'\n', &text[at..to]).map_or(to, |length| at + length)
}

/// The length of the prefix that `line` shares with `prefix`; digits may differ.
///
/// A prefix ends at a delimiter, or at a blank after a time, so that a wrapped line that begins with the same letters
/// keeps them.
pub(super) fn common_prefix(prefix: &[u8], line: &[u8]) -> usize {
    const DIGITS_OF_A_TIME: usize = 6;
    let (mut left, mut right, mut end) = (0, 0, 0);
    let mut digits_seen = 0;
    while let (Some(&a), Some(&b)) = (prefix.get(left), line.get(right)) {
        if a.is_ascii_digit() && b.is_ascii_digit() {
            digits_seen += digits(&prefix[left..]);
            left += digits(&prefix[left..]);
            right += digits(&line[right..]);
            continue;
        }
        if a != b {
            break;
        }
        let is_behind_dash = a == b' ' && left > 0 && prefix[left - 1] == b'-';
        left += 1;
        right += 1;
        let is_behind_time = a == b' ' && digits_seen >= DIGITS_OF_A_TIME;
        if is_behind_dash
            || is_behind_time
            || (b"]):|>#".contains(&a) && !line.get(right).is_some_and(u8::is_ascii_digit))
        {
            end = right;
        }
    }
    let is_only_colon = line[..end].iter().all(|&byte| byte == b':' || byte == b' ');
    if is_only_colon { 0 } else { end }
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// The number at the start of `text`, after blanks.
pub(super) fn number(text: &[u8]) -> Option<u32> {
    let text = text.trim_ascii_start();
    std::str::from_utf8(&text[..digits(text)]).ok()?.parse().ok()
}

/// The lines of a text from a given line on, cleaned, with the end of each; interleaved lines of other writers are left
/// out.
///
/// A logger may write a whole table on one line, with `\n` for line ends; these are then the lines.
pub(super) struct CleanLines<'a> {
    text: &'a [u8],
    at: usize,
    own: Origin,
    /// The text before the table on its first line.
    prefix: &'a [u8],
    is_escaped: bool,
}

impl<'a> CleanLines<'a> {
    /// The lines from the line at `start` on.
    pub(super) fn new(text: &'a [u8], start: usize) -> CleanLines<'a> {
        let whole = &text[start..end(text, start)];
        let is_escaped = memmem::find(whole, b"\\n").is_some();
        CleanLines { text, at: start, own: origin(whole), prefix: b"", is_escaped }
    }

    /// As [`CleanLines::new`], without the text before the `|` in front of `words` on the first line, on each line.
    pub(super) fn of_table(text: &'a [u8], start: usize, words: &[u8]) -> CleanLines<'a> {
        let before = &text[start..end(text, start)];
        let before = &before[..memmem::find(before, words).unwrap_or(0)];
        let escaped = memmem::rfind(before, b"\\n").map_or(0, |end| end + 2);
        let prefix = &before[escaped..];
        let prefix = &prefix[..memrchr(b'|', prefix).unwrap_or(0)];
        CleanLines { prefix, at: start + escaped, ..CleanLines::new(text, start) }
    }

    fn next_raw(&mut self) -> Option<&'a [u8]> {
        let start = Some(self.at).filter(|at| *at < self.text.len())?;
        let line_end = end(self.text, start);
        let escape = if self.is_escaped { memmem::find(&self.text[start..line_end], b"\\n") } else { None };
        let line_feed = usize::from(self.text.get(line_end) == Some(&b'\n'));
        let (line_end, skip) = escape.map_or((line_end, line_feed), |length| (start + length, 2));
        self.at = line_end + skip;
        Some(&self.text[start..line_end])
    }
}

impl Iterator for CleanLines<'_> {
    type Item = (String, usize);

    fn next(&mut self) -> Option<(String, usize)> {
        loop {
            let raw = self.next_raw()?;
            if self.is_escaped || origin(raw) == self.own {
                return Some((clean(&raw[common_prefix(self.prefix, raw)..]), self.at));
            }
        }
    }
}

/// The writer of a line, from the prefixes of launchers and loggers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Origin {
    /// The rank, or the task number that equals the rank.
    pub(super) rank: Option<u32>,
    /// The process id.
    pub(super) pid: Option<u32>,
}

/// Reads the prefixes of a line within its first 200 bytes.
pub(super) fn origin(line: &[u8]) -> Origin {
    const LONGEST: usize = 200;
    let line = &line[..line.len().min(LONGEST)];
    let line = line.trim_ascii_start();
    Origin { rank: rank(line), pid: pid(line) }
}

/// `[rank3]:` and `[default3]:` of torchrun, `[3]:` of accelerate, `3:` of srun, `[1,3]<stderr>:` of mpirun, and the
/// word `rank`.
fn rank(line: &[u8]) -> Option<u32> {
    const WORDS: [&[u8]; 10] =
        [b"[rank", b" rank", b"[default", b"[Rank ", b"[RANK ", b"rank=", b"rank: ", b"Rank ", b"(rank ", b"[rank:"];
    let after = |word: &[u8]| memmem::find(line, word).and_then(|at| number(&line[at + word.len()..]));
    if let Some(rank) = WORDS.iter().find_map(|word| after(word)) {
        return Some(rank);
    }
    match line {
        [b'[', b'1', b',', rest @ ..] if memchr(b'>', rest).is_some() => number(rest),
        [b'[', rest @ ..] if rest[digits(rest)..].starts_with(b"]:") => number(rest),
        _ if line[digits(line)..].starts_with(b": ") => number(line),
        _ => None,
    }
}

/// `(TrainWorker pid=123, ip=10.0.0.1)` of Ray.
fn pid(line: &[u8]) -> Option<u32> {
    let within = line.strip_prefix(b"(")?;
    number(&within[memmem::find(within, b" pid=")? + b" pid=".len()..])
}

/// A line as text: colours and carriage returns removed, HTML entities decoded.
pub(super) fn clean(line: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(line.len());
    let mut at = 0;
    while let Some(&byte) = line.get(at) {
        if byte == 0x1b {
            at += escape_length(&line[at..]);
        } else {
            bytes.push(byte);
            at += 1;
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_end_matches(['\r', '\n']);
    if text.contains('&') { without_entities(text) } else { text.to_owned() }
}

fn without_entities(text: &str) -> String {
    const ENTITIES: [(&str, &str); 8] = [
        ("&nbsp;", " "),
        ("&#160;", " "),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#39;", "'"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&amp;", "&"),
    ];
    ENTITIES.iter().fold(text.to_owned(), |text, (entity, character)| text.replace(entity, character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_name_ranks_and_processes() {
        let cases = [
            ("[rank3]: RuntimeError: x", Some(3), None),
            ("[default0]:RuntimeError: x", Some(0), None),
            ("[12]: RuntimeError: x", Some(12), None),
            ("7: RuntimeError: x", Some(7), None),
            ("[1,5]<stderr>: RuntimeError: x", Some(5), None),
            ("worker-1: [rank9]: RuntimeError: x", Some(9), None),
            ("2024-05-01 10:00:00 [Rank 2] RuntimeError: x", Some(2), None),
            ("(TrainWorker pid=4711, ip=10.0.0.1) RuntimeError: x", None, Some(4711)),
            ("(RayTrainWorker(rank=2) pid=9) RuntimeError: x", Some(2), Some(9)),
            ("RuntimeError: x", None, None),
            ("2024-05-01 10:00:00 RuntimeError: x", None, None),
            ("10:00:00 RuntimeError: x", None, None),
        ];
        for (line, rank, pid) in cases {
            let found = origin(line.as_bytes());
            assert_eq!((found.rank, found.pid), (rank, pid), "{line}");
        }
    }

    #[test]
    fn colours_and_entities_are_taken_out() {
        assert_eq!(clean(b"\x1b[31mError\x1b[0m: a &gt;&gt; b &amp;lt;\r"), "Error: a >> b &lt;");
    }
}
