//! Decides after a run about the next run and its conditions.

use std::time::Duration;

use trace::run::Ended;
use trace::{Bytes, Process, Run};

use crate::conditions::{AssumedShare, Conditions, Limit, Streams};
use crate::route::Route;

/// The longest run that is repeated with another share of selected elements.
const LONGEST_REPEATED: Duration = Duration::from_mins(2);

/// The use of the runs of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// A verdict about the device.
    Verdict {
        /// True if the user left the share of selected elements to oomph.
        may_change_share: bool,
    },
    /// A replay of the requests under other settings. The allocators of ranks are replayed separately: ranks on a shared device need no
    /// run with a part of the device.
    Replay,
}

/// The facts about an ended run that decide about the next run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunFacts {
    /// True if only a run without a limit shows the whole program, see [`needs_unlimited_run`].
    pub needs_unlimited_run: bool,
    /// The share of selected elements with which the verdict may be another, if sizes depend on values.
    pub other_share: Option<AssumedShare>,
    /// True if the peak depends on the completion of side streams, see [`Run::has_side_streams`].
    pub has_side_streams: bool,
    /// The fullest rank's part of a device, in bytes, if the ranks on the device do not fit together.
    pub part: Option<Bytes>,
}

/// The traces that the device's limit left in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitSigns {
    /// The requests that PyTorch's allocator could not serve, and the out-of-memory errors, whoever caught them.
    pub refusals: usize,
    /// The requests for which PyTorch emptied its cache.
    pub retries: u64,
}

impl LimitSigns {
    /// Counts the signs in the records of all processes.
    pub fn of(run: &Run) -> LimitSigns {
        let errors = |process: &Process| process.errors.iter().filter(|error| error.oom).count();
        let refusals = run.processes.iter().map(|process| process.ooms.len() + errors(process)).sum();
        let ends = run.processes.iter().filter_map(|process| process.end.as_ref());
        let retries = ends.flat_map(|end| &end.devices).map(|stats| stats.alloc_retries).sum();
        LimitSigns { refusals, retries }
    }
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
    /// Sizes depend on values, of which a share is assumed.
    AssumedShare,
}

/// Returns the sentence of the progress line. A first run has no reason.
pub fn describe(reason: Option<Reason>, route: Route) -> String {
    let sentence = match reason {
        None => "running on the phantom GPU",
        Some(Reason::SharedDevice) => "ranks share a GPU; running with a part of it for each",
        Some(Reason::SideStreams) => "it has side streams; running once more with late ones",
        Some(Reason::RanOut) => "it ran out; running without a limit",
        Some(Reason::AssumedShare) => "its sizes depend on values; running once more with other ones",
    };
    match route {
        Route::Rank(rank) => format!("rank {rank}: {sentence}"),
        Route::Plain | Route::Forked => sentence.to_owned(),
    }
}

/// Returns the run after a run under `conditions`, if any: ranks on a shared device get a part of the device each, then side streams are
/// late, then another share of elements is selected, then a program that ran out gets unlimited memory.
pub fn next(conditions: &Conditions, facts: &RunFacts) -> Option<Rerun> {
    let rerun = |limit, reason| Some(Rerun { conditions: conditions.clone().with_limit(limit), reason });
    match (conditions.limit, facts) {
        (Limit::Device, RunFacts { part: Some(part), .. }) => rerun(Limit::Of(*part), Reason::SharedDevice),
        (Limit::Device | Limit::Of(_), RunFacts { has_side_streams: true, .. })
            if conditions.streams == Streams::AtOnce =>
        {
            Some(Rerun { conditions: conditions.clone().with_late_streams(), reason: Reason::SideStreams })
        }
        (Limit::Device | Limit::Of(_), RunFacts { other_share: Some(share), .. }) => {
            let conditions = Conditions { share: *share, ..conditions.clone() };
            Some(Rerun { conditions, reason: Reason::AssumedShare })
        }
        (Limit::Device | Limit::Of(_), RunFacts { needs_unlimited_run: true, .. }) => {
            rerun(Limit::Unlimited, Reason::RanOut)
        }
        _ => None,
    }
}

/// True if only a run without a limit shows the whole program: a request failed, or PyTorch emptied its cache to serve one.
pub fn needs_unlimited_run(signs: &LimitSigns) -> bool {
    signs.refusals > 0 || signs.retries > 0
}

