//! The conditions of a program that fits so far, as the end of its sentence.

use super::layout::{grouped, short_line};
use crate::condition::Condition;
use crate::finding::Location;
use crate::words::count;

/// At most this many calls are named.
const NAMED: usize = 3;

/// A condition as text; phrases of one kind are joined in a list.
enum Phrase<'a> {
    /// Work that was not run.
    NotRun(String),
    /// A whole clause.
    Alone(String),
    /// A line that selects elements, and the assumed share.
    Assumed(f64, Option<&'a Location>),
    /// A line that reads a number, and may make a size of the number.
    Read(Option<&'a Location>),
}

/// `not run: evaluate (train.py:88), a larger `length` (train.py:46); its memory still rose in the last step`; a list
/// without `not run` begins with `open: `.
pub(super) fn list_open(conditions: &[Condition], stopped: Option<&str>, folder: &str) -> String {
    let phrases: Vec<Phrase> = conditions.iter().map(|condition| phrase_of(condition, folder)).collect();
    let not_run = phrases.iter().filter_map(|phrase| match phrase {
        Phrase::NotRun(text) => Some(text.as_str()),
        _ => None,
    });
    let alone = phrases.iter().filter_map(|phrase| match phrase {
        Phrase::Alone(text) => Some(text.clone()),
        _ => None,
    });
    let parts = [stopped.map(str::to_owned), list_not_run(&not_run.collect::<Vec<_>>())].into_iter().flatten();
    let lists = [name_assumed(&phrases, folder), name_reads(&phrases, folder)].into_iter().flatten();
    let first =
        if stopped.is_none() && !phrases.iter().any(|it| matches!(it, Phrase::NotRun(_))) { "open: " } else { "" };
    first.to_owned() + &parts.chain(alone).chain(lists).collect::<Vec<_>>().join("; ")
}

/// `, if half of the elements are selected (train.py:40, --fraction)`; empty where nothing is assumed.
pub(super) fn list_assumed(conditions: &[Condition], folder: &str) -> String {
    let phrases: Vec<Phrase> = conditions.iter().map(|condition| phrase_of(condition, folder)).collect();
    name_assumed(&phrases, folder).map_or_else(String::new, |text| format!(", {text}"))
}

fn phrase_of<'a>(condition: &'a Condition, folder: &str) -> Phrase<'a> {
    let at = |location: &Option<Location>| place(location.as_ref(), folder);
    match condition {
        Condition::NotRun { what, location } => Phrase::NotRun(what.clone() + &at(location)),
        Condition::Larger { what, location } => Phrase::NotRun(format!("a larger `{what}`{}", at(location))),
        Condition::Varying { location } => Phrase::NotRun(format!("other batches{}", at(location))),
        Condition::Cut { location } => Phrase::NotRun(format!("the rest of a loop{}", at(location))),
        Condition::Unread { location } => Phrase::Alone(format!("the rest of its source was not read{}", at(location))),
        Condition::LaterSteps => Phrase::NotRun("later steps (--steps 0 runs them)".to_owned()),
        Condition::OptimizerState => Phrase::NotRun("later steps, with the optimizer's state".to_owned()),
        Condition::Untrained { bytes } => {
            Phrase::Alone(format!("{bytes} of parameters that an optimizer holds were not trained yet"))
        }
        Condition::NoStep { location } => {
            Phrase::Alone(format!("no optimizer step trained a parameter{}", at(location)))
        }
        Condition::Growing { bytes_per_step, location, full_at } => {
            let full = full_at.map(|step| format!(": full at step {} if that goes on", grouped(u64::from(step))));
            let full = full.unwrap_or_default();
            Phrase::Alone(format!("it grows {bytes_per_step} a step{}{full}", at(location)))
        }
        Condition::Rising => Phrase::Alone("its memory still rose in the last step".to_owned()),
        Condition::RisingRequests { location } => {
            Phrase::Alone(format!("a tensor is larger with every step{}", at(location)))
        }
        Condition::Assumed { fraction, location } => Phrase::Assumed(*fraction, location.as_ref()),
        Condition::Read { location } => Phrase::Read(location.as_ref()),
    }
}

fn list_not_run(all: &[&str]) -> Option<String> {
    let more = all.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| format!("{} more", count(u64::try_from(more).unwrap_or(u64::MAX), "call", "calls")));
    let named = all.iter().take(NAMED).map(|text| (*text).to_owned()).chain(more).collect::<Vec<_>>().join(", ");
    (!named.is_empty()).then(|| format!("not run: {named}"))
}

/// The assumed share, with at most three lines of selections.
fn name_assumed(phrases: &[Phrase], folder: &str) -> Option<String> {
    let assumed: Vec<_> = phrases
        .iter()
        .filter_map(|phrase| match phrase {
            Phrase::Assumed(fraction, location) => Some((*fraction, *location)),
            _ => None,
        })
        .collect();
    let (fraction, _) = assumed.first()?;
    let lines = assumed.iter().take(NAMED).filter_map(|(_, location)| Some(short_line((*location)?, folder)));
    let share = if (fraction - 0.5).abs() < f64::EPSILON { "half".to_owned() } else { format!("{fraction}") };
    let places = lines.chain(["--fraction".to_owned()]).collect::<Vec<_>>().join(", ");
    Some(format!("if {share} of the elements are selected ({places})"))
}

/// At most three lines with reads of numbers for sizes.
fn name_reads(phrases: &[Phrase], folder: &str) -> Option<String> {
    let reads = phrases.iter().filter_map(|phrase| match phrase {
        Phrase::Read(location) => Some(short_line((*location)?, folder)),
        _ => None,
    });
    let lines: Vec<String> = reads.take(NAMED).collect();
    (!lines.is_empty()).then(|| format!("sizes may depend on numbers that only a GPU computes ({})", lines.join(", ")))
}

fn place(location: Option<&Location>, folder: &str) -> String {
    location.map_or_else(String::new, |location| format!(" ({})", short_line(location, folder)))
}
