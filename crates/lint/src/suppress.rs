//! `# oomph: ignore[rule]`: findings that the author of a line has looked at.
//!
//! # Note [Suppression]
//! A comment counts for findings that begin on its line, or whose logical line it stands on: in a call over several lines it may stand
//! behind the opening bracket, behind the argument, on a line of its own between them, or behind the closing bracket. Without brackets of
//! its own it counts for every rule. What is in them are names of rules, separated by commas. A comment is read from the tokens, so the same
//! words in a string do nothing.

use crate::finding::Span;

/// The suppressions of a file.
#[derive(Debug, Default)]
pub(crate) struct Suppressions<'a> {
    /// Each with the offset of its comment.
    comments: Vec<(usize, Rules<'a>)>,
}

/// Which rules a comment names.
#[derive(Debug, PartialEq, Eq)]
enum Rules<'a> {
    All,
    These(Vec<&'a str>),
}

impl<'a> Suppressions<'a> {
    /// Those among the comments of a text.
    pub(crate) fn new(text: &'a str, comments: impl IntoIterator<Item = Span>) -> Suppressions<'a> {
        let read = |span: Span| Some((span.start, rules(text.get(span.start..span.end)?)?));
        Suppressions { comments: comments.into_iter().filter_map(read).collect() }
    }

    /// Whether there is one for `rule` from `start` to before `end`.
    pub(crate) fn covers(&self, rule: &str, start: usize, end: usize) -> bool {
        self.comments.iter().filter(|(at, _)| (start..end).contains(at)).any(|(_, rules)| match rules {
            Rules::All => true,
            Rules::These(names) => names.contains(&rule),
        })
    }
}

/// What a comment suppresses; `None` if it is about something else.
fn rules(comment: &str) -> Option<Rules<'_>> {
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
            assert_eq!(rules(comment), expected, "{comment}");
        }
    }
}
