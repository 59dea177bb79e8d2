//! The facts for the rules that `check` knows.

use report::{CheckReport, Growth};
use trace::text::StatedBytes;

use super::case::Case;
use super::oom::refused;
use super::ranks::rank_facts;
use crate::judge::caught::find_search;
use crate::measure::growth::survivors;
use crate::measure::retention::find_retention;
use crate::measure::view::View;
use crate::rules::input::{At, DeviceFacts, Facts, Failure, Fleet, NeedFacts, PeakFacts, Pressure, Sharing, Usable};
use crate::rules::known::{Known, Source};

/// Returns the facts for the rules.
pub(super) fn gather_facts<'a>(case: &'a Case, view: &'a View<'a>, report: &'a CheckReport) -> Facts<'a> {
    let retries = view.trace.process.stats_of(view.trace.device).map(|stats| stats.alloc_retries);
    Facts {
        folder: &case.folder,
        view: Some(view),
        device: DeviceFacts {
            name: Some(&report.gpu.name),
            total: Some(Known::new(StatedBytes::exact(case.total().0), Source::Profile)),
            usable: Some(Usable { what: "device less context", bytes: Known::new(case.usable(), Source::Profile) }),
        },
        failure: failure(case, view, report),
        need: Some(Known::new(need(report), Source::UnlimitedRun)),
        peak: PeakFacts {
            reserved: Some(Known::new(report.peak.usage.reserved_bytes, Source::CountersAtEnd)),
            place: report.peak.place.clone(),
            breakdown: report.breakdown.clone(),
        },
        pressure: report.growth.as_ref().map(|growth| pressure(view, growth)),
        moment: view.trace.history.peaks().allocated.map(|peak| At::Peak(peak.at)),
        fleet: Fleet {
            ranks: rank_facts(case, &report.ranks),
            sharing: case.shared().map_or(Sharing::Apart, Sharing::Together),
        },
        retries: retries.max().map(|retries| Known::new(retries, Source::CountersAtEnd)),
        value_shapes: report.value_shapes.clone(),
        ..Facts::default()
    }
}

fn need(report: &CheckReport) -> NeedFacts {
    NeedFacts {
        bytes: report.need.usage.device_bytes,
        breakdown: report.need.filling.as_ref().map(|filling| filling.breakdown.clone()),
        is_partial: report.need.at_least.is_some(),
    }
}

fn pressure(view: &View, growth: &Growth) -> Pressure {
    let survivors = survivors(view);
    let retention = find_retention(view, &survivors);
    Pressure { growth: Known::new(growth.clone(), Source::CountersAfterSteps), survivors, retention }
}

/// Returns the last failed request, as the allocator's observer recorded it.
fn failure(case: &Case, view: &View, report: &CheckReport) -> Option<Failure> {
    let refused = refused(case, view.trace.process);
    let oom = report.oom.as_ref().or(refused.as_ref())?;
    let stats = view.trace.process.ooms.last().map(|oom| &oom.stats);
    let times = u64::try_from(view.trace.process.ooms.len()).unwrap_or(u64::MAX);
    let exact = |bytes: u64, source| Known::new(StatedBytes::exact(bytes), source);
    Some(Failure {
        is_fatal: report.verdict.is_oom(),
        times: Some(Known::new(times, Source::Observer)),
        caught: report.oom.as_ref().and_then(|oom| oom.caught.clone()),
        search: find_search(view.trace.process),
        requested: oom.requested_bytes.map(|bytes| exact(bytes.0, Source::Observer)),
        allocated: stats.map(|stats| exact(stats.allocated_bytes, Source::CountersAtError)),
        reserved: stats.map(|stats| exact(stats.reserved_bytes, Source::CountersAtError)),
        location: oom.location.clone(),
        event: view.trace.last_oom(),
        ..Failure::default()
    })
}
