//! Unserved requests of a program that went on, because it caught the error or ignored it.
//!
//! # Note [Caught errors]
//! A program that catches an out-of-memory error has not fitted: a batch was skipped, a row of its table says "OOM", a
//! thread is gone. So the verdict is about the request, whoever caught the error. The exception is a program that
//! searches for its batch size by running out: every error was caught by a handler that makes a number smaller (the
//! agent reads the handler's source), and an optimizer step followed the last error. The final size of such a program
//! fits. A program may ask child processes instead, one for each size (`probes.rs`).

use report::{Caught, Location, SizeSearch, Then};
use trace::Process;
use trace::run::Ended;

use super::ending::ended_by_oom;
use super::unserved::{has_final_refusal, is_error};

/// Returns the search of a program that ran out on purpose, and continued with a smaller size.
pub(crate) fn find_search(process: &Process) -> Option<SizeSearch> {
    if ended_by_oom(process) || has_final_refusal(process) {
        return None;
    }
    let mut found: Option<SizeSearch> = None;
    for oom in process.ooms.iter().filter(|oom| is_error(oom)) {
        let (file, line) = oom.caught_at.clone()?;
        let search = found.get_or_insert(SizeSearch {
            lowers: oom.lowers.clone()?,
            caught_at: Location { file, line, column: None },
            errors: 0,
        });
        search.errors += 1;
    }
    found.filter(|_| count_steps_after_errors(process) > 0)
}

/// Returns the fate of the errors that did not end the process.
pub(crate) fn find_caught(process: &Process, ended: Option<&Ended>) -> Option<Caught> {
    if ended_by_oom(process) {
        return None;
    }
    let handler = process.ooms.iter().find_map(|oom| oom.caught_at.clone());
    let location = handler.map(|(file, line)| Location { file, line, column: None });
    let errors = process.ooms.iter().filter(|oom| is_error(oom)).count();
    let steps = count_steps_after_errors(process);
    let then = if steps > 0 {
        Then::WentOn { steps }
    } else {
        Then::Ended { status: ended.and_then(|ended| ended.exit_code) }
    };
    Some(Caught { location, errors: u64::try_from(errors).unwrap_or(u64::MAX), then })
}

/// Counts the steps after the last failed request; without one, all steps.
fn count_steps_after_errors(process: &Process) -> u32 {
    let steps = process.ooms.last().map_or(process.steps.len(), |oom| process.steps_after(oom).count());
    u32::try_from(steps).unwrap_or(u32::MAX)
}
