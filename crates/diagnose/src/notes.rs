//! What else the reader should know, one sentence each.

use report::Verdict;
use trace::{Bytes, PhantomRecord, Record};

use crate::case::Case;
use crate::measure::records::{phantom_records, records, steps};

/// What can be said without looking at any device.
pub(crate) fn notes(case: &Case, verdict: &Verdict) -> Vec<String> {
    let run = &case.limited;
    let mut notes: Vec<String> = records(run).filter_map(|record| note(case, record)).collect();
    let missing = phantom_records(run).filter_map(|record| match record {
        PhantomRecord::Missing { symbol } => Some(format!("the program called {symbol}, which the phantom GPU lacks")),
        _ => None,
    });
    notes.extend(missing);
    notes.extend(few_steps(case, verdict));
    notes
}

fn note(case: &Case, record: &Record) -> Option<String> {
    match record {
        Record::InitializersSkipped { count, bytes } => {
            let (bytes, calls) = (Bytes(*bytes), if *count == 1 { "call" } else { "calls" });
            Some(format!(
                "large host tensors were not initialised ({count} {calls}, {bytes}), which changes no GPU memory"
            ))
        }
        Record::ValueRead { file, line, count } => {
            let file = case.show(file);
            Some(format!("{file}:{line} read values that a GPU would have computed ({count}x); zeros were answered"))
        }
        _ => None,
    }
}

/// That the program ended by itself with fewer steps than were asked for.
fn few_steps(case: &Case, verdict: &Verdict) -> Option<String> {
    let done = case.limited.processes.iter().map(steps).max().unwrap_or_default();
    let (wanted, fits) = (case.launch.steps, *verdict == Verdict::Fits);
    (fits && done < wanted).then(|| format!("the program ended after {done} of {wanted} optimizer steps"))
}

/// That the need of a program that ran out is not known.
pub(crate) fn lower_bound(case: &Case, verdict: &Verdict) -> Option<String> {
    let unknown = *verdict == Verdict::Oom && case.unlimited.is_none();
    unknown.then(|| "the need is a lower bound: the program was not run without a limit".to_owned())
}

/// That the trace and the allocator's own counter differ about the peak.
pub(crate) fn unaccounted(shown: Bytes, counted: Bytes) -> Option<String> {
    let Bytes(difference) = Bytes(shown.0.abs_diff(counted.0));
    (difference != 0).then(|| {
        format!(
            "the trace shows a peak of {} bytes where the allocator counted {}: the breakdown is not exact",
            shown.0, counted.0
        )
    })
}
