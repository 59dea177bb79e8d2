//! The verdict: the program fits, runs out, or ended too early to decide.

use report::words::{count, words_of_stop};
use report::{Growth, Recovery, SizeSearch, Stopped, Verdict};
use trace::run::owner::NCCL;
use trace::run::{EndReason, Ended};
use trace::{Bytes, DeviceIndex, Process, Run};

use super::case::Case;
use super::conditions::{list_assumed, list_conditions};
use crate::judge::ending::{Raised, first_error, raised_after_a_step};
use crate::judge::halt::find_stop;
use crate::judge::outcome::Outcome;

/// The verdict without its figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// Every request was served, or the program looked for a size that fits.
    Fits {
        /// The search for a size that fits.
        search: Option<SizeSearch>,
        /// The end of a program that did not end by itself after some of its steps.
        stopped: Option<String>,
    },
    /// A request could not be served.
    Oom,
    /// The reason why nothing can be said.
    Incomplete(String),
}

impl Decision {
    /// True for a program that looks for a size by running out, and found one.
    pub(super) fn is_search(&self) -> bool {
        matches!(self, Decision::Fits { search: Some(_), .. })
    }

    /// True for a search of which the tried size, or the other way, is known. Else the peak before the error may be that of other work.
    pub(super) fn is_known_search(&self) -> bool {
        let Decision::Fits { search: Some(search), .. } = self else { return false };
        search.recovery != Recovery::Smaller || search.lowers.is_some() || !search.tried.is_empty()
    }

    /// Returns the verdict with its figures: what the device has beyond the `peak` under its limit, or beyond the `need`.
    pub(super) fn with_figures(self, case: &Case, peak: Bytes, need: Bytes, growth: Option<&Growth>) -> Verdict {
        let spare_bytes = difference(case.available(), need);
        match self {
            Decision::Fits { search, stopped } => fit(case, search, stopped, case.available() - peak, growth),
            Decision::Oom => Verdict::Oom { spare_bytes, assumed: list_assumed(case) },
            Decision::Incomplete(reason) => Verdict::Incomplete { reason, spare_bytes },
        }
    }
}

/// Returns the verdict on a program whose requests were served. See Note [Fits so far] in `conditions.rs`.
fn fit(
    case: &Case,
    search: Option<SizeSearch>,
    stopped: Option<String>,
    spare_bytes: Bytes,
    growth: Option<&Growth>,
) -> Verdict {
    let conditions = list_conditions(case, spare_bytes, growth);
    if conditions.is_empty() && stopped.is_none() {
        return Verdict::Fits { spare_bytes, search };
    }
    Verdict::FitsSoFar { spare_bytes, search, stopped, conditions }
}

fn difference(a: Bytes, b: Bytes) -> i64 {
    let bytes = i64::try_from(a.0.abs_diff(b.0)).unwrap_or(i64::MAX);
    if a < b { -bytes } else { bytes }
}

/// Decides about the run under the device's limit. See Note [Caught errors] in `judge/caught.rs`.
pub(super) fn decide(case: &Case) -> Decision {
    let search = match Outcome::of(case.limited) {
        Outcome::Caught | Outcome::Ended => return Decision::Oom,
        Outcome::Searched(search) => Some(search),
        Outcome::Served => None,
    };
    let ended = case.launch.ended.as_ref();
    let stopped = find_reason(case, case.limited, ended);
    let others = || name_unused_gpu(case).or_else(|| name_duplicate(case)).or_else(|| name_shared_device(case));
    match (stopped, others()) {
        (Some(reason), None) if raised_after_a_step(case.limited) && has_known_end(case, ended) => {
            Decision::Fits { search, stopped: Some(after_steps(case, &reason)) }
        }
        (Some(reason), _) | (None, Some(reason)) => Decision::Incomplete(reason),
        (None, None) => Decision::Fits { search, stopped: None },
    }
}

/// True if an error ended the program, or oomph did. A signal may be the host's lack of memory, a process without a recorded end may have
/// run out, and an exit status without an error has a reason of the program's own.
fn has_known_end(case: &Case, ended: Option<&Ended>) -> bool {
    let is_stopped = ended.is_some_and(|ended| ended.stop_cause().is_some());
    let is_killed = ended.is_some_and(|ended| ended.signal.is_some());
    is_stopped || (!is_killed && first_error(case.limited).is_some())
}

/// `after 2 of 3 steps the program raised …`, or `the program was stopped by --timeout after 2 of 3 steps and 60 s …`.
fn after_steps(case: &Case, reason: &str) -> String {
    let done = case.limited.processes.iter().map(Process::step_count).max().unwrap_or_default();
    let steps = match case.launch.steps {
        wanted if wanted < done.max(1) => count(done, "step", "steps"),
        wanted => format!("{done} of {}", count(wanted, "step", "steps")),
    };
    let stopped = find_stop(case.limited, case.launch.ended.as_ref(), None);
    stopped.map_or_else(|| format!("after {steps} {reason}"), |stopped| describe_stop(case, &stopped, Some(&steps)))
}

