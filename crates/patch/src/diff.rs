//! A unified diff, with three lines of context, as `patch` and `git apply` read it.
//!
//! # Note [Lines kept]
//! Nothing is searched for: the edits tell the new position of each old line. A line is kept if the text there is equal
//! and the kept lines stay in order; all others are removed and added. Lines end at `\n` alone, as both tools count.

use std::fmt::Write as _;
use std::ops::Range;

const CONTEXT: usize = 3;

/// Old lines that became new lines; indices from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hunk {
    old: Range<usize>,
    new: Range<usize>,
}

/// The diff from `old` to `new`, in which the old line at offset `o` is at offset `moved(o)`. Empty if both are equal.
pub(crate) fn unified(file: &str, old: &str, new: &str, moved: impl Fn(usize) -> usize) -> String {
    if old == new {
        return String::new();
    }
    let (old_lines, new_lines) = (lines(old), lines(new));
    let kept = match_lines(&old_lines, &new_lines, moved);
    let mut text = format!("--- {}\n+++ {}\n", name("a", file), name("b", file));
    for group in group_hunks(changes(&kept, old_lines.len(), new_lines.len())) {
        write_group(&mut text, &group, &old_lines, &new_lines);
    }
    text
}

/// A name with blanks ends in a tab, so that `patch` reads all of it.
fn name(side: &str, file: &str) -> String {
    let tab = if file.contains(' ') { "\t" } else { "" };
    format!("{side}/{}{tab}", file.trim_start_matches("./"))
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Pairs of an old and a new line that are the same, in order (Note [Lines kept]).
fn match_lines(old: &[&str], new: &[&str], moved: impl Fn(usize) -> usize) -> Vec<(usize, usize)> {
    let new_starts = starts(new);
    let mut kept = Vec::new();
    let mut limit = new.len();
    for (index, start) in starts(old).into_iter().enumerate().rev() {
        let Ok(there) = new_starts.binary_search(&moved(start)) else { continue };
        if there < limit && old.get(index) == new.get(there) {
            kept.push((index, there));
            limit = there;
        }
    }
    kept.reverse();
    kept
}

fn starts(lines: &[&str]) -> Vec<usize> {
    lines.iter().scan(0, |offset, line| Some(std::mem::replace(offset, *offset + line.len()))).collect()
}

/// The changes between kept lines.
fn changes(kept: &[(usize, usize)], old_end: usize, new_end: usize) -> Vec<Hunk> {
    let mut hunks = Vec::new();
    let mut at = (0, 0);
    for &(old, new) in kept.iter().chain([&(old_end, new_end)]) {
        if (old, new) != at {
            hunks.push(Hunk { old: at.0..old, new: at.1..new });
        }
        at = (old + 1, new + 1);
    }
    hunks
}

/// Changes whose context would touch are shown together.
fn group_hunks(hunks: Vec<Hunk>) -> Vec<Vec<Hunk>> {
    let mut groups: Vec<Vec<Hunk>> = Vec::new();
    for hunk in hunks {
        match groups.last_mut() {
            Some(group) if group.last().is_some_and(|last| hunk.old.start <= last.old.end + 2 * CONTEXT) => {
                group.push(hunk);
            }
            _ => groups.push(vec![hunk]),
        }
    }
    groups
}

fn write_group(text: &mut String, group: &[Hunk], old: &[&str], new: &[&str]) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let before = first.old.start.min(CONTEXT);
    let after = (old.len() - last.old.end).min(CONTEXT);
    let old_range = first.old.start - before..last.old.end + after;
    let new_range = first.new.start - before..last.new.end + after;
    let _ = writeln!(text, "@@ -{} +{} @@", range(&old_range), range(&new_range));
    let mut at = old_range.start;
    for hunk in group {
        write_lines(text, ' ', old, at..hunk.old.start);
        write_lines(text, '-', old, hunk.old.clone());
        write_lines(text, '+', new, hunk.new.clone());
        at = hunk.old.end;
    }
    write_lines(text, ' ', old, at..old_range.end);
}

/// An empty range is named by the line before it.
fn range(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

fn write_lines(text: &mut String, sign: char, lines: &[&str], range: Range<usize>) {
    for line in lines.get(range).unwrap_or_default() {
        text.push(sign);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
}
