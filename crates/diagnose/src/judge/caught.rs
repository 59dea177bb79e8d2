//! Unserved requests of a program that went on, because it caught the error or ignored it.
//!
//! # Note [Caught errors]
//! A program that catches an out-of-memory error has not fitted: a batch was skipped, a row of its table says "OOM", a
//! thread is gone. So the verdict is about the request, whoever caught the error. The exception is a program that
//! searches for its batch size by running out: every error was caught by a handler that makes a number smaller (the
//! agent reads the handler's source), and an optimizer step followed the last error. The final size of such a program
//! fits. A program may ask child processes instead, one for each size (`probes.rs`).

use report::{Caught, Location, SizeSearch, Then};
use trace::run::Ended;
use trace::{Process, Record, Run};

use super::ending::ended_by_oom;
use super::probes::find_probes;
use super::unserved::{has_unserved_request, is_error, is_final_refusal};

/// The outcome of a run's requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Requests {
    /// All were served.
    Served,
    /// Unserved requests of a search: every asking process searched for a size that fits, and found one.
    Search(SizeSearch),
    /// Some were not.
    Unserved,
}

/// Judges the requests of all processes. See Note [Caught errors].
pub fn judge_requests(run: &Run) -> Requests {
    if run.processes.iter().any(ended_by_oom) {
        return Requests::Unserved;
    }
    let lacking = run.processes.iter().filter(|process| has_unserved_request(process));
    let search = |process| find_search(process).or_else(|| find_probes(process, run));
    let searches: Option<Vec<SizeSearch>> = lacking.map(search).collect();
    match searches.map(|searches| searches.into_iter().next()) {
        Some(None) => Requests::Served,
        Some(Some(search)) => Requests::Search(search),
        None => Requests::Unserved,
    }
}

/// Returns the search of a program that ran out on purpose, and continued with a smaller size.
pub(crate) fn find_search(process: &Process) -> Option<SizeSearch> {
    if ended_by_oom(process) || process.phantom.iter().any(|record| is_final_refusal(record, process)) {
        return None;
    }
    let mut found: Option<SizeSearch> = None;
    for record in process.records.iter().filter(|record| is_error(record)) {
        if let Record::Oom { caught_at, lowers, .. } = record {
            let (file, line) = caught_at.clone()?;
            let search = found.get_or_insert(SizeSearch {
                lowers: lowers.clone()?,
                caught_at: Location { file, line, column: None },
                errors: 0,
            });
            search.errors += 1;
        }
    }
    found.filter(|_| steps_after_last_oom(process) > 0)
}

/// Returns the fate of the errors that did not end the process.
pub(crate) fn find_caught(process: &Process, ended: Option<&Ended>) -> Option<Caught> {
    if ended_by_oom(process) {
        return None;
    }
    let location = process.records.iter().find_map(|record| match record {
        Record::Oom { caught_at: Some((file, line)), .. } => {
            Some(Location { file: file.clone(), line: *line, column: None })
        }
        _ => None,
    });
    let errors = process.records.iter().filter(|record| is_error(record)).count();
    let steps = steps_after_last_oom(process);
    let then = if steps > 0 {
        Then::WentOn { steps }
    } else {
        Then::Ended { status: ended.and_then(|ended| ended.exit_code) }
    };
    Some(Caught { location, errors: u64::try_from(errors).unwrap_or(u64::MAX), then })
}

fn steps_after_last_oom(process: &Process) -> u32 {
    let after = process.records.iter().rev().take_while(|record| !matches!(record, Record::Oom { .. }));
    let steps = after.filter(|record| matches!(record, Record::Step { .. })).count();
    u32::try_from(steps).unwrap_or(u32::MAX)
}
