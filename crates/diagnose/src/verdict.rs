//! The verdict: the program fits, runs out, or ended too early to decide.

use report::Verdict;
use trace::run::EndReason;
use trace::{PhantomRecord, Process, Record};

use crate::case::Case;
use crate::ending::ended_by_oom;
use crate::measure::records::{devices, end, phantom_records, records};
use crate::measure::sharing::shared;

/// Returns the verdict on the run under the device's limit.
pub(crate) fn verdict(case: &Case) -> Verdict {
    if case.limited.processes.iter().any(ended_by_oom) {
        return Verdict::Oom;
    }
    let reasons = [stopped, raised, failed, unused, crowded];
    let reason = reasons.iter().find_map(|reason| reason(case));
    reason.map_or(Verdict::Fits, |reason| Verdict::Incomplete { reason })
}

/// Returns the reason for `incomplete` if several processes share a device: each process fits, and their sum may
/// exceed the device.
fn crowded(case: &Case) -> Option<String> {
    let found = shared(case).filter(|found| found.together > case.total())?;
    let (processes, device, together) = (found.held.len(), found.device, found.together);
    Some(format!("{processes} processes share device {device}; each fits alone, and together they may take {together}"))
}

fn stopped(case: &Case) -> Option<String> {
    let ended = case.launch.ended.as_ref()?;
    if ended.timed_out {
        return Some(format!("stopped after {:.0} s, when its time was up", ended.seconds));
    }
    let signal = ended.signal?;
    Some(format!("the program was ended by signal {signal}"))
}

fn raised(case: &Case) -> Option<String> {
    let missing = phantom_records(&case.limited).find_map(|record| match record {
        PhantomRecord::Missing { symbol } => Some(format!(" (it called {symbol}, which the phantom GPU lacks)")),
        _ => None,
    });
    records(&case.limited).find_map(|record| match record {
        Record::Error { type_name, message, file, line, .. } => {
            let first = message.lines().next().unwrap_or_default();
            let missing = missing.clone().unwrap_or_default();
            let said = if first.is_empty() { String::new() } else { format!(": {first}") };
            Some(format!("the program raised {type_name}{}{said}{missing}", at(case, file.as_deref(), *line)))
        }
        _ => None,
    })
}

fn at(case: &Case, file: Option<&str>, line: Option<u32>) -> String {
    match (file, line) {
        (Some(file), Some(line)) => format!(" at {}:{line}", case.show(file)),
        _ => String::new(),
    }
}

/// Returns the reason for a failure: a status other than 0; without a status, a process without a recorded end; with
/// status 0, a truncated record. After the requested steps the status is ignored: a program's clean-up may not expect
/// the agent's way of ending it.
fn failed(case: &Case) -> Option<String> {
    let code = case.launch.ended.as_ref().and_then(|ended| ended.exit_code);
    match code {
        Some(0) if !breaks_off(case) => None,
        Some(_) if all_ended(case, &[EndReason::Steps]) => None,
        None if all_ended(case, &[EndReason::Steps, EndReason::Exit]) => None,
        Some(0) | None => Some("the end of the program was not recorded".to_owned()),
        Some(code) => Some(format!("the program ended with exit status {code}")),
    }
}

/// Checks that a GPU was used and no process recorded an end: the events after the last records are unknown.
fn breaks_off(case: &Case) -> bool {
    let processes = &case.limited.processes;
    processes.iter().any(uses_gpu) && processes.iter().all(|process| end(process).is_none())
}

/// Checks that at least one process exists and every process ended for one of `reasons`.
fn all_ended(case: &Case, reasons: &[EndReason]) -> bool {
    let mut processes = case.limited.processes.iter().peekable();
    let ended = |process| end(process).is_some_and(|(reason, _)| reasons.contains(reason));
    processes.peek().is_some() && processes.all(ended)
}

fn unused(case: &Case) -> Option<String> {
    let used = case.limited.processes.iter().any(uses_gpu);
    (!used).then(|| "the program never used a GPU".to_owned())
}

fn uses_gpu(process: &Process) -> bool {
    let took = |record: &PhantomRecord| matches!(record, PhantomRecord::Memory { .. });
    process.snapshot.is_some() || process.phantom.iter().any(took) || !devices(process).is_empty()
}
