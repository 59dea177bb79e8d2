//! Lines of at most 80 columns: wrapping, bars, short paths.

use crate::check::Place;
use crate::finding::Location;

/// The widest line that is written.
pub(super) const COLUMNS: usize = 80;

/// Breaks `text` at spaces into lines of at most `width` characters; a longer word is cut.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    for word in text.split_whitespace().flat_map(|word| pieces(word, width)) {
        let line = lines.last_mut().filter(|line| room(line, &word, width));
        match line {
            Some(line) if line.is_empty() => line.push_str(&word),
            Some(line) => {
                line.push(' ');
                line.push_str(&word);
            }
            None => lines.push(word),
        }
    }
    lines
}

fn room(line: &str, word: &str, width: usize) -> bool {
    line.is_empty() || line.chars().count() + 1 + word.chars().count() <= width
}

fn pieces(word: &str, width: usize) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    letters.chunks(width).map(String::from_iter).collect()
}

/// The end of `text` in at most `width` characters, with dots where it was cut: the end of a path says most.
pub(super) fn keep_end(text: &str, width: usize) -> String {
    let excess = text.chars().count().saturating_sub(width);
    if excess == 0 {
        return text.to_owned();
    }
    let kept: String = text.chars().skip(excess + 2).collect();
    format!("..{kept}")
}

/// `file` as short as it stays clear: from the package on, or relative to `folder`; the environment that a package lies
/// in is often below the folder too.
pub(super) fn short_path<'a>(file: &'a str, folder: &str) -> &'a str {
    if let Some((_, inside)) = file.rsplit_once("/site-packages/") {
        return inside;
    }
    let relative = file.strip_prefix(folder).filter(|_| !folder.is_empty());
    if let Some(relative) = relative.and_then(|rest| rest.strip_prefix('/')) {
        return relative;
    }
    file
}

/// `train.py:41`.
pub(super) fn line_of(location: &Location, folder: &str) -> String {
    format!("{}:{}", short_path(&location.file, folder), location.line)
}

/// `step 2, backward, transformer.h.3`, as much of it as is known.
pub(super) fn words_of(place: &Place) -> String {
    let step = place.step.map(|step| format!("step {step}"));
    let phase = place.phase.map(|phase| phase.name().to_owned());
    let parts = [step, phase, place.module.clone()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// A part of a whole in tenths of a percent, without overflow; 0 of an empty whole.
pub(super) fn permille(part: u64, whole: u64) -> u64 {
    let permille = u128::from(part) * 1000 / u128::from(whole.max(1));
    u64::try_from(permille).unwrap_or(u64::MAX).min(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_broken_at_spaces_and_long_words_are_cut() {
        let cases: [(&str, usize, &[&str]); 5] = [
            ("", 5, &[""]),
            ("one two three", 7, &["one two", "three"]),
            ("one  two", 80, &["one two"]),
            ("abcdefghij", 4, &["abcd", "efgh", "ij"]),
            ("é é é", 3, &["é é", "é"]),
        ];
        for (text, width, lines) in cases {
            assert_eq!(wrap(text, width), lines, "{text}");
        }
    }

    #[test]
    fn paths_are_shown_from_where_the_reader_stands() {
        let cases = [
            ("/home/ann/x/train.py", "/home/ann/x", "train.py"),
            ("/home/ann/xy/train.py", "/home/ann/x", "/home/ann/xy/train.py"),
            ("/v/site-packages/torch/nn/f.py", "/home", "torch/nn/f.py"),
            ("train.py", "", "train.py"),
            ("/a.py", "", "/a.py"),
        ];
        for (file, folder, shown) in cases {
            assert_eq!(short_path(file, folder), shown);
        }
    }

    #[test]
    fn the_end_of_a_long_path_is_kept() {
        assert_eq!(keep_end("abcdef", 6), "abcdef");
        assert_eq!(keep_end("abcdefgh", 6), "..efgh");
    }

    #[test]
    fn shares_are_taken_without_overflow() {
        assert_eq!(permille(u64::MAX / 2, u64::MAX), 499);
        assert_eq!(permille(1, 0), 1000);
        assert_eq!(permille(0, 0), 0);
    }
}
