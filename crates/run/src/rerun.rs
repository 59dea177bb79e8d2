//! Decides after a run about the next run and its conditions.

use trace::{Bytes, Record, Run};

use crate::conditions::{Conditions, Limit};
use crate::route::Route;

/// The facts about an ended run that decide about the next run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunFacts {
    /// Whether only a run without a limit shows the whole program, see [`ran_out`].
    pub ran_out: bool,
    /// The bytes that the other ranks of the job need on the device that the fullest rank shares with them.
    pub others: Option<Bytes>,
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
    /// The program ran out of memory.
    RanOut,
}

/// Returns the run after a run under `conditions`, if any: ranks on a shared device get a part of the device each, then a program that
/// ran out gets unlimited memory.
pub fn next(conditions: &Conditions, facts: &RunFacts) -> Option<Rerun> {
    let rerun = |limit, reason| Some(Rerun { conditions: conditions.clone().with_limit(limit), reason });
    match (conditions.limit, facts) {
        (Limit::Device, RunFacts { others: Some(others), .. }) => {
            rerun(Limit::Shared { others: *others }, Reason::SharedDevice)
        }
        (Limit::Device | Limit::Shared { .. }, RunFacts { ran_out: true, .. }) => {
            rerun(Limit::Unlimited, Reason::RanOut)
        }
        _ => None,
    }
}

/// Whether only a run without a limit shows the whole program: the program ran out, or PyTorch emptied its cache to serve a request.
pub fn ran_out(run: &Run) -> bool {
    run.processes.iter().flat_map(|process| &process.records).any(|record| match record {
        Record::Oom { .. } => true,
        Record::Error { oom, .. } => *oom,
        Record::End { devices, .. } => devices.iter().any(|stats| stats.alloc_retries > 0),
        _ => false,
    })
}

impl Limit {
    /// Returns the sentence that the progress line shows.
    pub fn progress(self, route: Route) -> String {
        let sentence = match self {
            Limit::Device => "running on the phantom GPU",
            Limit::Shared { .. } => "ranks share a GPU; running with a part of it for each",
            Limit::Unlimited => "it ran out; running without a limit",
        };
        match route {
            Route::Rank(rank) => format!("rank {rank}: {sentence}"),
            Route::Plain | Route::Forked => sentence.to_owned(),
        }
    }
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
        let others = Some(Bytes(7));
        let shared = Limit::Shared { others: Bytes(7) };
        let sharing = Some((shared, Reason::SharedDevice));
        let unlimited = Some((Limit::Unlimited, Reason::RanOut));
        let cases = [
            (Limit::Device, false, None, None),
            (Limit::Device, true, None, unlimited),
            (Limit::Device, false, others, sharing),
            (Limit::Device, true, others, sharing),
            (shared, true, None, unlimited),
            (shared, true, others, unlimited),
            (shared, false, others, None),
            (Limit::Unlimited, true, others, None),
        ];
        for (limit, ran_out, others, expected) in cases {
            assert_eq!(limits(limit, RunFacts { ran_out, others }), expected, "{limit:?} {ran_out} {others:?}");
        }
    }

    #[test]
    fn an_emptied_cache_counts_as_running_out() {
        let end = |alloc_retries| Record::End {
            reason: trace::run::EndReason::Exit,
            steps: 1,
            devices: vec![trace::run::DeviceStats { alloc_retries, ..Default::default() }],
            snapshot: None,
        };
        let run = |record| Run { processes: vec![trace::Process { records: vec![record], ..Default::default() }] };
        assert!(ran_out(&run(end(1))));
        assert!(!ran_out(&run(end(0))));
        assert!(!ran_out(&Run::default()));
    }
}
