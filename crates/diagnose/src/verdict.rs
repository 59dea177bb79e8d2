//! Whether the program fits, ran out, or ended before either could be said.

use report::Verdict;
use trace::{Ended, PhantomRecord, Process, Record};

use crate::case::Case;
use crate::measure::records::{end, ended_by_oom, phantom_records, records};

/// The verdict on the run under the device's limit.
pub(crate) fn verdict(case: &Case) -> Verdict {
    let processes = &case.limited.processes;
    if processes.iter().any(ended_by_oom) {
        return Verdict::Oom;
    }
    let reason = stopped(case)
        .or_else(|| raised(case))
        .or_else(|| unused(processes))
        .or_else(|| cut_short(case));
    reason.map_or(Verdict::Fits, |reason| Verdict::Incomplete { reason })
}

/// Whether a device was used and every process came to its end by itself.
fn finished(process: &Process) -> bool {
    end(process).is_some_and(|(reason, _)| matches!(reason, "steps" | "exit"))
}

fn stopped(case: &Case) -> Option<String> {
    let ended = case.launch.ended.as_ref()?;
    if ended.timed_out {
        return Some(format!(
            "stopped after {:.0} s, when its time was up",
            ended.seconds
        ));
    }
    let signal = ended.signal?;
    Some(format!("the program was ended by signal {signal}"))
}

fn raised(case: &Case) -> Option<String> {
    let missing = phantom_records(&case.limited).find_map(|record| match record {
        PhantomRecord::Missing { symbol } => Some(format!(
            " (it called {symbol}, which the phantom GPU lacks)"
        )),
        _ => None,
    });
    records(&case.limited).find_map(|record| match record {
        Record::Error {
            type_name,
            message,
            file,
            line,
            ..
        } => {
            let first = message.lines().next().unwrap_or_default();
            let missing = missing.clone().unwrap_or_default();
            Some(format!(
                "the program raised {type_name}{}: {first}{missing}",
                at(file.as_deref(), *line)
            ))
        }
        _ => None,
    })
}

fn at(file: Option<&str>, line: Option<u32>) -> String {
    match (file, line) {
        (Some(file), Some(line)) => format!(" at {file}:{line}"),
        _ => String::new(),
    }
}

fn unused(processes: &[Process]) -> Option<String> {
    let used = |process: &Process| {
        process.snapshot.is_some() || !process.phantom.is_empty() || finished(process)
    };
    (!processes.iter().any(used)).then(|| "the program never used a GPU".to_owned())
}

fn cut_short(case: &Case) -> Option<String> {
    let code = case
        .launch
        .ended
        .as_ref()
        .and_then(|ended: &Ended| ended.exit_code);
    if code == Some(0) || case.limited.processes.iter().all(finished) {
        return None;
    }
    let code = code.map_or_else(String::new, |code| format!(", with exit status {code}"));
    Some(format!("the program ended early{code}"))
}
