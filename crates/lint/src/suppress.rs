//! Suppressions: `# oomph: ignore[rule]` silences findings that the author has reviewed.
//!
//! # Note [Suppression]
//! A comment suppresses findings that begin on its line or in its logical line: in a call over several lines it may stand after the opening
//! bracket, after an argument, on a line of its own, or after the closing bracket. The brackets hold rule names separated by commas; a
//! comment without brackets suppresses every rule. Comments are read from tokens, so a string with the same words has no effect.

use crate::finding::{Edit, Finding};
use crate::source::{self, SourceFile};
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

/// Returns the edit that suppresses a finding: the rule joins the comment of its statement, or a comment follows the statement's last line.
/// `None` for a file with a syntax error, and beside a comment that the rule cannot join.
pub fn suppress(source: &SourceFile, finding: &Finding) -> Option<Edit> {
    let parsed = source.parse().ok()?;
    let (text, at) = (source.text(), finding.span.start);
    let start = source.line_start(source::logical_start(&parsed, at));
    let end = source::logical_end(&parsed, at);
    let comments = source::comments(&parsed).into_iter().filter(|comment| (start..=end).contains(&comment.start));
    for comment in comments {
        let written = text.get(comment.start..comment.end)?;
        match parse_directive(written) {
            Some(Rules::These(_)) => {
                return Some(insert(comment.start + written.find(']')?, format!(", {}", finding.rule)));
            }
            _ if written.contains("oomph:") => return None,
            _ => {}
        }
    }
    let is_end_of_line = text.get(end..)?.chars().next().is_none_or(|next| matches!(next, '\n' | '\r'));
    is_end_of_line.then(|| insert(end, format!("  # oomph: ignore[{}]", finding.rule)))
}

fn insert(at: usize, text: String) -> Edit {
    Edit { span: TextSpan { start: at, end: at }, text }
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
    fn a_suppressed_finding_is_gone_and_the_others_stay() {
        let cases = [
            ("total += loss", "total += loss  # oomph: ignore[accumulated-graph]"),
            ("total += loss  # why", "total += loss  # why  # oomph: ignore[accumulated-graph]"),
            (
                "total = (total  # one\n        + loss)",
                "total = (total  # one\n        + loss)  # oomph: ignore[accumulated-graph]",
            ),
            (
                "total = total + \\\n        loss",
                "total = total + \\\n        loss  # oomph: ignore[accumulated-graph]",
            ),
            ("total += loss  # oomph: ignore[x] y", "total += loss  # oomph: ignore[x, accumulated-graph] y"),
        ];
        for (statement, expected) in cases {
            let program = |statement: &str| {
                let text = format!(
                    "import torch\nfor x in loader:\n    loss = model(x)\n    loss.backward()\n    {statement}"
                );
                SourceFile::python(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
            };
            let check = |source: &SourceFile| crate::check(source, &crate::Options::default()).unwrap_or_default();
            let source = program(statement);
            let found = check(&source);
            let [finding] = found.as_slice() else { panic!("{statement}: {found:?}") };
            let Some(edit) = suppress(&source, finding) else { panic!("{statement}: no edit") };
            let mut text = source.text().to_owned();
            text.replace_range(edit.span.start..edit.span.end, &edit.text);
            assert_eq!(text, program(expected).text());
            assert_eq!(check(&program(expected)), [], "{expected}");
        }
    }

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
