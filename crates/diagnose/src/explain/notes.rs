//! Remarks for the reader of an explanation, one sentence each.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use report::Contents;
use report::explain::DeviceHistory;
use trace::text::{Artifact, LookAlike, OtherFramework};
use trace::{Action, UnknownAction};

use super::case::{ExplainCase, InputContents};
use super::statements::Statements;
use crate::measure::view::View;

/// Allocations without a category get a note from 1/10 of the peak on.
const SHARE: u64 = 10;

/// A note names at most this many unknown kinds of events.
const KINDS: usize = 3;

/// Returns all notes.
pub(super) fn notes(case: &ExplainCase, stated: &Statements, view: Option<&View>) -> Vec<String> {
    let mut notes: Vec<String> = case.inputs.iter().flat_map(look_alikes).collect();
    let history = stated.subject();
    notes.extend(guesses(stated));
    notes.extend(history.and_then(cut));
    notes.extend(history.and_then(note_unknown_bytes));
    notes.extend(view.and_then(without_stacks));
    notes.extend(view.into_iter().flat_map(unknown_actions));
    notes.extend(view.and_then(contradictions));
    notes
}

fn look_alikes(input: &super::case::ExplainInput) -> Vec<String> {
    let InputContents::Text(artifacts) = &input.contents else {
        return Vec::new();
    };
    let found = artifacts.iter().filter_map(|artifact| match artifact {
        Artifact::LookAlike(found) => Some(found),
        _ => None,
    });
    found.map(|found| words_of_look_alike(&input.path, found)).collect()
}

/// An error that is none of a device, or a sentence about the error: the nearest thing to an error in a text.
fn words_of_look_alike(path: &str, found: &LookAlike) -> String {
    const LONGEST: usize = 120;
    let line = found.line;
    match found.framework {
        OtherFramework::Java => format!("{path}:{line}: an error of Java, not of PyTorch"),
        OtherFramework::Mention => {
            let words: String = found.text.chars().take(LONGEST).collect();
            format!("{path}:{line}: a mention, without the message of an error: {words}")
        }
    }
}

/// Says that figures were read from a screenshot.
fn guesses(stated: &Statements) -> Option<String> {
    let oom = stated.failed().filter(|oom| oom.is_guess)?;
    Some(format!(
        "line {}: the figures are a guess, with 1 for l and 0 for O, as programs misread screenshots",
        oom.line
    ))
}

fn cut(history: &DeviceHistory) -> Option<String> {
    let cut = !history.peak.whole && history.events > 0;
    cut.then(|| "the history starts after the program did: the peaks cover only what was recorded".to_owned())
}

fn note_unknown_bytes(history: &DeviceHistory) -> Option<String> {
    let other = history.breakdown.bytes_of(Contents::Other) + history.breakdown.bytes_of(Contents::Unattributed);
    let total = history.breakdown.total();
    (other.0.saturating_mul(SHARE) > total.0).then(|| {
        format!("the history does not say what {other} of the peak's {total} hold; buffers count as parameters")
    })
}

fn without_stacks(view: &View) -> Option<String> {
    let bare = view.trace.snapshot.is_some_and(|snapshot| snapshot.stacks.is_empty());
    bare.then(|| "no stacks were recorded: use torch.cuda.memory._record_memory_history()".to_owned())
}

/// Returns the event kinds of later PyTorch versions, the most frequent kind first.
fn unknown_actions(view: &View) -> Vec<String> {
    let mut counts: BTreeMap<UnknownAction, u64> = BTreeMap::new();
    for event in view.trace.events {
        if let Action::Unknown(action) = event.action {
            *counts.entry(action).or_default() += 1;
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|&(action, count)| (Reverse(count), action));
    let names = view.trace.snapshot.map_or(&[][..], |snapshot| &snapshot.unknown_actions);
    let name = |action: UnknownAction| names.get(usize::from(action.0)).map_or("?", |name| name);
    let said = counts.iter().take(KINDS).map(|&(action, count)| match count {
        1 => format!("1 event of an unknown kind `{}` was left out", name(action)),
        _ => format!("{count} events of an unknown kind `{}` were left out", name(action)),
    });
    let more = counts.get(KINDS..).unwrap_or_default();
    let others = format!("events of {} more unknown kinds were left out", more.len());
    said.chain((!more.is_empty()).then_some(others)).collect()
}

fn contradictions(view: &View) -> Option<String> {
    let found = view.trace.history.inconsistencies();
    let first = found.first.first()?;
    Some(match found.count {
        1 => format!("the history contradicts itself: {first}"),
        count => format!("the history contradicts itself {count} times, first: {first}"),
    })
}
