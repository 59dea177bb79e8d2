//! The conditions for showing an edited file.

use thiserror::Error;

use crate::edit::Edited;
use crate::source::{Source, TokenClass, Unreadable};
use crate::syntax::{Node, Span};

/// Why an edited file is not shown.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum Broken {
    /// It is no Python any more.
    #[error("the changed file cannot be read: {0}")]
    Unreadable(#[from] Unreadable),
    /// A part that was not to be changed was.
    #[error("the change would touch `{0}`")]
    Touched(String),
}

/// Checks that the edited file parses, that all tokens outside the edits are unchanged, and that statements of the
/// module without an edit mean the same.
pub(crate) fn verify(before: &Source<'_>, edited: &Edited) -> Result<(), Broken> {
    let after = Source::parse(&edited.text)?;
    let cut = |span: Span| edited.edits.iter().any(|(old, _)| overlap(span, *old) && !old.contains(span));
    if let Some(token) = visible_tokens(before).find(|span| cut(*span)) {
        return Err(Broken::Touched(before.slice(token).to_owned()));
    }
    let kept = visible_tokens(before).filter(|span| edited.edits.iter().all(|(old, _)| !overlap(*span, *old)));
    let found = visible_tokens(&after).filter(|span| edited.edits.iter().all(|(_, new)| !overlap(*span, *new)));
    let texts =
        |source: &Source<'_>, spans: Vec<Span>| spans.into_iter().map(|span| source.slice(span).to_owned()).collect();
    let (kept, found): (Vec<String>, Vec<String>) = (texts(before, kept.collect()), texts(&after, found.collect()));
    if let Some(text) = first_difference(&kept, &found) {
        return Err(Broken::Touched(text));
    }
    let shifted = untouched(&before.root, |span| edited.edits.iter().all(|(old, _)| !meet(span, *old)));
    let there = untouched(&after.root, |_| true);
    let lost = shifted.into_iter().find(|node| {
        let start = edited.offset(node.span.start);
        !there.iter().any(|other| other.span.start == start && is_same(node, other))
    });
    lost.map_or(Ok(()), |node| Err(Broken::Touched(before.slice(node.span).to_owned())))
}

/// The tokens that are seen, with comments.
fn visible_tokens<'a>(source: &'a Source<'_>) -> impl Iterator<Item = Span> + 'a {
    let is_seen = |class| !matches!(class, TokenClass::Newline | TokenClass::Break);
    source.tokens.iter().filter(move |token| is_seen(token.class)).map(|token| token.span)
}

/// True if both share a byte, or if an empty span lies inside the other.
fn overlap(one: Span, other: Span) -> bool {
    one.start < other.end && other.start < one.end
}

fn meet(one: Span, other: Span) -> bool {
    one.start <= other.end && other.start <= one.end
}

fn first_difference(kept: &[String], found: &[String]) -> Option<String> {
    let index = (0..kept.len().max(found.len())).find(|&index| kept.get(index) != found.get(index))?;
    kept.get(index).or(found.get(index)).cloned()
}

fn untouched(root: &Node, is_wanted: impl Fn(Span) -> bool) -> Vec<&Node> {
    root.children.iter().filter(|node| is_wanted(node.span)).collect()
}

/// True if both have the same kinds all the way down.
fn is_same(one: &Node, other: &Node) -> bool {
    let (mut ours, mut theirs) = (one.walk(), other.walk());
    loop {
        match (ours.next(), theirs.next()) {
            (None, None) => return true,
            (Some(a), Some(b)) if a.kind == b.kind && a.children.len() == b.children.len() => {}
            _ => return false,
        }
    }
}
