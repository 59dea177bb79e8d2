//! The bounds of a message in its text, and its words in one line.

use memchr::memmem;

use super::line;

/// The length to which messages are cut.
const LONGEST: usize = 4 << 10;

/// The start of the sentence with the byte at `at`: after prefixes and the exception's class.
pub(super) fn start(text: &[u8], at: usize) -> usize {
    let line_start = line::start(text, at);
    let before = &text[line_start..at];
    let escaped = memmem::rfind(before, b"\\n").map_or(0, |end| end + 2);
    let class = ["Error: ", "error: ", "ERROR: ", "Exception: "].into_iter();
    let behind = class.filter_map(|class| memmem::rfind(before, class.as_bytes()).map(|at| at + class.len())).max();
    let from = behind.unwrap_or(0).max(escaped);
    let blanks = before[from..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    line_start + from + blanks
}

/// The end of the line with the byte at `at`, or of its part up to an escaped line feed.
pub(super) fn end(text: &[u8], at: usize) -> usize {
    let end = line::end(text, at.min(text.len())).min(at.saturating_add(LONGEST)).min(text.len());
    memmem::find(&text[at.min(end)..end], b"\\n").map_or(end, |length| at + length)
}

/// The class of the exception whose message starts at `at`: `torch.OutOfMemoryError` before `: `.
pub(super) fn class(text: &[u8], at: usize) -> Option<String> {
    const LONGEST_NAME: usize = 256;
    let before = text[..at].trim_ascii_end();
    let before = before.strip_suffix(b":")?;
    let letters = before.iter().rev().take(LONGEST_NAME);
    let length = letters.take_while(|byte| byte.is_ascii_alphanumeric() || b"._".contains(byte)).count();
    let class = String::from_utf8_lossy(&before[before.len() - length..]).into_owned();
    (class.ends_with("Error") || class.ends_with("Exception")).then_some(class)
}

/// The words of `text` from `start` to `end` in one line.
///
/// Lines broken by a terminal have equal lengths and are joined without a blank; other lines were broken at blanks.
pub(super) fn words(text: &[u8], start: usize, end: usize) -> String {
    let prefix = &text[line::start(text, start)..start];
    let end = end.min(start.saturating_add(LONGEST)).max(start);
    let mut lines: Vec<String> = Vec::new();
    for (number, line) in text[start..end].split(|&byte| byte == b'\n').enumerate() {
        let skip = if number == 0 { 0 } else { line::common_prefix(prefix, line) };
        lines.push(unboxed(&line::clean(&line[skip..])));
    }
    let glue = if are_cut_at_a_width(&lines, prefix.len()) { "" } else { " " };
    let mut words = lines.iter().map(String::as_str).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(glue);
    if lines.len() > 1 {
        words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    words.trim().trim_end_matches(['"', '\'', '}', ')']).trim_end_matches('\\').to_owned() + closing(&words)
}

/// The closing parenthesis that a message lacks.
fn closing(words: &str) -> &'static str {
    let opened = words.matches('(').count();
    let words = words.trim().trim_end_matches(['"', '\'', '}']);
    if words.ends_with(')') && words.matches(')').count() <= opened { ")" } else { "" }
}

fn unboxed(line: &str) -> String {
    line.trim_matches(|character: char| "│┃|".contains(character)).trim_end_matches('\r').to_owned()
}

fn are_cut_at_a_width(lines: &[String], first_is_shorter_by: usize) -> bool {
    const NARROWEST: usize = 40;
    let Some((first, rest)) = lines.split_first() else { return false };
    let Some((_, middle)) = rest.split_last() else { return false };
    let width = first.chars().count() + first_is_shorter_by;
    width >= NARROWEST && !middle.is_empty() && middle.iter().all(|line| line.chars().count() == width)
}
