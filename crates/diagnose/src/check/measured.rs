//! The figures of the report.

use report::{Breakdown, Growth, Keeper, LifeReport, Need, Oom, Peak, Place, Rank, Site, Usage, ValueShape, Verdict};
use trace::run::EndReason;
use trace::{Bytes, Moment, Peak as Highest, Process};

use super::attempt::measure_attempt;
use super::case::Case;
use super::conditions::total_steps;
use super::foresee::foresee;
use super::need::need;
use super::oom::oom;
use super::ranks::ranks;
use super::verdict::{Decision, find_reason};
use super::whole_life::describe_life;
use crate::judge::outcome::Outcome;
use crate::measure::accumulated::is_served_without;
use crate::measure::assumptions::value_shapes;
use crate::measure::breakdown::breakdown_after;
use crate::measure::growth::{find_step_growth, list_kept, survivors};
use crate::measure::keeper::find_keeper;
use crate::measure::passes::{PassGrowth, fills, find_ended_growth, find_pass_growth};
use crate::measure::program_steps::ProgramSteps;
use crate::measure::sites::sites;
use crate::measure::usage::fullest;
use crate::measure::view::View;

/// The verdict, and the figures of the device of the report.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) verdict: Verdict,
    pub(super) peak: Peak,
    /// The moment of the most allocated bytes, of a program that goes on with less after its last error.
    pub(super) peak_at: Option<Moment>,
    pub(super) need: Need,
    pub(super) oom: Option<Oom>,
    pub(super) breakdown: Breakdown,
    pub(super) sites: Vec<Site>,
    pub(super) growth: Option<Growth>,
    /// The loop that `growth` is about, if no optimizer steps.
    pub(super) passes: Option<PassGrowth>,
    pub(super) visited: LifeReport,
    pub(super) ranks: Vec<Rank>,
    pub(super) value_shapes: Vec<ValueShape>,
}

impl Measured {
    /// Measures a run that used no device.
    pub(super) fn without_device(case: &Case, decision: &Decision) -> Measured {
        Measured {
            verdict: decision.clone().with_figures(case, Bytes::ZERO, Bytes::ZERO, None),
            peak: Peak::default(),
            peak_at: None,
            need: Need::default(),
            oom: None,
            breakdown: Breakdown::default(),
            sites: Vec::new(),
            growth: None,
            passes: None,
            visited: LifeReport::default(),
            ranks: ranks(case),
            value_shapes: value_shapes(case.limited),
        }
    }

    /// Measures the device of `view`, of which the counters say `counted`.
    pub(super) fn of(case: &Case, view: &View, counted: Usage, decision: &Decision) -> Measured {
        let highest = view.trace.history.peaks().allocated;
        let usage = at_least_shown(counted, highest);
        let gone_on = decision.is_known_search().then(|| measure_attempt(view, usage)).flatten();
        let usage = gone_on.map_or(usage, |(after, _)| after);
        let peak_at = gone_on.map(|(_, at)| at).or_else(|| highest.map(|peak| peak.at));
        let at_error = at_last_error(case, view, decision);
        let shown = at_error.map(|(at, _)| at).or(peak_at);
        let allocated = at_error.map_or(usage.allocated_bytes, |(_, bytes)| bytes);
        let peak = Peak { usage, place: peak_at.map_or_else(Place::default, |at| view.place(at)) };
        let oom = (*decision == Decision::Oom).then(|| oom(case, view.trace.process));
        let need = need_of_all(case, view, usage, oom.as_ref(), decision);
        // Processes that share the device may peak at the same time.
        let together = case.shared().map_or(Bytes::ZERO, |shared| shared.together);
        let held = if decision.is_search() { need.usage.device_bytes } else { usage.device_bytes }.max(together);
        let steps = find_step_growth(view, &peak, case.usable()).map(|growth| with_end(case, growth, oom.as_ref()));
        let requested = oom.as_ref().and_then(|oom| oom.requested_bytes);
        let steps = steps.filter(|_| requested.is_none_or(|bytes| fills_by_steps(view, case.usable(), bytes)));
        let passes = oom.as_ref().filter(|_| steps.is_none()).and_then(|oom| find_growing_loop(case, view, oom));
        let ended = highest.filter(|_| oom.is_none() && steps.is_none() && view.trace.process.step_count() == 0);
        let passes = passes.or_else(|| find_ended_growth(view, ended?.at));
        let growth = steps.or_else(|| passes.as_ref().map(|passes| of_passes(case, view, passes)));
        let growth = growth.map(|growth| if ended.is_some() { Growth { full_at: None, ..growth } } else { growth });
        let growth = growth.map(|growth| Growth { keeper: find_keeper_of(view, passes.as_ref()), ..growth });
        let (decision, need) = foresee(case, view, decision, need);
        let answer = decision.with_figures(case, held, need.usage.device_bytes, growth.as_ref());
        Measured {
            visited: describe_life(case, view, &answer, oom.as_ref()),
            verdict: answer,
            growth,
            passes,
            peak,
            peak_at,
            need,
            oom,
            breakdown: breakdown_after(view, shown, allocated).unwrap_or_default(),
            sites: shown.map_or_else(Vec::new, |at| sites(view, at)),
            ranks: ranks(case),
            value_shapes: value_shapes(case.limited),
        }
    }
}

