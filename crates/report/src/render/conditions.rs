//! The conditions of a program that fits so far, as the end of its sentence.

use super::layout::line_of;
use crate::check::Condition;
use crate::finding::Location;
use crate::words::count;

/// At most this many calls are named.
const NAMED: usize = 3;

/// A condition in words; conditions of one kind are listed together.
enum Words<'a> {
    /// Work that was not run.
    NotRun(String),
    /// A sentence of its own.
    Alone(String),
    /// A line that selects elements, and the assumed share.
    Assumed(f64, Option<&'a Location>),
    /// A line that reads a number of which a size may be made.
    Read(Option<&'a Location>),
}

/// `not run: evaluate (train.py:88), a larger `length` (train.py:46); its peak still rose in the last step`.
pub(super) fn list_open(conditions: &[Condition], stopped: Option<&str>, folder: &str) -> String {
    let words: Vec<Words> = conditions.iter().map(|condition| put_in_words(condition, folder)).collect();
    let not_run = words.iter().filter_map(|words| match words {
        Words::NotRun(text) => Some(text.as_str()),
        _ => None,
    });
    let alone = words.iter().filter_map(|words| match words {
        Words::Alone(text) => Some(text.clone()),
        _ => None,
    });
    let parts = [stopped.map(str::to_owned), list_not_run(&not_run.collect::<Vec<_>>())].into_iter().flatten();
    let lists = [name_assumed(&words, folder), name_reads(&words, folder)].into_iter().flatten();
    parts.chain(alone).chain(lists).collect::<Vec<_>>().join("; ")
}

/// `, if half of the elements are selected (train.py:40, --fraction)`; empty where nothing is assumed.
pub(super) fn list_assumed(conditions: &[Condition], folder: &str) -> String {
    let words: Vec<Words> = conditions.iter().map(|condition| put_in_words(condition, folder)).collect();
    name_assumed(&words, folder).map_or_else(String::new, |text| format!(", {text}"))
}

fn put_in_words<'a>(condition: &'a Condition, folder: &str) -> Words<'a> {
    let at = |location: &Option<Location>| place(location.as_ref(), folder);
    match condition {
        Condition::NotRun { what, location } => Words::NotRun(what.clone() + &at(location)),
        Condition::Larger { what, location } => Words::NotRun(format!("a larger `{what}`{}", at(location))),
        Condition::Varying { location } => Words::NotRun(format!("other batches{}", at(location))),
        Condition::LaterSteps => Words::NotRun("later steps".to_owned()),
        Condition::OptimizerState => Words::NotRun("later steps, with the optimizer's state".to_owned()),
        Condition::Untrained { bytes } => {
            Words::Alone(format!("{bytes} of parameters that an optimizer holds were not trained yet"))
        }
        Condition::NoStep { location } => {
            Words::Alone(format!("no optimizer step trained a parameter{}", at(location)))
        }
        Condition::Growing { full_at_step: Some(step) } => {
            Words::Alone(format!("its memory grows with each step, and fills the device at step {step}"))
        }
        Condition::Growing { full_at_step: None } => Words::Alone("its memory grows with each step".to_owned()),
        Condition::Rising => Words::Alone("its peak still rose in the last step".to_owned()),
        Condition::Assumed { fraction, location } => Words::Assumed(*fraction, location.as_ref()),
        Condition::Read { location } => Words::Read(location.as_ref()),
    }
}

fn list_not_run(all: &[&str]) -> Option<String> {
    let more = all.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| format!("{} more", count(u64::try_from(more).unwrap_or(u64::MAX), "call", "calls")));
    let named = all.iter().take(NAMED).map(|text| (*text).to_owned()).chain(more).collect::<Vec<_>>().join(", ");
    (!named.is_empty()).then(|| format!("not run: {named}"))
}

/// The assumption on the lines that select elements, with at most three of them.
fn name_assumed(words: &[Words], folder: &str) -> Option<String> {
    let assumed: Vec<_> = words
        .iter()
        .filter_map(|words| match words {
            Words::Assumed(fraction, location) => Some((*fraction, *location)),
            _ => None,
        })
        .collect();
    let (fraction, _) = assumed.first()?;
    let lines = assumed.iter().take(NAMED).filter_map(|(_, location)| Some(line_of((*location)?, folder)));
    let share = if (fraction - 0.5).abs() < f64::EPSILON { "half".to_owned() } else { format!("{fraction}") };
    let places = lines.chain(["--fraction".to_owned()]).collect::<Vec<_>>().join(", ");
    Some(format!("if {share} of the elements are selected ({places})"))
}

/// The lines that read numbers of which sizes may be made, at most three of them.
fn name_reads(words: &[Words], folder: &str) -> Option<String> {
    let reads = words.iter().filter_map(|words| match words {
        Words::Read(location) => Some(line_of((*location)?, folder)),
        _ => None,
    });
    let lines: Vec<String> = reads.take(NAMED).collect();
    (!lines.is_empty()).then(|| format!("sizes may depend on numbers that only a GPU computes ({})", lines.join(", ")))
}

fn place(location: Option<&Location>, folder: &str) -> String {
    location.map_or_else(String::new, |location| format!(" ({})", line_of(location, folder)))
}
