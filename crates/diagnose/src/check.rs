//! Builds the report of `check` from a case.

use report::{Breakdown, CheckReport, Gpu, Need, Peak, Place, Usage};
use trace::run::EndReason;
use trace::text::StatedBytes;
use trace::{Bytes, DeviceIndex, Process, Record};

use crate::case::Case;
use crate::caught::find_search;
use crate::ending::ended_by_oom;
use crate::measure::assumptions::{list_assumptions, value_shapes};
use crate::measure::breakdown::breakdown;
use crate::measure::courses::say_difference;
use crate::measure::growth::{growth, survivors};
use crate::measure::need::need;
use crate::measure::oom::{oom, refused, times_refused};
use crate::measure::ranks::{rank_facts, ranks};
use crate::measure::retention::find_retention;
use crate::measure::run_records::{end, last_oom, stats, steps, torch};
use crate::measure::sharing::{shared, shared_in};
use crate::measure::sites::sites;
use crate::measure::usage::{fullest_device, fullest_of};
use crate::measure::view::View;
use crate::notes::{caveats, notes, older_than_history, unaccounted};
use crate::probes::find_probes;
use crate::rules;
use crate::rules::input::{DeviceFacts, Facts, Failure};
use crate::unserved::has_unserved_request;
use crate::verdict::{Decision, decide};

/// Returns the report of `check` for `case`.
pub fn check(case: &Case) -> CheckReport {
    let decision = decide(case);
    let mut report = frame(case, &decision);
    let Some((process, device, usage)) = find_subject(case) else {
        return report;
    };
    let view = View::new(process, device);
    measure(&mut report, case, &view, usage, &decision);
    report.findings = rules::of_a_check(&facts(case, &view, &report));
    report
}