/// Returns the moment and the allocated bytes of the error that ended the program, where no run without a limit shows more.
fn at_last_error(case: &Case, view: &View, decision: &Decision) -> Option<(Moment, Bytes)> {
    let process = view.trace.process;
    let is_fatal = *decision == Decision::Oom && Outcome::of_process(process, case.limited) == Outcome::Ended;
    let event = view.trace.last_oom().filter(|_| is_fatal && case.unlimited.is_none())?;
    Some((event.into(), Bytes(process.ooms.last()?.stats.allocated_bytes)))
}

/// Returns the loop whose passes fill the device: without what they left before the last pass, the refused request is served.
fn find_growing_loop(case: &Case, view: &View, oom: &Oom) -> Option<PassGrowth> {
    let later = case.find_later(view);
    let found = find_pass_growth(view, later.as_deref())?;
    fills(&found, view, case.usable(), oom.requested_bytes?).then_some(found)
}

/// True if the refused request is served without what earlier steps left: growth of another size beside a large request is no cause.
fn fills_by_steps(view: &View, usable: Bytes, requested: Bytes) -> bool {
    let kept = list_kept(view, &survivors(view));
    view.trace.last_oom().is_none() || kept.is_empty() || is_served_without(view, &kept, usable, requested)
}

/// Returns the growth from pass to pass; the run without a limit shows how many passes there are.
fn of_passes(case: &Case, view: &View, passes: &PassGrowth) -> Growth {
    let whole =
        case.unlimited.filter(|unlimited| find_reason(case, &unlimited.run, unlimited.launch.ended.as_ref()).is_none());
    let whole = whole.and_then(|unlimited| fullest(&unlimited.run, case.context()));
    let count = whole.map(|(process, device, _)| passes.count_in(view, &case.views.find(process, device)));
    Growth {
        keeper: None,
        loop_at: Some(passes.at.clone()),
        bytes_per_iteration: passes.bytes_per_pass,
        first_iteration: 1,
        of_iterations: count.filter(|count| *count >= u64::from(passes.full_at)),
        full_at: Some(passes.full_at),
        location: passes.survivors.first().and_then(|most| most.location.clone()),
    }
}

/// Returns the container of what earlier passes, or earlier steps, left.
fn find_keeper_of(view: &View, passes: Option<&PassGrowth>) -> Option<Keeper> {
    match passes {
        Some(passes) => find_keeper(view, &passes.kept),
        None => find_keeper(view, &list_kept(view, &survivors(view))),
    }
}

/// Returns `growth` with the end of the loop, and with the step of the out-of-memory error, if one was raised. A device that would be full
/// after the last step is never full.
fn with_end(case: &Case, growth: Growth, oom: Option<&Oom>) -> Growth {
    let ran_out_at = oom.and_then(|oom| oom.place.step);
    let last = total_steps(case).or_else(|| last_step_of_ended(case));
    let full_at = growth.full_at.filter(|step| last.is_none_or(|last| u64::from(*step) <= last));
    Growth { of_iterations: last, full_at: ran_out_at.or(full_at), ..growth }
}

/// The steps of a program that ended by itself.
fn last_step_of_ended(case: &Case) -> Option<u64> {
    let has_ended = |process: &Process| process.end.as_ref().is_some_and(|end| end.reason == EndReason::Exit);
    let ended = case.limited.processes.iter().filter(|process| has_ended(process));
    let last = |process: &Process| ProgramSteps::of(process).find(process.step_count());
    ended.filter_map(|process| last(process).map(u64::from)).max()
}

/// Returns the usage with the peak of the trace, if the counters were never written.
fn at_least_shown(counted: Usage, highest: Option<Highest>) -> Usage {
    match (counted.allocated_bytes, highest) {
        (Bytes::ZERO, Some(peak)) => Usage { allocated_bytes: peak.bytes, ..counted },
        _ => counted,
    }
}

/// Returns the need, and at least that of the ranks of one job together.
fn need_of_all(case: &Case, view: &View, usage: Usage, oom: Option<&Oom>, decision: &Decision) -> Need {
    // The need of a program that searches for a batch size is the peak of its final size.
    let is_search = decision.is_search();
    let alone = if is_search { Need { usage, ..Need::default() } } else { need(case, view, usage, oom) };
    let device_bytes = alone.usage.device_bytes.max(need_of_job(case, is_search));
    Need { usage: Usage { device_bytes, ..alone.usage }, ..alone }
}

/// Returns the memory that the ranks of one job need together on a shared device.
fn need_of_job(case: &Case, is_search: bool) -> Bytes {
    let unlimited = case.unlimited.filter(|_| !is_search).map(|unlimited| &unlimited.run);
    let runs = std::iter::once(case.limited).chain(unlimited);
    let shared = runs.filter_map(|run| case.shared_in(run)).filter(|shared| shared.is_job);
    shared.map(|shared| shared.together).max().unwrap_or_default()
}
