//! The facts of the runs so far, by which `run` decides about the next.

use diagnose::{Outcome, Runs, part_of_shared};
use run::rerun::{self, Aim, LimitSigns, RunFacts, needs_unlimited_run};

/// Gathers the facts of `runs`.
pub(super) fn gather_facts(runs: &Runs, aim: Aim) -> RunFacts {
    let recording = runs.counted();
    let run = &recording.run;
    let is_changed = needs_unlimited_run(&LimitSigns::of(run));
    let Aim::Verdict { may_change_share } = aim else {
        return RunFacts { needs_unlimited_run: is_changed, ..RunFacts::default() };
    };
    let outcome = Outcome::of(run);
    let other_share = || rerun::other_share(run, recording.launch.ended.as_ref(), outcome.ran_out());
    RunFacts {
        // A run without a limit does not show the final size of a program that searches for a size.
        needs_unlimited_run: is_changed && !matches!(outcome, Outcome::Searched(_)),
        has_side_streams: run.has_side_streams(),
        part: part_of_shared(&recording.launch, run),
        other_share: if may_change_share && runs.other_share.is_none() { other_share() } else { None },
    }
}
