//! Joins the inputs' statements into the facts for the rules.

use report::explain::{DeviceHistory, StatedCounters, TableSource};
use trace::Bytes;
use trace::text::{ClueKind, StatedBytes};

use super::devices::Seen;
use super::ending::{find_moment, has_ended};
use super::failure::failure;
use super::growth::Grown;
use super::ranks::ranks;
use super::statements::Statements;
use crate::measure::iterations::Iterations;
use crate::measure::retention::find_retention;
use crate::measure::view::View;
use crate::rules::facts::input::{At, DeviceFacts, Facts, Failure, Fleet, PeakFacts, Pressure, Sharing, Usable};
use crate::rules::facts::known::{Known, Source};
use crate::rules::facts::sizes::SEGMENT_SLACK;

/// Returns the facts that the inputs state.
pub(super) fn gather_facts<'a>(
    stated: &'a Statements,
    seen: &'a [Seen<'a>],
    subject: Option<&'a Seen<'a>>,
) -> Facts<'a> {
    let said = stated.failed();
    let history = stated.subject();
    let view = subject.map(|subject| &subject.view);
    let failure = failure(said, history).map(|failure| with_tables(failure, stated));
    let is_fatal = said.is_some() || view.is_some_and(has_ended);
    let failure = failure.map(|failure| complete(failure, is_fatal, view));
    let is_at_error = failure.as_ref().is_some_and(|failure| failure.is_fatal);
    let moment = view.and_then(find_moment);
    let counters = stated.table().map(|counters| Known::new(counters, source_of(counters)));
    Facts {
        folder: &stated.folder,
        view,
        device: device(said.and_then(|oom| oom.total_bytes), failure.as_ref(), history),
        failure,
        peak: PeakFacts {
            reserved: reserved_peak(history, counters),
            place: history.map(|history| history.peak.place.clone()).unwrap_or_default(),
            breakdown: history.map(|history| history.breakdown.clone()).unwrap_or_default(),
        },
        pressure: pressure(subject),
        moment: moment.map(if is_at_error { At::Error } else { At::Peak }),
        iterations: view.zip(moment).map(|(view, at)| Iterations::list(view, at, None)).unwrap_or_default(),
        fleet: Fleet { ranks: ranks(seen, stated), sharing: Sharing::Unknown },
        stated: &stated.ooms,
        programs: stated.programs.clone(),
        device_table: stated.device_table.clone(),
        printed: stated.printed.filter(|_| said.is_none()),
        retries: counters.and_then(retries),
        counters,
        card: stated.card(),
        ..Facts::default()
    }
}

/// Adds the bytes that wait for other streams, by PyTorch's table of the same moment, and the platform's clues of all errors.
fn with_tables(failure: Failure, stated: &Statements) -> Failure {
    let mut failure = failure;
    let counters =
        stated.table().filter(|table| failure.allocated.is_some_and(|allocated| is_of_moment(table, allocated)));
    let waiting = counters.and_then(|table| Some(table.active_bytes?.nearest - table.allocated_bytes?.nearest));
    failure.waiting = waiting.unwrap_or_default();
    let platform = stated.ooms.iter().flat_map(|oom| &oom.clues).filter(|clue| is_of_platform(clue.kind));
    failure.clues.extend(platform.cloned());
    failure
}

/// True for a table whose allocated bytes are those of the message.
fn is_of_moment(table: &StatedCounters, allocated: Known<StatedBytes>) -> bool {
    let stated = allocated.nearest();
    table.allocated_bytes.is_some_and(|bytes| bytes.nearest.0.abs_diff(stated.0).saturating_mul(50) <= stated.0)
}

fn is_of_platform(kind: ClueKind) -> bool {
    matches!(kind, ClueKind::Wsl | ClueKind::NoExpandableSegments)
}

/// Adds the facts of the history to those of the failed request.
fn complete(failure: Failure, is_fatal: bool, view: Option<&View>) -> Failure {
    let times = view.map(|view| u64::try_from(view.trace.history.ooms().len()).unwrap_or(u64::MAX));
    Failure {
        is_fatal,
        times: times.map(|times| Known::new(times, Source::OomEvent)),
        largest_free: view.and_then(largest_free).map(|free| Known::new(free, Source::HistoryAtError)),
        ..failure
    }
}

/// Returns the growth of the report's device and the lines that grow.
fn pressure(subject: Option<&Seen>) -> Option<Pressure> {
    let Seen { view, grown, .. } = subject?;
    let Grown { growth, survivors, kept } = grown.as_ref()?;
    let retention = find_retention(view, survivors);
    let growth = Known::new(growth.clone(), Source::Lifetimes);
    Some(Pressure { growth, survivors: survivors.clone(), retention, kept: kept.clone() })
}

fn source_of(counters: &StatedCounters) -> Source {
    match counters.source {
        TableSource::MemorySummary => Source::SummaryTable,
        TableSource::MemoryStats => Source::StatsTable,
    }
}

/// Returns the number of retries, if the table counts no error.
fn retries(counters: Known<&StatedCounters>) -> Option<Known<u64>> {
    let retries = counters.value.retries.filter(|_| counters.value.ooms == Some(0))?;
    Some(Known::new(retries, counters.source))
}

/// Returns the peak of the reserved bytes by the history, else by PyTorch's table.
fn reserved_peak(history: Option<&DeviceHistory>, counters: Option<Known<&StatedCounters>>) -> Option<Known<Bytes>> {
    let shown = history.map(|history| Known::new(history.peak.reserved_bytes, Source::Lifetimes));
    shown.or_else(|| {
        let Known { value, source } = counters?;
        Some(Known::new(value.reserved_peak_bytes?.nearest, source))
    })
}

/// Returns the largest free block for the stream and pool of the last failed request.
fn largest_free(view: &View) -> Option<Bytes> {
    let failed = view.trace.history.ooms().last()?;
    let is_default = |pool| view.trace.snapshot.is_none_or(|snapshot| snapshot.pool(pool).is_default());
    Some(view.trace.history.free_blocks_at(failed, is_default).serving)
}

/// Returns the device's known sizes: the total from a text, the bytes available to PyTorch from a text or the history.
fn device<'a>(
    total: Option<StatedBytes>,
    failure: Option<&Failure>,
    history: Option<&DeviceHistory>,
) -> DeviceFacts<'a> {
    let exact = history.and_then(|history| history.oom.as_ref());
    // If the device had enough free memory, a fraction refused the request; the history does not state the fraction.
    let decided = exact.filter(|oom| oom.free_bytes < oom.requested_bytes + SEGMENT_SLACK);
    let shown = decided.map(|oom| {
        let bytes = Known::new(oom.counters.reserved_bytes + oom.free_bytes, Source::OomEvent);
        Usable { what: "free and reserved at the error", bytes }
    });
    let allowed = failure.and_then(|failure| failure.allowed);
    let allowed = allowed.map(|allowed| Usable { what: "allowed", bytes: allowed.to_nearest() });
    let usable = shown.into_iter().chain(allowed).min_by_key(|usable| usable.bytes.value);
    DeviceFacts { name: None, total: total.map(|total| Known::new(total, Source::Message)), usable }
}
