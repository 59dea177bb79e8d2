//! Decides after a run about the next run and its conditions.

use trace::{Bytes, Record, Run};

use crate::conditions::{Conditions, Limit, Streams};
use crate::route::Route;

/// The facts about an ended run that decide about the next run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunFacts {
    /// True if only a run without a limit shows the whole program, see [`ran_out`].
    pub ran_out: bool,
    /// True if the peak depends on the completion of side streams, see [`Run::has_side_streams`].
    pub has_side_streams: bool,
    /// The fullest rank's part of a device, in bytes, if the ranks on the device do not fit together.
    pub part: Option<Bytes>,
}

/// The next run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rerun {
    /// Its conditions.
    pub conditions: Conditions,
    /// The reason for the run.
    pub reason: Reason,
}

/// The reason for another run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Ranks share a device that cannot hold them all.
    SharedDevice,
    /// Blocks that a side stream used may come back late.
    SideStreams,
    /// The program ran out of memory.
    RanOut,
}

/// Returns the sentence of the progress line. A first run has no reason.
pub fn describe(reason: Option<Reason>, route: Route) -> String {
    let sentence = match reason {
        None => "running on the phantom GPU",
        Some(Reason::SharedDevice) => "ranks share a GPU; running with a part of it for each",
        Some(Reason::SideStreams) => "it has side streams; running once more with late ones",
        Some(Reason::RanOut) => "it ran out; running without a limit",
    };
    match route {
        Route::Rank(rank) => format!("rank {rank}: {sentence}"),
        Route::Plain | Route::Forked => sentence.to_owned(),
    }
}

/// Returns the run after a run under `conditions`, if any: ranks on a shared device get a part of the device each, then side streams are
/// late, then a program that ran out gets unlimited memory.
pub fn next(conditions: &Conditions, facts: &RunFacts) -> Option<Rerun> {
    let rerun = |limit, reason| Some(Rerun { conditions: conditions.clone().with_limit(limit), reason });
    match (conditions.limit, facts) {
        (Limit::Device, RunFacts { part: Some(part), .. }) => rerun(Limit::Of(*part), Reason::SharedDevice),
        (Limit::Device | Limit::Of(_), RunFacts { has_side_streams: true, .. })
            if conditions.streams == Streams::AtOnce =>
        {
            Some(Rerun { conditions: conditions.clone().with_late_streams(), reason: Reason::SideStreams })
        }
        (Limit::Device | Limit::Of(_), RunFacts { ran_out: true, .. }) => rerun(Limit::Unlimited, Reason::RanOut),
        _ => None,
    }
}

/// True if only a run without a limit shows the whole program: the program ran out, or PyTorch emptied its cache to
/// serve a request.
pub fn ran_out(run: &Run) -> bool {
    run.processes.iter().flat_map(|process| &process.records).any(|record| match record {
        Record::Oom { .. } => true,
        Record::Error { oom, .. } => *oom,
        Record::End { devices, .. } => devices.iter().any(|stats| stats.alloc_retries > 0),
        _ => false,
    })
}

/// The device's peak of reserved and of allocated memory, over all processes.
pub fn peak(run: &Run) -> (u64, u64) {
    let ends = run.processes.iter().flat_map(|process| &process.records).filter_map(|record| match record {
        Record::End { devices, .. } => Some(devices),
        _ => None,
    });
    let peaks = ends.flatten().map(|stats| (stats.reserved_peak_bytes, stats.allocated_peak_bytes));
    peaks.max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(limit: Limit, facts: RunFacts) -> Option<(Limit, Reason)> {
        let conditions = Conditions { notes_files: true, ..Conditions::on_device(Vec::new()).with_limit(limit) };
        let rerun = next(&conditions, &facts)?;
        assert_eq!(rerun.conditions, conditions.with_limit(rerun.conditions.limit), "nothing else changes");
        Some((rerun.conditions.limit, rerun.reason))
    }

    #[test]
    fn shared_devices_come_first_and_a_run_without_a_limit_is_the_last() {
        let part = Some(Bytes(7));
        let shared = Limit::Of(Bytes(7));
        let sharing = Some((shared, Reason::SharedDevice));
        let unlimited = Some((Limit::Unlimited, Reason::RanOut));
        let cases = [
            (Limit::Device, false, None, None),
            (Limit::Device, true, None, unlimited),
            (Limit::Device, false, part, sharing),
            (Limit::Device, true, part, sharing),
            (shared, true, None, unlimited),
            (shared, true, part, unlimited),
            (shared, false, part, None),
            (Limit::Unlimited, true, part, None),
        ];
        for (limit, ran_out, part, expected) in cases {
            let facts = RunFacts { ran_out, part, ..RunFacts::default() };
            assert_eq!(limits(limit, facts), expected, "{limit:?} {ran_out} {part:?}");
        }
    }

    #[test]
    fn side_streams_are_late_once_and_before_the_run_without_a_limit() {
        let facts = RunFacts { has_side_streams: true, ran_out: true, part: None };
        let at_once = Conditions::on_device(Vec::new());
        let late = next(&at_once, &facts);
        assert_eq!(late.as_ref().map(|rerun| rerun.reason), Some(Reason::SideStreams));
        let late = at_once.with_late_streams();
        let unlimited = Rerun { conditions: late.clone().with_limit(Limit::Unlimited), reason: Reason::RanOut };
        assert_eq!(next(&late, &facts), Some(unlimited), "without a limit they are late, too");
    }

    #[test]
    fn an_emptied_cache_counts_as_running_out() {
        let end = |alloc_retries| Record::End {
            reason: trace::run::EndReason::Exit,
            steps: 1,
            devices: vec![trace::run::DeviceStats { alloc_retries, ..Default::default() }],
            snapshot: None,
            monotonic_ns: 0,
        };
        let run = |record| Run { processes: vec![trace::Process { records: vec![record], ..Default::default() }] };
        assert!(ran_out(&run(end(1))));
        assert!(!ran_out(&run(end(0))));
        assert!(!ran_out(&Run::default()));
    }
}
