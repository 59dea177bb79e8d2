//! Remarks for the reader of a check, one sentence each.

use std::collections::{BTreeMap, BTreeSet};

use report::render::grouped;
use report::words::count;
use trace::run::{KernelsMissingRecord, LongestTextRecord, RemedyRecord, UntrainedRecord, ValueReadRecord};
use trace::{Bytes, History, Process, Run, UntrainedReason};

use super::case::Case;
use super::leftovers::list_leftovers;
use super::verdict::{Decision, find_reason};
use crate::judge::changed::name_changed;
use crate::judge::outcome::Outcome;
use crate::measure::outside::outside;

/// The most lines of value reads in a note.
const LINES_SHOWN: usize = 6;
/// Untrained parameters of less than this part of the device are left to the full report: 0.1 %.
const LEAST_PART: u64 = 1000;
/// The size of the largest scalar type.
const MOST_SCALAR_BYTES: u64 = 16;

/// Returns the notes that need no device.
pub(super) fn notes(case: &Case) -> Vec<String> {
    let run = case.limited;
    let unlimited = case.unlimited.iter().flat_map(|unlimited| &unlimited.run.processes);
    let processes = run.processes.iter().chain(unlimited);
    let mut notes: Vec<String> = values_read(case).chain(processes.flat_map(of_process)).collect();
    let missing = run.processes.iter().flat_map(|process| &process.ledger.missing_symbols);
    notes.extend(missing.map(|symbol| format!("the program called {symbol}, which the phantom GPU does not have")));
    notes.extend(suppressed(run));
    let held = outside(run).into_iter();
    notes
        .extend(held.map(|(library, bytes)| format!("{library} held {bytes} of a device outside PyTorch's allocator")));
    notes.extend(raised_later(case));
    notes.extend(list_leftovers(run, case.folder));
    let untrained_records = case.longest().processes.iter().flat_map(|process| &process.untrained);
    notes.extend(untrained_records.filter(|record| !matters(case, record)).map(|record| untrained(case, record)));
    distinct(notes)
}

/// Returns the notes that are necessary to read the verdict: the short report shows them.
pub(super) fn caveats(case: &Case, decision: &Decision) -> Vec<String> {
    let single = [
        missing_kernels(case),
        unanswered(case),
        few_steps(case, decision),
        guessed_length(case),
        interpreter(case),
        background(case),
        name_changed(case.limited),
    ]
    .into_iter()
    .flatten();
    let all_untrained = case.longest().processes.iter().flat_map(|process| &process.untrained);
    let large = all_untrained.filter(|record| matters(case, record));
    single.chain(distinct(large.map(|record| untrained(case, record)).collect())).collect()
}

/// True for parameters that may change the verdict once they are trained.
fn matters(case: &Case, record: &UntrainedRecord) -> bool {
    record.bytes > case.total().0 / LEAST_PART
}

/// Removes duplicate texts: ranks of a job have equal notes.
fn distinct(mut texts: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    texts.retain(|text| seen.insert(text.clone()));
    texts
}

/// Returns the notes on a process, whatever the decision.
fn of_process(process: &Process) -> impl Iterator<Item = String> {
    let unrecorded = process.unrecorded.as_ref().map(|unrecorded| {
        let reason = unrecorded.reason.split(". ").next().unwrap_or_default();
        format!("the peak is that of the device, and its contents are unknown: {reason}")
    });
    let skipped = process.initializers_skipped.as_ref().map(|skipped| {
        let (calls, bytes) = (count(skipped.count, "call", "calls"), Bytes(skipped.bytes));
        format!("large host tensors were not initialised ({calls}, {bytes}), which changes no GPU memory")
    });
    let unread = process.checkpoint_unread.as_ref().map(|unread| {
        let (tensors, bytes) = (count(unread.count, "tensor", "tensors"), Bytes(unread.bytes));
        format!("weights in checkpoints were not read ({tensors}, {bytes}); they count as zeros")
    });
    unrecorded.into_iter().chain(process.remedies.iter().map(of_remedy)).chain(skipped).chain(unread)
}

/// Returns a note on trackers, mail and uploads that a dry run took off line; the processes of a job are counted together.
fn suppressed(run: &Run) -> Option<String> {
    let mut counts = BTreeMap::new();
    for act in run.processes.iter().flat_map(|process| &process.outside) {
        *counts.entry((act.library.as_str(), act.action.as_str())).or_insert(0) += act.count;
    }
    let acts = counts
        .into_iter()
        .map(|((library, action), number)| format!("{library} ({})", count(number, action, &format!("{action}s"))));
    let acts: Vec<String> = acts.collect();
    (!acts.is_empty()).then(|| format!("the dry run sent nothing by {}: --online lets it", acts.join(", ")))
}

fn of_remedy(record: &RemedyRecord) -> String {
    let RemedyRecord { remedy, text, line, .. } = record;
    let how = if record.applied { "" } else { "not " };
    let place = if *line > 0 { format!(" (line {line})") } else { String::new() };
    format!("{remedy} was {how}applied: {text}{place}")
}

