//! Suppressions: `# oomph: ignore[rule]` silences findings that the author has reviewed.
//!
//! # Note [Suppression]
//! A comment suppresses findings that begin on its line or in its logical line: in a call over several lines it may stand after the opening
//! bracket, after an argument, on a line of its own, or after the closing bracket. The brackets hold rule names separated by commas; a
//! comment without brackets suppresses every rule. Comments are read from tokens, so a string with the same words has no effect.

use crate::span::TextSpan;

/// The suppressions of a file.
#[derive(Debug, Default)]
pub(crate) struct Suppressions<'a> {
    /// The offset of each comment, and its rules.
    comments: Vec<(usize, Rules<'a>)>,
}

/// The rules named by a comment.
#[derive(Debug, PartialEq, Eq)]
enum Rules<'a> {
    All,
    These(Vec<&'a str>),
}

impl<'a> Suppressions<'a> {
    /// Reads the suppressions among the comments of a text.
    pub(crate) fn new(text: &'a str, comments: impl IntoIterator<Item = TextSpan>) -> Suppressions<'a> {
        let read = |span: TextSpan| Some((span.start, parse_directive(text.get(span.start..span.end)?)?));
        Suppressions { comments: comments.into_iter().filter_map(read).collect() }
    }

    /// Checks whether a suppression of `rule` lies between `start` and `end`.
    pub(crate) fn covers(&self, rule: &str, start: usize, end: usize) -> bool {
        self.comments.iter().filter(|(at, _)| (start..end).contains(at)).any(|(_, rules)| match rules {
            Rules::All => true,
            Rules::These(names) => names.contains(&rule),
        })
    }
}

/// Returns the rules that a comment suppresses; `None` if the comment is no suppression.
fn parse_directive(comment: &str) -> Option<Rules<'_>> {
    let (_, directive) = comment.split_once("oomph:")?;
    let rest = directive.trim_start().strip_prefix("ignore")?;
    match rest.strip_prefix('[') {
        Some(list) => {
            let (names, _) = list.split_once(']')?;
            Some(Rules::These(names.split(',').map(str::trim).collect()))
        }
        None if rest.starts_with(|next: char| next.is_alphanumeric() || next == '-' || next == '_') => None,
        None => Some(Rules::All),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_read() {
        let these = |names: &[&'static str]| Some(Rules::These(names.to_vec()));
        let cases = [
            ("# oomph: ignore", Some(Rules::All)),
            ("#oomph:ignore  because the graph is small", Some(Rules::All)),
            ("# oomph: ignore[accumulated-graph]", these(&["accumulated-graph"])),
            ("# oomph: ignore[a, b] both on purpose", these(&["a", "b"])),
            ("# noqa  # oomph: ignore[a]", these(&["a"])),
            ("# oomph: ignore[a", None),
            ("# oomph: ignored", None),
            ("# oomph is a tool", None),
        ];
        for (comment, expected) in cases {
            assert_eq!(parse_directive(comment), expected, "{comment}");
        }
    }
}
