//! The facts for the rules that `check` knows.

use report::Growth;
use trace::text::StatedBytes;

use super::case::Case;
use super::measured::Measured;
use super::oom::refused;
use super::ranks::rank_facts;
use crate::judge::caught::find_search;
use crate::measure::accumulated::{find_accumulated, is_served_without};
use crate::measure::fate::Fate;
use crate::measure::growth::{list_kept, survivors};
use crate::measure::iterations::Iterations;
use crate::measure::keeper::find_keeper;
use crate::measure::retention::find_retention;
use crate::measure::view::View;
use crate::rules::facts::input::{
    At, DeviceFacts, Facts, Failure, Fleet, NeedFacts, PeakFacts, Pressure, Sharing, Usable,
};
use crate::rules::facts::known::{Known, Source};

/// Returns the facts for the rules.
///
/// `later`: the view of the run without a limit.
pub(super) fn gather_facts<'a>(
    case: &'a Case<'_>,
    view: &'a View<'a>,
    later: Option<&'a View<'a>>,
    measured: &'a Measured,
) -> Facts<'a> {
    let failure = failure(case, view, measured);
    let moment = find_moment(measured, failure.as_ref());
    let fate = moment.zip(later).filter(|_| failure.is_some());
    let fate = fate.and_then(|(at, later)| Fate::of(view, at.moment(), later));
    let retries = count_retries(view, measured);
    let facts = Facts {
        folder: case.folder,
        view: Some(view),
        device: DeviceFacts {
            name: Some(&case.launch.gpu_name),
            total: Some(Known::new(StatedBytes::exact(case.total().0), Source::Profile)),
            usable: Some(Usable { what: "device less context", bytes: Known::new(case.usable(), Source::Profile) }),
        },
        iterations: moment.map(|at| Iterations::list(view, at.moment(), fate.as_ref())).unwrap_or_default(),
        fate,
        failure,
        need: Some(Known::new(need(measured), Source::UnlimitedRun)),
        peak: PeakFacts {
            reserved: Some(Known::new(measured.peak.usage.reserved_bytes, Source::CountersAtEnd)),
            place: measured.peak.place.clone(),
            breakdown: measured.breakdown.clone(),
        },
        pressure: None,
        moment,
        fleet: Fleet {
            ranks: rank_facts(case, &measured.ranks),
            sharing: case.shared().map_or(Sharing::Apart, Sharing::Together),
        },
        retries: retries.map(|retries| Known::new(retries, Source::CountersAtEnd)),
        value_shapes: measured.value_shapes.clone(),
        ..Facts::default()
    };
    let growing = measured.growth.as_ref().map(|growth| pressure(view, growth, measured));
    Facts { pressure: growing.or_else(|| find_accumulation(&facts, view)), ..facts }
}

/// Returns what the few passes of a loop left, if the refused request is served without.
fn find_accumulation(facts: &Facts, view: &View) -> Option<Pressure> {
    let (moment, fate) = (facts.moment().filter(|_| facts.is_at_error())?, facts.fate.as_ref()?);
    let (usable, requested) = (facts.device.usable?.bytes.value, facts.failure.as_ref()?.requested?.nearest());
    let levels =
        facts.iterations.iter().filter_map(|level| Some((level, find_accumulated(view, level, moment, fate)?)));
    let mut fitting = levels.filter(|(_, found)| is_served_without(view, &found.kept, usable, requested));
    let (level, found) = fitting.next()?;
    let growth = Growth {
        keeper: find_keeper(view, &found.kept),
        loop_at: level.at.clone(),
        bytes_per_iteration: found.bytes_per_pass,
        first_iteration: 1,
        of_iterations: None,
        full_at: u32::try_from(found.passes + 1).ok(),
        location: found.survivors.first().and_then(|most| most.location.clone()),
    };
    let retention = find_retention(view, &found.survivors);
    let growth = Known::new(growth, Source::TraceLifetimes);
    Some(Pressure { growth, survivors: found.survivors, retention, kept: found.kept })
}

/// Counts the times that PyTorch emptied its cache; of a program that went on with less, those after its last error.
fn count_retries(view: &View, measured: &Measured) -> Option<u64> {
    let process = view.trace.process;
    let all = process.stats_of(view.trace.device).map(|stats| stats.alloc_retries).max()?;
    let failed = process.ooms.last().filter(|_| measured.verdict.search().is_some());
    Some(all.saturating_sub(failed.map_or(0, |oom| oom.stats.alloc_retries)))
}

/// Returns the moment of the request that ended the program, else that of the peak.
fn find_moment(measured: &Measured, failure: Option<&Failure>) -> Option<At> {
    let error = failure.filter(|failure| failure.is_fatal).and_then(|failure| failure.event);
    let peak = || measured.peak_at.map(At::Peak);
    error.map(|event| At::Error(event.into())).or_else(peak)
}

fn need(measured: &Measured) -> NeedFacts {
    NeedFacts {
        bytes: measured.need.usage.device_bytes,
        breakdown: measured.need.filling.as_ref().map(|filling| filling.breakdown.clone()),
        expandable: measured.need.expandable_bytes,
        is_partial: measured.need.at_least.is_some(),
    }
}

fn pressure(view: &View, growth: &Growth, measured: &Measured) -> Pressure {
    let of_passes = measured.passes.as_ref().map(|passes| passes.survivors.clone());
    let source = if of_passes.is_some() { Source::TraceLifetimes } else { Source::CountersAfterSteps };
    let survivors = of_passes.unwrap_or_else(|| survivors(view));
    let retention = find_retention(view, &survivors);
    let kept = match &measured.passes {
        Some(passes) => passes.kept.clone(),
        None => list_kept(view, &survivors),
    };
    Pressure { growth: Known::new(growth.clone(), source), survivors, retention, kept }
}

/// Returns the last failed request, as the allocator's observer recorded it.
fn failure(case: &Case, view: &View, measured: &Measured) -> Option<Failure> {
    let refused = refused(case, view.trace.process);
    let oom = measured.oom.as_ref().or(refused.as_ref())?;
    let stats = view.trace.process.ooms.last().map(|oom| &oom.stats);
    let free = view.trace.process.ooms.last().map(|oom| oom.free_bytes);
    let times = u64::try_from(view.trace.process.ooms.len()).unwrap_or(u64::MAX);
    let exact = |bytes: u64, source| Known::new(StatedBytes::exact(bytes), source);
    Some(Failure {
        is_fatal: measured.verdict.is_oom(),
        times: Some(Known::new(times, Source::Observer)),
        caught: measured.oom.as_ref().and_then(|oom| oom.caught.clone()),
        search: find_search(view.trace.process),
        requested: oom.requested_bytes.map(|bytes| exact(bytes.0, Source::Observer)),
        free: free.map(|free| exact(free, Source::Observer)),
        allocated: stats.map(|stats| exact(stats.allocated_bytes, Source::CountersAtError)),
        reserved: stats.map(|stats| exact(stats.reserved_bytes, Source::CountersAtError)),
        location: oom.location.clone(),
        event: view.trace.last_oom(),
        ..Failure::default()
    })
}
