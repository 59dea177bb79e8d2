//! The facts for the rules that `check` knows.

use report::CheckReport;
use trace::text::StatedBytes;

use super::case::Case;
use super::oom::refused;
use super::ranks::rank_facts;
use crate::judge::caught::find_search;
use crate::measure::growth::survivors;
use crate::measure::retention::find_retention;
use crate::measure::view::View;
use crate::rules::input::{DeviceFacts, Facts, Failure};

/// Returns the facts for the rules.
pub(super) fn gather_facts<'a>(case: &'a Case, view: &'a View<'a>, report: &'a CheckReport) -> Facts<'a> {
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
        failure: failure(case, view, report),
        explains: false,
        fatal: report.verdict.is_oom(),
        failures: u64::try_from(view.trace.process.ooms.len()).unwrap_or(u64::MAX),
        caught: report.oom.as_ref().and_then(|oom| oom.caught.clone()),
        search: find_search(view.trace.process),
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
        moment: view.trace.history.peaks().allocated.map(|peak| peak.at),
        ranks: rank_facts(case, &report.ranks),
        stated: &[],
        counters: None,
        card: None,
        retries_source: "memory_stats at the end",
        retries: view
            .trace
            .process
            .stats_of(view.trace.device)
            .map(|stats| stats.alloc_retries)
            .max()
            .unwrap_or_default(),
        shared: case.shared(),
        value_shapes: &report.value_shapes,
    }
}

/// Returns the last failed request, as the allocator's observer recorded it.
fn failure(case: &Case, view: &View, report: &CheckReport) -> Option<Failure> {
    let refused = refused(case, view.trace.process);
    let oom = report.oom.as_ref().or(refused.as_ref())?;
    let stats = view.trace.process.ooms.last().map(|oom| &oom.stats);
    Some(Failure {
        requested: oom.requested_bytes.map(|bytes| StatedBytes::exact(bytes.0)),
        allocated: stats.map(|stats| StatedBytes::exact(stats.allocated_bytes)),
        reserved: stats.map(|stats| StatedBytes::exact(stats.reserved_bytes)),
        location: oom.location.clone(),
        event: view.trace.last_oom(),
        request_source: "the allocator's out-of-memory observer",
        counters_source: "memory_stats at the error",
        ..Failure::default()
    })
}
