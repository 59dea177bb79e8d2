//! The process and device that the report is about.

use report::Usage;
use trace::{DeviceIndex, Process};

use super::case::Case;
use crate::judge::outcome::Outcome;
use crate::judge::probes::is_probe;
use crate::measure::usage::{fullest_device, fullest_of};

/// Returns the process of the report: the process that ran out of memory, else the process with the highest peak.
/// Probes of a search do not count.
pub(super) fn find_subject<'a>(case: &Case<'a>) -> Option<(&'a Process, DeviceIndex, Usage)> {
    let run = case.limited;
    let processes = || run.processes.iter().filter(|process| !is_probe(process, run));
    let outcome = |process: &Process| Outcome::of_process(process, run);
    let failed = processes().find(|process| outcome(process) == Outcome::Ended);
    let failed = failed.or_else(|| processes().find(|process| outcome(process) != Outcome::Served));
    let failed = failed.and_then(|process| {
        let (device, usage) = fullest_device(process, case.context())?;
        Some((process, device, usage))
    });
    failed.or_else(|| fullest_of(processes(), case.context()))
}