/// Returns the process that the report is about: the process that ran out of memory, else the process with the highest
/// peak. Probes of a search are not what the program ends with.
pub(crate) fn find_subject(case: &Case) -> Option<(&Process, DeviceIndex, Usage)> {
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

/// Returns the parts of the report that need no device.
fn frame(case: &Case, decision: &Decision) -> CheckReport {
    let run = &case.limited;
    CheckReport {
        version: case.launch.oomph.clone(),
        torch: torch(run).map(str::to_owned),
        gpu: gpu(case),
        steps: run.processes.iter().map(steps).max().unwrap_or_default(),
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

/// Whether the program was asked for one step, and would have made more.
fn is_only_first_step(case: &Case) -> bool {
    let mut ends = case.limited.processes.iter().filter_map(end);
    case.launch.steps == 1 && ends.any(|(reason, _)| *reason == EndReason::Steps)
}

/// Bytes of the parameters that an optimizer holds and no step trained, of the rank with the most; see [`CheckReport::untrained_bytes`].
fn untrained_bytes(case: &Case) -> Option<Bytes> {
    let of_process = |process: &Process| {
        let bytes =
            process.records.iter().map(|record| if let Record::Untrained { bytes, .. } = record { *bytes } else { 0 });
        Bytes(bytes.sum())
    };
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
    let highest = view.found.peaks().allocated;
    let shown = highest.map_or(Bytes::ZERO, |peak| peak.bytes);
    if usage.allocated_bytes == Bytes::ZERO {
        usage.allocated_bytes = shown; // The counters were never written: the trace is all there is.
    }
    report.peak = Peak { usage, place: highest.map_or_else(Place::default, |peak| view.place(peak.at)) };
    report.oom = report.verdict.is_oom().then(|| oom(view.process, case.launch.ended.as_ref()));
    // What a program needs that looks for a size that fits is what it ends with.
    let is_search = matches!(decision, Decision::Fits { search: Some(_), .. });
    report.need =
        if is_search { Need { usage, ..Need::default() } } else { need(case, view, usage, report.oom.as_ref()) };
    report.need.usage.device_bytes = report.need.usage.device_bytes.max(need_of_job(case, is_search));
    let (peak, need) = (report.peak.usage.device_bytes, report.need.usage.device_bytes);
    // Processes that share the device may hold their peaks at once.
    let together = shared(case).map_or(Bytes::ZERO, |shared| shared.together);
    report.verdict = decision.clone().with_spare(case.total(), peak.max(together), need);
    report.breakdown = breakdown(view, usage.allocated_bytes).unwrap_or_default();
    report.sites = highest.map_or_else(Vec::new, |peak| sites(view, peak.at));
    report.growth = growth(view, &report.peak, case.usable());
    let difference = say_difference(case, view);
    report.caveats.extend(difference.clone());
    report.notes.extend(difference);
    report.notes.extend(older_than_history(&view.found));
    report.notes.extend(unaccounted(view.process, shown, usage.allocated_bytes));
}

/// Returns the memory that the ranks of one job need together on a shared device.
fn need_of_job(case: &Case, is_search: bool) -> Bytes {
    let unlimited = case.unlimited.iter().filter(|_| !is_search).map(|unlimited| &unlimited.run);
    let runs = std::iter::once(&case.limited).chain(unlimited);
    let shared = runs.filter_map(|run| shared_in(&case.launch, run)).filter(|shared| shared.is_job);
    shared.map(|shared| shared.together).max().unwrap_or_default()
}

/// Returns the facts for the rules.
fn facts<'a>(case: &'a Case, view: &'a View<'a>, report: &'a CheckReport) -> Facts<'a> {
    let survivors = if report.growth.is_some() { survivors(view) } else { Vec::new() };
    Facts {
        folder: &case.folder,
        view: Some(view),
        device: DeviceFacts {
            name: Some(&report.gpu.name),
            total: Some(StatedBytes::exact(case.total().0)),
            usable: Some(case.usable()),
            usable_is: ("device less context", "the GPU's profile"),
        },
        failure: failure(view, report),
        explains: false,
        fatal: report.verdict.is_oom(),
        failures: times_refused(view.process),
        caught: report.oom.as_ref().and_then(|oom| oom.caught.clone()),
        search: find_search(view.process),
        need: Some(report.need.usage.device_bytes),
        need_breakdown: report.need.filling.as_ref().map(|filling| filling.breakdown.clone()),
        is_need_partial: report.need.at_least.is_some(),
        reserved_peak: report.peak.usage.reserved_bytes,
        peak_place: report.peak.place.clone(),
        breakdown: report.breakdown.clone(),
        growth: report.growth.clone(),
        growth_source: "memory_stats after each step",
        retention: report.growth.is_some().then(|| find_retention(view, &survivors)),
        survivors,
        moment: view.found.peaks().allocated.map(|peak| peak.at),
        ranks: rank_facts(case, &report.ranks),
        stated: &[],
        counters: None,
        card: None,
        retries_source: "memory_stats at the end",
        retries: stats(view.process, view.device).map(|stats| stats.alloc_retries).max().unwrap_or_default(),
        shared: shared(case),
        value_shapes: &report.value_shapes,
    }
}

/// Returns the last failed request, as the allocator's observer recorded it.
fn failure(view: &View, report: &CheckReport) -> Option<Failure> {
    let refused = refused(view.process);
    let oom = report.oom.as_ref().or(refused.as_ref())?;
    let stats = match last_oom(view.process) {
        Some(Record::Oom { stats, .. }) => Some(stats),
        _ => None,
    };
    Some(Failure {
        requested: oom.requested_bytes.map(|bytes| StatedBytes::exact(bytes.0)),
        allocated: stats.map(|stats| StatedBytes::exact(stats.allocated_bytes)),
        reserved: stats.map(|stats| StatedBytes::exact(stats.reserved_bytes)),
        location: oom.location.clone(),
        event: view.last_oom(),
        request_source: "the allocator's out-of-memory observer",
        counters_source: "memory_stats at the error",
        ..Failure::default()
    })
}