/// `the program was stopped by you (Ctrl-C) after 1 of 3 steps and 40 s, at step 2, backward (train.py:41)`.
fn describe_stop(case: &Case, stopped: &Stopped, steps: Option<&str>) -> String {
    let at = stopped.location.as_ref();
    let line = at.map_or_else(String::new, |at| format!(" ({}:{})", case.show(&at.file), at.line));
    format!("the program was stopped by {}{line}", words_of_stop(stopped, steps))
}

/// Returns the reason why a run shows less than the whole program.
pub(super) fn find_reason(case: &Case, run: &Run, ended: Option<&Ended>) -> Option<String> {
    let name_end = || ended.and_then(name_signal);
    let stopped = find_stop(run, ended, None).map(|stopped| describe_stop(case, &stopped, None));
    stopped.or_else(name_end).or_else(|| name_error(case, run)).or_else(|| name_status(run, ended))
}

/// Returns the reason for `incomplete` if ranks of a job on one device form a communicator of NCCL, which refuses two ranks on one GPU
/// ("Duplicate GPU detected", `src/init.cc`, 2.4 and later).
fn name_duplicate(case: &Case) -> Option<String> {
    let found = case.shared()?;
    let device = DeviceIndex(found.device);
    let uses_nccl = |process: &&Process| process.ledger.share_peak(device, NCCL).is_some();
    let ranks: Vec<&Process> = case.limited.processes.iter().filter(uses_nccl).collect();
    (ranks.len() > 1 && (found.is_job || are_siblings(&ranks))).then(|| {
        format!(
            "{ranks} ranks use GPU {device} for NCCL, which refuses two ranks on one GPU (\"Duplicate GPU detected\"): give each rank its \
             own, as by torch.cuda.set_device",
            ranks = ranks.len(),
            device = device.0
        )
    })
}

/// True if one process started all of them: `torch.multiprocessing.spawn` sets no variables by which ranks know each other.
fn are_siblings(processes: &[&Process]) -> bool {
    let parent = |process: &&Process| process.identity.ancestors.first().copied();
    let first = processes.first().and_then(parent);
    first.is_some() && processes.iter().all(|process| parent(process) == first)
}

/// Returns the reason for `incomplete` if several processes share a device: each process fits, and their sum may
/// exceed the device.
fn name_shared_device(case: &Case) -> Option<String> {
    let found = case.shared().filter(|found| found.together > case.available())?;
    let (processes, device, together) = (found.held.len(), found.device, found.together);
    Some(format!("{processes} processes share device {device}; each fits alone, and together they may take {together}"))
}

fn name_signal(ended: &Ended) -> Option<String> {
    let signal = ended.signal?;
    Some(format!("signal {signal} ended the program"))
}

fn name_error(case: &Case, run: &Run) -> Option<String> {
    let missing = run.processes.iter().find_map(|process| process.ledger.missing_symbols.first());
    let missing = missing.map(|symbol| format!(" (it called {symbol}, which the phantom GPU does not have)"));
    let Raised { type_name, message, at } = first_error(run)?;
    let at = at.map_or_else(String::new, |(file, line)| format!(" at {}:{line}", case.show(&file)));
    let first = message.lines().next().unwrap_or_default();
    let said = if first.is_empty() { String::new() } else { format!(": {first}") };
    Some(format!("the program raised {type_name}{at}{said}{}", missing.unwrap_or_default()))
}

/// Returns the reason for a failure: a status other than 0; without a status, a process without a recorded end; with
/// status 0, a truncated record. After the requested steps the status is ignored: a program's clean-up may not expect
/// the agent's way of ending it.
fn name_status(run: &Run, ended: Option<&Ended>) -> Option<String> {
    let code = ended.and_then(|ended| ended.exit_code);
    match code {
        Some(0) if !breaks_off(run) => None,
        Some(_) if all_ended(run, &[EndReason::Steps]) => None,
        None if all_ended(run, &[EndReason::Steps, EndReason::Exit]) => None,
        Some(0) | None => Some("the end of the program was not recorded".to_owned()),
        Some(code) => Some(format!("the program ended with exit status {code}")),
    }
}

/// Checks that a GPU was used and no process recorded an end: the events after the last records are unknown.
fn breaks_off(run: &Run) -> bool {
    let processes = &run.processes;
    processes.iter().any(uses_gpu) && processes.iter().all(|process| process.end.is_none())
}

/// Checks that there is a process and that every process ended for one of `reasons`.
fn all_ended(run: &Run, reasons: &[EndReason]) -> bool {
    let mut processes = run.processes.iter().peekable();
    let ended = |process: &Process| process.end.as_ref().is_some_and(|end| reasons.contains(&end.reason));
    processes.peek().is_some() && processes.all(ended)
}

fn name_unused_gpu(case: &Case) -> Option<String> {
    let used = case.limited.processes.iter().any(uses_gpu);
    (!used).then(|| "the program never used a GPU".to_owned())
}

fn uses_gpu(process: &Process) -> bool {
    process.snapshot.is_some() || process.ledger.devices().next().is_some() || !process.devices().is_empty()
}
