//! The facts for the rules that `check` knows.

use report::CheckReport;
use trace::Record;
use trace::text::StatedBytes;

use super::case::Case;
use super::oom::{refused, times_refused};
use super::ranks::rank_facts;
use crate::judge::caught::find_search;
use crate::measure::growth::survivors;
use crate::measure::retention::find_retention;
use crate::measure::run_records::{last_oom, stats};
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
        failure: failure(view, report),
        explains: false,
        fatal: report.verdict.is_oom(),
        failures: times_refused(view.trace.process),
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
        retries: stats(view.trace.process, view.trace.device)
            .map(|stats| stats.alloc_retries)
            .max()
            .unwrap_or_default(),
        shared: case.shared(),
        value_shapes: &report.value_shapes,
    }
}

/// Returns the last failed request, as the allocator's observer recorded it.
fn failure(view: &View, report: &CheckReport) -> Option<Failure> {
    let refused = refused(view.trace.process);
    let oom = report.oom.as_ref().or(refused.as_ref())?;
    let stats = match last_oom(view.trace.process) {
        Some(Record::Oom { stats, .. }) => Some(stats),
        _ => None,
    };
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
