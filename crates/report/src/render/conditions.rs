//! The conditions of a program that fits so far, as the end of its sentence.

use super::layout::line_of;
use crate::check::Condition;
use crate::finding::Location;
use crate::words::count;

/// At most this many calls are named.
const NAMED: usize = 3;

/// `not run: evaluate (train.py:88), larger `length` (train.py:46); its peak was still rising`.
pub(super) fn list_open(conditions: &[Condition], stopped: Option<&str>, folder: &str) -> String {
    let unrun: Vec<String> = conditions.iter().filter_map(|condition| name_unrun(condition, folder)).collect();
    let rest = conditions.iter().filter_map(name_other);
    let assumed = name_assumed(conditions.iter().filter_map(find_assumed), folder);
    let steps = conditions.iter().filter_map(|condition| name_step(condition, folder));
    let parts = [stopped.map(str::to_owned), list_unrun(&unrun)].into_iter().flatten();
    let read = name_reads(conditions, folder);
    parts.chain(steps).chain(rest).chain(assumed).chain(read).collect::<Vec<_>>().join("; ")
}

/// `, if half of the elements are selected (train.py:40, --fraction)`; empty where nothing is assumed.
pub(super) fn list_assumed(conditions: &[Condition], folder: &str) -> String {
    let assumed = name_assumed(conditions.iter().filter_map(find_assumed), folder);
    assumed.map_or_else(String::new, |text| format!(", {text}"))
}

fn list_unrun(unrun: &[String]) -> Option<String> {
    let more = unrun.len().saturating_sub(NAMED);
    let named = unrun.iter().take(NAMED).cloned();
    let more = (more > 0).then(|| format!("{} more", count(u64::try_from(more).unwrap_or(u64::MAX), "call", "calls")));
    let all: Vec<String> = named.chain(more).collect();
    (!all.is_empty()).then(|| format!("not run: {}", all.join(", ")))
}

fn name_unrun(condition: &Condition, folder: &str) -> Option<String> {
    match condition {
        Condition::NotRun { what, location } => Some(what.clone() + &place(location.as_ref(), folder)),
        Condition::Larger { what, location } => Some(format!("a larger `{what}`{}", place(location.as_ref(), folder))),
        Condition::Varying { location } => Some(format!("other batches{}", place(location.as_ref(), folder))),
        Condition::LaterSteps => Some("later steps".to_owned()),
        Condition::OptimizerState => Some("later steps, with the optimizer's state".to_owned()),
        _ => None,
    }
}

fn name_step(condition: &Condition, folder: &str) -> Option<String> {
    match condition {
        Condition::NoStep { location } => {
            Some(format!("no optimizer step trained a parameter{}", place(location.as_ref(), folder)))
        }
        _ => None,
    }
}

fn name_other(condition: &Condition) -> Option<String> {
    match condition {
        Condition::Untrained { bytes } => {
            Some(format!("{bytes} of parameters that an optimizer holds were not trained yet"))
        }
        Condition::Growing { full_at_step: Some(step) } => {
            Some(format!("its memory grows with each step, and fills the device at step {step}"))
        }
        Condition::Growing { full_at_step: None } => Some("its memory grows with each step".to_owned()),
        Condition::Rising => Some("its peak still rose in the last step".to_owned()),
        _ => None,
    }
}

fn find_assumed(condition: &Condition) -> Option<(f64, Option<&Location>)> {
    match condition {
        Condition::Assumed { fraction, location } => Some((*fraction, location.as_ref())),
        _ => None,
    }
}

/// The assumption on the lines that select elements, with at most three of them.
fn name_assumed<'a>(assumed: impl Iterator<Item = (f64, Option<&'a Location>)>, folder: &str) -> Option<String> {
    let assumed: Vec<_> = assumed.collect();
    let (fraction, _) = assumed.first()?;
    let lines = assumed.iter().take(NAMED).filter_map(|(_, location)| Some(line_of((*location)?, folder)));
    let share = if (fraction - 0.5).abs() < f64::EPSILON { "half".to_owned() } else { format!("{fraction}") };
    let places = lines.chain(["--fraction".to_owned()]).collect::<Vec<_>>().join(", ");
    Some(format!("if {share} of the elements are selected ({places})"))
}

/// The lines that read numbers of which sizes may be made, at most three of them.
fn name_reads(conditions: &[Condition], folder: &str) -> Option<String> {
    let reads = conditions.iter().filter_map(|condition| match condition {
        Condition::Read { location } => Some(line_of(location.as_ref()?, folder)),
        _ => None,
    });
    let lines: Vec<String> = reads.take(NAMED).collect();
    (!lines.is_empty()).then(|| format!("sizes may depend on numbers that only a GPU computes ({})", lines.join(", ")))
}

fn place(location: Option<&Location>, folder: &str) -> String {
    location.map_or_else(String::new, |location| format!(" ({})", line_of(location, folder)))
}
