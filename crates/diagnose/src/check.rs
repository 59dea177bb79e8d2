//! Builds the report of `check` from a case.

use report::{Breakdown, CheckReport, Gpu, Peak, Place, Usage, Verdict};
use trace::text::StatedBytes;
use trace::{Bytes, DeviceIndex, Process, Record};

use crate::case::Case;
use crate::ending::ended_by_oom;
use crate::measure::breakdown::breakdown;
use crate::measure::growth::{growth, survivors};
use crate::measure::need::need;
use crate::measure::noted::{assumptions, value_shapes};
use crate::measure::oom::{oom, refused, times_refused};
use crate::measure::ranks::{rank_facts, ranks};
use crate::measure::records::{last_oom, stats, steps, torch};
use crate::measure::retention::find_retention;
use crate::measure::sharing::{shared, shared_in};
use crate::measure::sites::sites;
use crate::measure::usage::{fullest, fullest_device};
use crate::measure::view::View;
use crate::notes::{lower_bound, notes, older_than_history, unaccounted};
use crate::rules;
use crate::rules::input::{DeviceFacts, Facts, Failure};
use crate::verdict::verdict;

/// Returns the report of `check` for `case`.
pub fn check(case: &Case) -> CheckReport {
    let mut report = frame(case);
    let Some((process, device, usage)) = subject(case) else {
        return report;
    };
    let view = View::new(process, device);
    measure(&mut report, case, &view, usage);
    report.findings = rules::of_a_check(&facts(case, &view, &report));
    report
}

/// Returns the process that the report is about: the process that ran out of memory, else the process with the highest
/// peak.
fn subject(case: &Case) -> Option<(&Process, DeviceIndex, Usage)> {
    let failed = case.limited.processes.iter().find(|process| ended_by_oom(process));
    let failed = failed.and_then(|process| {
        let (device, usage) = fullest_device(process, case.context())?;
        Some((process, device, usage))
    });
    failed.or_else(|| fullest(&case.limited, case.context()))
}

/// Returns the parts of the report that need no device.
fn frame(case: &Case) -> CheckReport {
    let (run, verdict) = (&case.limited, verdict(case));
    CheckReport {
        version: case.launch.oomph.clone(),
        torch: torch(run).map(str::to_owned),
        gpu: gpu(case),
        steps: run.processes.iter().map(steps).max().unwrap_or_default(),
        peak: Peak::default(),
        need: Usage::default(),
        spare_bytes: i64::try_from(case.total().0).unwrap_or(i64::MAX),
        oom: None,
        breakdown: Breakdown::default(),
        sites: Vec::new(),
        growth: None,
        findings: Vec::new(),
        assumptions: assumptions(run),
        value_shapes: value_shapes(run),
        ranks: ranks(case),
        notes: notes(case, &verdict),
        verdict,
        seconds: case.seconds,
        folder: case.folder.clone(),
    }
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

fn measure(report: &mut CheckReport, case: &Case, view: &View, mut usage: Usage) {
    let highest = view.found.peaks().allocated;
    let shown = highest.map_or(Bytes::ZERO, |peak| peak.bytes);
    if usage.allocated_bytes == Bytes::ZERO {
        usage.allocated_bytes = shown; // The counters were never written: the trace is all there is.
    }
    report.peak = Peak { usage, place: highest.map_or_else(Place::default, |peak| view.place(peak.at)) };
    report.oom = (report.verdict == Verdict::Oom).then(|| oom(view.process));
    report.need = need(case, view, usage, report.oom.as_ref());
    report.need.device_bytes = report.need.device_bytes.max(need_of_job(case));
    report.spare_bytes = difference(case.total(), report.need.device_bytes);
    report.breakdown = breakdown(view, usage.allocated_bytes).unwrap_or_default();
    report.sites = highest.map_or_else(Vec::new, |peak| sites(view, peak.at));
    report.growth = growth(view, &report.peak, case.usable());
    report.notes.extend(lower_bound(case, &report.verdict));
    report.notes.extend(older_than_history(&view.found));
    report.notes.extend(unaccounted(view.process, shown, usage.allocated_bytes));
}

/// Returns the memory that the ranks of one job need together on a shared device.
fn need_of_job(case: &Case) -> Bytes {
    let runs = std::iter::once(&case.limited).chain(&case.unlimited);
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
        fatal: report.verdict == Verdict::Oom,
        failures: times_refused(view.process),
        need: Some(report.need.device_bytes),
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

fn difference(a: Bytes, b: Bytes) -> i64 {
    let bytes = i64::try_from(a.0.abs_diff(b.0)).unwrap_or(i64::MAX);
    if a < b { -bytes } else { bytes }
}
