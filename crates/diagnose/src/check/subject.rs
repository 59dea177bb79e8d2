//! The process and device that the report is about.

use report::Usage;
use trace::{DeviceIndex, Process};

use super::case::Case;
use crate::judge::ending::ended_by_oom;
use crate::judge::probes::find_probes;
use crate::judge::unserved::has_unserved_request;
use crate::measure::usage::{fullest_device, fullest_of};

/// Returns the process of the report: the process that ran out of memory, else the process with the highest peak.
/// Probes of a search do not count.
pub(super) fn find_subject(case: &Case) -> Option<(&Process, DeviceIndex, Usage)> {
    let run = &case.limited;
    let is_probe = |process: &&Process| has_unserved_request(process) && find_probes(process, run).is_some();
    let processes = || run.processes.iter().filter(|process| !is_probe(process));
    let failed = processes().find(|process| ended_by_oom(process));
    let failed = failed.or_else(|| processes().find(|process| has_unserved_request(process)));
    let failed = failed.and_then(|process| {
        let (device, usage) = fullest_device(process, case.context())?;
        Some((process, device, usage))
    });
    failed.or_else(|| fullest_of(processes(), case.context()))
}
