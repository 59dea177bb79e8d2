//! Remarks for the reader of a check, one sentence each.

use std::collections::BTreeSet;

use report::words::count;
use trace::{Bytes, History, PhantomRecord, Process, Record, UntrainedReason};

use super::case::Case;
use super::verdict::{Decision, find_reason};
use crate::judge::ending::ended_by_oom;
use crate::judge::saves;
use crate::measure::outside::outside;
use crate::measure::run_records::{phantom_records, records, steps, unrecorded};

/// The most lines of value reads in a note.
const LINES_SHOWN: usize = 6;
/// The size of the largest scalar type.
const MOST_SCALAR_BYTES: u64 = 16;

/// Returns the notes that need no device.
pub(super) fn notes(case: &Case, decision: &Decision) -> Vec<String> {
    let run = &case.limited;
    let unlimited = case.unlimited.iter().flat_map(|unlimited| records(&unlimited.run));
    let mut notes: Vec<String> = values_read(case).chain(records(run).chain(unlimited).filter_map(note)).collect();
    let missing = phantom_records(run).filter_map(|record| match record {
        PhantomRecord::Missing { symbol } => {
            Some(format!("the program called {symbol}, which the phantom GPU does not have"))
        }
        _ => None,
    });
    notes.extend(missing);
    notes.extend(saves::list_notes(run, &case.folder));
    let held = outside(run).into_iter();
    notes
        .extend(held.map(|(library, bytes)| format!("{library} held {bytes} of a device outside PyTorch's allocator")));
    notes.extend(raised_later(case, decision));
    notes.extend(caveats(case, decision));
    distinct(notes)
}

/// Returns the notes that are necessary to read the verdict: the short report shows them.
pub(super) fn caveats(case: &Case, decision: &Decision) -> Vec<String> {
    let single =
        [missing_kernels(case), few_steps(case, decision), interpreter(case), background(case)].into_iter().flatten();
    single.chain(distinct(records(&case.limited).filter_map(|record| untrained(case, record)).collect())).collect()
}

/// Removes duplicate texts: ranks of a job have equal notes.
fn distinct(mut texts: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    texts.retain(|text| seen.insert(text.clone()));
    texts
}

fn note(record: &Record) -> Option<String> {
    match record {
        Record::Unrecorded { reason } => {
            let reason = reason.split(". ").next().unwrap_or_default();
            Some(format!("the peak is that of the device, and its contents are unknown: {reason}"))
        }
        Record::InitializersSkipped { count, bytes } => {
            let (bytes, calls) = (Bytes(*bytes), if *count == 1 { "call" } else { "calls" });
            Some(format!(
                "large host tensors were not initialised ({count} {calls}, {bytes}), which changes no GPU memory"
            ))
        }
        Record::CheckpointUnread { count, bytes } => {
            let (bytes, tensors) = (Bytes(*bytes), if *count == 1 { "tensor" } else { "tensors" });
            Some(format!("weights in checkpoints were not read ({count} {tensors}, {bytes}); they count as zeros"))
        }
        Record::Remedy { remedy, applied, text, line, .. } => {
            let how = if *applied { "" } else { "not " };
            let place = if *line > 0 { format!(" (line {line})") } else { String::new() };
            Some(format!("{remedy} was {how}applied: {text}{place}"))
        }
        _ => None,
    }
}

/// Returns the notes on reads of values that a dry run does not compute: the first lines in program order, and the
/// number of further lines.
fn values_read(case: &Case) -> impl Iterator<Item = String> {
    let reads = distinct(records(&case.limited).filter_map(|record| value_read(case, record)).collect());
    let more = reads.len().saturating_sub(LINES_SHOWN);
    let lines = count(more, "more line", "more lines");
    let rest = (more > 0).then(|| format!("{lines} read values that a GPU would have computed"));
    reads.into_iter().take(LINES_SHOWN).chain(rest)
}

fn value_read(case: &Case, record: &Record) -> Option<String> {
    let Record::ValueRead { file, line, count, bytes } = record else { return None };
    let place = if file.is_empty() { "no line of Python".to_owned() } else { format!("{}:{line}", case.show(file)) };
    let bytes = if *bytes > MOST_SCALAR_BYTES * count { format!(", {}", Bytes(*bytes)) } else { String::new() };
    Some(format!("{place} read values that a GPU would have computed ({count}x{bytes}); the program saw zeros"))
}

