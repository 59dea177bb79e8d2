//! Builds the report of `check` from a case.

mod case;
mod courses;
mod draw;
mod facts;
mod need;
mod notes;
mod oom;
mod ranks;
mod subject;
mod verdict;

use report::{Breakdown, CheckReport, Gpu, Need, Peak, Place, Usage};
use trace::run::EndReason;
use trace::{Bytes, Process};

pub use self::case::{Case, UnlimitedRun};
use self::courses::say_difference;
pub use self::draw::draw;
use self::facts::gather_facts;
use self::need::need;
use self::notes::{caveats, notes, older_than_history, unaccounted};
use self::oom::oom;
use self::ranks::ranks;
use self::subject::find_subject;
use self::verdict::{Decision, decide};
use crate::judge::sharing::find_shared;
use crate::measure::assumptions::{list_assumptions, value_shapes};
use crate::measure::breakdown::breakdown;
use crate::measure::growth::growth;
use crate::measure::sites::sites;
use crate::measure::view::View;
use crate::rules;

/// Returns the report of `check` for `case`.
pub fn check(case: &Case) -> CheckReport {
    let decision = decide(case);
    let mut report = frame(case, &decision);
    let Some((process, device, usage)) = find_subject(case) else {
        return report;
    };
    let view = View::new(process, device);
    measure(&mut report, case, &view, usage, &decision);
    report.findings = rules::of_a_check(&gather_facts(case, &view, &report));
    report
}

/// Returns the parts of the report that need no device.
fn frame(case: &Case, decision: &Decision) -> CheckReport {
    let run = &case.limited;
    CheckReport {
        version: case.launch.oomph.clone(),
        torch: run.torch().map(str::to_owned),
        gpu: gpu(case),
        steps: run.processes.iter().map(Process::step_count).max().unwrap_or_default(),
        only_first_step: is_only_first_step(case),
        untrained_bytes: untrained_bytes(case),
        peak: Peak::default(),
        need: Need::default(),
        oom: None,
        breakdown: Breakdown::default(),
        sites: Vec::new(),
        growth: None,
        findings: Vec::new(),
        assumptions: list_assumptions(run),
        value_shapes: value_shapes(run),
        ranks: ranks(case),
        notes: notes(case, decision),
        verdict: decision.clone().with_spare(case.total(), Bytes::ZERO, Bytes::ZERO),
        seconds: case.seconds,
        caveats: caveats(case, decision),
        next: None,
        folder: case.folder.clone(),
    }
}

/// True if the program was stopped after a single step, and would have made more.
fn is_only_first_step(case: &Case) -> bool {
    let mut ends = case.limited.processes.iter().filter_map(|process| process.end.as_ref());
    case.launch.steps == 1 && ends.any(|end| end.reason == EndReason::Steps)
}

/// Bytes of the parameters that an optimizer holds and no step trained, of the rank with the most; see [`CheckReport::untrained_bytes`].
fn untrained_bytes(case: &Case) -> Option<Bytes> {
    let of_process = |process: &Process| Bytes(process.untrained.iter().map(|untrained| untrained.bytes).sum());
    let most = case.limited.processes.iter().map(of_process).max()?;
    (most.0 > 0).then_some(most)
}

fn gpu(case: &Case) -> Gpu {
    Gpu {
        name: case.launch.gpu_name.clone(),
        total_bytes: case.total(),
        context_bytes: case.context(),
        usable_bytes: case.usable(),
        assumed: case.gpu_assumed,
    }
}

fn measure(report: &mut CheckReport, case: &Case, view: &View, mut usage: Usage, decision: &Decision) {
    let highest = view.trace.history.peaks().allocated;
    let shown = highest.map_or(Bytes::ZERO, |peak| peak.bytes);
    if usage.allocated_bytes == Bytes::ZERO {
        usage.allocated_bytes = shown; // The counters were never written: the trace is all there is.
    }
    report.peak = Peak { usage, place: highest.map_or_else(Place::default, |peak| view.place(peak.at)) };
    report.oom = report.verdict.is_oom().then(|| oom(case, view.trace.process));
    // What a program needs that looks for a size that fits is what it ends with.
    let is_search = matches!(decision, Decision::Fits { search: Some(_), .. });
    report.need =
        if is_search { Need { usage, ..Need::default() } } else { need(case, view, usage, report.oom.as_ref()) };
    report.need.usage.device_bytes = report.need.usage.device_bytes.max(need_of_job(case, is_search));
    let (peak, need) = (report.peak.usage.device_bytes, report.need.usage.device_bytes);
    // Processes that share the device may peak at the same time.
    let together = case.shared().map_or(Bytes::ZERO, |shared| shared.together);
    report.verdict = decision.clone().with_spare(case.total(), peak.max(together), need);
    report.breakdown = breakdown(view, usage.allocated_bytes).unwrap_or_default();
    report.sites = highest.map_or_else(Vec::new, |peak| sites(view, peak.at));
    report.growth = growth(view, &report.peak, case.usable());
    let difference = say_difference(case, view);
    report.caveats.extend(difference.clone());
    report.notes.extend(difference);
    report.notes.extend(older_than_history(&view.trace.history));
    report.notes.extend(unaccounted(view.trace.process, shown, usage.allocated_bytes));
}

/// Returns the memory that the ranks of a job need together on a shared device.
fn need_of_job(case: &Case, is_search: bool) -> Bytes {
    let unlimited = case.unlimited.iter().filter(|_| !is_search).map(|unlimited| &unlimited.run);
    let runs = std::iter::once(&case.limited).chain(unlimited);
    let shared = runs.filter_map(|run| find_shared(&case.launch, run)).filter(|shared| shared.is_job);
    shared.map(|shared| shared.together).max().unwrap_or_default()
}