/// Returns the notes on reads of values that a dry run does not compute: the first lines in program order, and the
/// number of further lines.
fn values_read(case: &Case) -> impl Iterator<Item = String> {
    let reads = case.limited.processes.iter().flat_map(|process| &process.value_reads);
    let reads = distinct(reads.map(|read| value_read(case, read)).collect());
    let more = reads.len().saturating_sub(LINES_SHOWN);
    let lines = count(more, "more line", "more lines");
    let rest = (more > 0).then(|| format!("{lines} read values that a GPU would have computed"));
    reads.into_iter().take(LINES_SHOWN).chain(rest)
}

fn value_read(case: &Case, read: &ValueReadRecord) -> String {
    let ValueReadRecord { file, line, count, bytes, .. } = read;
    let place = if file.is_empty() { "no line of Python".to_owned() } else { format!("{}:{line}", case.show(file)) };
    let bytes = if *bytes > MOST_SCALAR_BYTES * count { format!(", {}", Bytes(*bytes)) } else { String::new() };
    format!("{place} read values that a GPU would have computed ({count}x{bytes}); the program saw assumed ones")
}

/// Returns the note on the error that ended a program after a caught out-of-memory error.
fn raised_later(case: &Case) -> Option<String> {
    let is_caught = Outcome::of(case.limited) == Outcome::Caught;
    let reason = is_caught.then(|| find_reason(case, case.limited, case.launch.ended.as_ref()))??;
    Some(format!("after it had run out of memory, {reason}"))
}

/// Returns the note that the program's PyTorch does not run on the GPU.
fn missing_kernels(case: &Case) -> Option<String> {
    let missing = case.limited.processes.iter().find_map(|process| process.kernels_missing.as_ref())?;
    let KernelsMissingRecord { capability, built_for } = missing;
    Some(format!(
        "this PyTorch has no kernels for the GPU (compute capability {capability}; it was built for {built_for}): on the GPU \
         itself its first kernel fails"
    ))
}

/// Returns the note on parameters that only a later phase of the training may train, in memory beyond this run's need.
fn untrained(case: &Case, record: &UntrainedRecord) -> String {
    let UntrainedRecord { reason, optimizer, file, line, count, bytes } = record;
    let place = if file.is_empty() { String::new() } else { format!(" ({}:{line})", case.show(file)) };
    let (bytes, parameters) = (Bytes(*bytes), if *count == 1 { "parameter" } else { "parameters" });
    match reason {
        UntrainedReason::NoStep => format!(
            "{optimizer}{place} made no step: once its {count} {parameters} ({bytes}) are trained, their activations, gradients \
             and optimizer state come on top"
        ),
        UntrainedReason::Frozen => format!(
            "{optimizer}{place} holds {count} frozen {parameters} ({bytes}): once they are trained, their activations, gradients \
             and optimizer state come on top"
        ),
    }
}

/// Returns the note on the guessed length of texts.
fn guessed_length(case: &Case) -> Option<String> {
    let LongestTextRecord { tokens, allowed } =
        case.limited.processes.iter().find_map(|process| process.longest_text.as_ref())?;
    let of = allowed.map_or_else(String::new, |allowed| format!(" of {}", grouped(allowed)));
    Some(format!("texts have up to {}{of} tokens: a guess, as the tokenizer is not here", grouped(*tokens)))
}

/// Returns the note that names the interpreter of a program that was not started as `python …`: a launcher's, a shell script's.
fn interpreter(case: &Case) -> Option<String> {
    let first = case.launch.command.first()?.rsplit('/').next().unwrap_or_default();
    let mut executables = case.limited.processes.iter().map(|process| process.identity.executable.as_str());
    let executable = executables.find(|path| !path.is_empty()).filter(|_| !first.starts_with("python"))?;
    Some(format!("{first} ran it with {executable}"))
}

/// Returns the note on a program that continued after the end of its first process.
fn background(case: &Case) -> Option<String> {
    let is_in_background = case.launch.ended.as_ref().is_some_and(|ended| ended.in_background);
    is_in_background.then(|| "the program went on in the background: the report is of what ran there".to_owned())
}

/// Returns the note on processes that had to be killed when oomph stopped the program.
fn unanswered(case: &Case) -> Option<String> {
    let is_killed = |process: &&Process| process.end.is_none() && process.ledger.fullest().is_some();
    let killed = case.limited.processes.iter().filter(is_killed).count();
    let is_stopped = case.launch.ended.as_ref().is_some_and(|ended| ended.stop_cause().is_some());
    (is_stopped && killed > 0).then(|| {
        let processes = if case.limited.processes.len() > 1 { count(killed, "process", "processes") } else { "it".to_owned() };
        format!(
            "{processes} did not write the last records in time, and was killed: the peak on the device is exact, the rest is \
             as of an earlier moment"
        )
    })
}

/// Returns the note that the program made fewer steps than requested, because it ended or was stopped.
fn few_steps(case: &Case, decision: &Decision) -> Option<String> {
    let done = case.limited.processes.iter().map(Process::step_count).max().unwrap_or_default();
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
    if process.unrecorded.is_some() {
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