/// Returns the other end of the share: all elements if the program fits with the assumed share, else one element. `None` if no size
/// depends on values, or the run took long.
pub fn other_share(run: &Run, ended: Option<&Ended>, ran_out: bool) -> Option<AssumedShare> {
    let is_assumed = run.processes.iter().any(|process| !process.value_shapes.is_empty());
    let is_short = ended.is_some_and(|ended| ended.seconds < LONGEST_REPEATED.as_secs_f64());
    (is_assumed && is_short).then_some(if ran_out { AssumedShare::Least } else { AssumedShare::All })
}

#[cfg(test)]
mod tests {
    use trace::run::{DeviceStats, EndRecord, ErrorRecord, OomRecord, ValueShapeRecord};

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
        for (limit, is_changed, part, expected) in cases {
            let facts = RunFacts { needs_unlimited_run: is_changed, part, ..RunFacts::default() };
            assert_eq!(limits(limit, facts), expected, "{limit:?} {is_changed} {part:?}");
        }
    }

    #[test]
    fn side_streams_are_late_once_and_before_the_run_without_a_limit() {
        let facts = RunFacts { has_side_streams: true, needs_unlimited_run: true, ..RunFacts::default() };
        let at_once = Conditions::on_device(Vec::new());
        let late = next(&at_once, &facts);
        assert_eq!(late.as_ref().map(|rerun| rerun.reason), Some(Reason::SideStreams));
        let late = at_once.with_late_streams();
        let unlimited = Rerun { conditions: late.clone().with_limit(Limit::Unlimited), reason: Reason::RanOut };
        assert_eq!(next(&late, &facts), Some(unlimited), "without a limit they are late, too");
    }

    #[test]
    fn another_share_is_tried_under_the_same_limit() {
        let facts = |other_share| RunFacts { other_share, needs_unlimited_run: true, ..RunFacts::default() };
        let conditions = Conditions::on_device(Vec::new()).with_limit(Limit::Of(Bytes(7)));
        let tried = next(&conditions, &facts(Some(AssumedShare::Least))).map(|again| (again.reason, again.conditions));
        let expected = Conditions { share: AssumedShare::Least, ..conditions.clone() };
        assert_eq!(tried, Some((Reason::AssumedShare, expected)));
        assert_eq!(next(&conditions, &facts(None)).map(|again| again.reason), Some(Reason::RanOut));
        let unlimited = conditions.with_limit(Limit::Unlimited);
        assert_eq!(next(&unlimited, &facts(Some(AssumedShare::All))), None);
    }

    #[test]
    fn the_other_share_is_that_of_the_other_verdict() {
        let short = Ended { seconds: 119.0, ..Ended::default() };
        let long = Ended { seconds: 120.0, ..Ended::default() };
        let depends = || vec![ValueShapeRecord::default()];
        let cases = [
            (depends(), Some(&short), false, Some(AssumedShare::All)),
            (depends(), Some(&short), true, Some(AssumedShare::Least)),
            (depends(), Some(&long), false, None),
            (depends(), None, false, None),
            (Vec::new(), Some(&short), true, None),
        ];
        for (value_shapes, ended, ran_out, expected) in cases {
            let run = Run { processes: vec![Process { value_shapes, ..Process::default() }] };
            assert_eq!(other_share(&run, ended, ran_out), expected, "{ended:?} {ran_out}");
        }
    }

    #[test]
    fn a_run_that_the_limit_changed_is_repeated_without_one() {
        let check = |process: Process, expected: bool| {
            let run = Run { processes: vec![Process::default(), process] };
            assert_eq!(needs_unlimited_run(&LimitSigns::of(&run)), expected, "{run:?}");
        };
        let emptied = |alloc_retries| {
            let devices = vec![DeviceStats { alloc_retries, ..DeviceStats::default() }];
            Process { end: Some(EndRecord { devices, ..EndRecord::default() }), ..Process::default() }
        };
        let raised =
            |oom| Process { errors: vec![ErrorRecord { oom, ..ErrorRecord::default() }], ..Process::default() };
        check(emptied(1), true);
        check(emptied(0), false);
        check(raised(true), true);
        check(raised(false), false);
        check(Process { ooms: vec![OomRecord::default()], ..Process::default() }, true);
    }
}
