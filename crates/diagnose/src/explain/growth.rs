//! The growth that a history shows: from step to step, or from pass to pass of a loop.

use report::Growth;
use trace::{EventIndex, LifetimeId, Phase};

use super::ending::find_moment;
use crate::measure::growth::{Survivors, list_kept};
use crate::measure::keeper::find_keeper;
use crate::measure::leaks::{Leaks, leaks};
use crate::measure::passes::{PassGrowth, fills, find_pass_growth};
use crate::measure::view::View;

/// What earlier iterations left.
#[derive(Debug)]
pub(super) struct Grown {
    pub(super) growth: Growth,
    /// The survivors of each line, most bytes first.
    pub(super) survivors: Vec<Survivors>,
    /// The survivors, each with the last event of its iteration.
    pub(super) kept: Vec<(LifetimeId, EventIndex)>,
}

/// Returns the growth of a device.
pub(super) fn find_growth(view: &View) -> Option<Grown> {
    // Without an optimizer, steps are inferred from what repeats, and passes have a line.
    let passes = || find_filling_loop(view).map(|passes| of_passes(view, passes));
    let steps = || find_moment(view).and_then(|at| leaks(view, at)).map(|leaks| of_leaks(view, leaks));
    if has_optimizer(view) { steps().or_else(passes) } else { passes().or_else(steps) }
}

fn has_optimizer(view: &View) -> bool {
    let mut phases = view.timeline.stretches().iter().filter_map(|stretch| stretch.at);
    phases.any(|(_, phase)| phase == Phase::Optimizer)
}

fn of_leaks(view: &View, leaks: Leaks) -> Grown {
    let kept = list_kept(view, &leaks.lines);
    let growth = Growth {
        keeper: find_keeper(view, &kept),
        loop_at: None,
        bytes_per_iteration: leaks.per_step,
        first_iteration: leaks.first_step,
        of_iterations: None,
        full_at: None,
        location: leaks.lines.first().and_then(|line| line.location.clone()),
    };
    Grown { growth, kept, survivors: leaks.lines }
}

/// Returns the loop whose passes left what the refused request lacks.
fn find_filling_loop(view: &View) -> Option<PassGrowth> {
    let failed = view.trace.history.ooms().last()?;
    find_pass_growth(view, None).filter(|passes| fills(passes, view, failed.capacity(), failed.requested))
}

fn of_passes(view: &View, passes: PassGrowth) -> Grown {
    let growth = Growth {
        keeper: find_keeper(view, &passes.kept),
        loop_at: Some(passes.at),
        bytes_per_iteration: passes.bytes_per_pass,
        first_iteration: 1,
        of_iterations: None,
        full_at: Some(passes.full_at),
        location: passes.survivors.first().and_then(|most| most.location.clone()),
    };
    Grown { growth, survivors: passes.survivors, kept: passes.kept }
}