/// Returns the note on the error that ended a program which had caught an out-of-memory error before.
fn raised_later(case: &Case, decision: &Decision) -> Option<String> {
    let is_caught = *decision == Decision::Oom && !case.limited.processes.iter().any(ended_by_oom);
    let reason = is_caught.then(|| find_reason(case, &case.limited, case.launch.ended.as_ref()))??;
    Some(format!("after it had run out of memory, {reason}"))
}

/// Returns the note that the program's PyTorch does not run on the GPU.
fn missing_kernels(case: &Case) -> Option<String> {
    records(&case.limited).find_map(|record| match record {
        Record::KernelsMissing { capability, built_for } => Some(format!(
            "this PyTorch has no kernels for the GPU (compute capability {capability}; it was built for {built_for}): on the GPU \
             itself its first kernel fails"
        )),
        _ => None,
    })
}

/// Returns the note on parameters that a later phase of the training may train: memory that the steps of this run did not need.
fn untrained(case: &Case, record: &Record) -> Option<String> {
    let Record::Untrained { reason, optimizer, file, line, count, bytes } = record else { return None };
    let place = if file.is_empty() { String::new() } else { format!(" ({}:{line})", case.show(file)) };
    let (bytes, parameters) = (Bytes(*bytes), if *count == 1 { "parameter" } else { "parameters" });
    Some(match reason {
        UntrainedReason::NoStep => format!(
            "{optimizer}{place} made no step: once its {count} {parameters} ({bytes}) are trained, their activations, gradients \
             and optimizer state come on top"
        ),
        UntrainedReason::Frozen => format!(
            "{optimizer}{place} holds {count} frozen {parameters} ({bytes}): once they are trained, their activations, gradients \
             and optimizer state come on top"
        ),
    })
}

/// Returns the note that names the interpreter of a program that was not started as `python …`: a launcher's, a shell script's.
fn interpreter(case: &Case) -> Option<String> {
    let first = case.launch.command.first()?.rsplit('/').next().unwrap_or_default();
    let executable = records(&case.limited).find_map(|record| match record {
        Record::Process { executable, .. } => Some(executable),
        _ => None,
    });
    let executable = executable.filter(|path| !path.is_empty() && !first.starts_with("python"))?;
    Some(format!("{first} ran it with {executable}"))
}

/// Returns the note on a program that continued after the end of its first process.
fn background(case: &Case) -> Option<String> {
    let is_in_background = case.launch.ended.as_ref().is_some_and(|ended| ended.in_background);
    is_in_background.then(|| "the program went on in the background: the report is of what ran there".to_owned())
}

/// Returns the note that the program made fewer steps than requested, because it ended or was stopped.
fn few_steps(case: &Case, decision: &Decision) -> Option<String> {
    let done = case.limited.processes.iter().map(steps).max().unwrap_or_default();
    let wanted = case.launch.steps;
    let timed_out = case.launch.ended.as_ref().is_some_and(|ended| ended.timed_out);
    if done >= wanted || !(timed_out || matches!(decision, Decision::Fits { stopped: None, .. })) {
        return None;
    }
    let until = if timed_out { "until its time was up" } else { "to its end" };
    Some(match done {
        0 => format!("no torch.optim optimizer made a step, so --steps did not stop the program: it ran {until}"),
        _ if timed_out => format!("the program made {done} of {wanted} optimizer steps"),
        _ => format!("the program ended after {done} of {wanted} optimizer steps"),
    })
}

/// Returns the note on a difference between the trace's peak and the allocator's counter, for a process with a trace.
pub(super) fn unaccounted(process: &Process, shown: Bytes, counted: Bytes) -> Option<String> {
    if unrecorded(process).is_some() {
        return None;
    }
    let Bytes(difference) = Bytes(shown.0.abs_diff(counted.0));
    (difference != 0).then(|| {
        format!(
            "the trace shows a peak of {} bytes where the allocator counted {}: the breakdown is not exact",
            shown.0, counted.0
        )
    })
}

/// Returns the note on a full ring of PyTorch's events, with the figures that older events would change.
pub(super) fn older_than_history(history: &History) -> Option<String> {
    let (count, events) = (history.older().len(), history.event_count());
    (count > 0).then(|| {
        format!(
            "PyTorch's history kept the last {events} events: what {count} allocations from before them hold is guessed, and \
             steps before them are left out"
        )
    })
}
