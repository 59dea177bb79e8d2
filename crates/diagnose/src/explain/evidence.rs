//! Joins the inputs' statements into the facts for the rules.

use report::explain::{DeviceHistory, StatedCounters};
use trace::Bytes;
use trace::text::StatedBytes;

use super::devices::Seen;
use super::ending::{find_moment, has_ended};
use super::failure::failure;
use super::ranks::ranks;
use super::statements::Statements;
use crate::measure::retention::find_retention;
use crate::measure::view::View;
use crate::rules::input::{DeviceFacts, Facts, Failure};
use crate::rules::shared::SEGMENT_SLACK;

/// Returns the facts that the inputs state.
pub(super) fn gather_facts<'a>(
    stated: &'a Statements,
    seen: &'a [Seen<'a>],
    subject: Option<&'a Seen<'a>>,
) -> Facts<'a> {
    let said = stated.failed();
    let history = stated.subject();
    let view = subject.map(|subject| &subject.view);
    let failure = failure(said, history);
    let failure = failure.map(|failure| Failure { largest_free: view.and_then(largest_free), ..failure });
    let fatal = failure.is_some() && (said.is_some() || view.is_some_and(has_ended));
    let counters = stated.table();
    let survivors = subject.map(|subject| subject.survivors.clone()).unwrap_or_default();
    Facts {
        folder: &stated.folder,
        view,
        device: device(said.and_then(|oom| oom.total_bytes), failure.as_ref(), history),
        explains: true,
        fatal,
        failures: view.map_or(0, |view| u64::try_from(view.trace.history.ooms().len()).unwrap_or(u64::MAX)),
        failure,
        peak_place: history.map(|history| history.peak.place.clone()).unwrap_or_default(),
        reserved_peak: reserved_peak(history, counters),
        breakdown: history.map(|history| history.breakdown.clone()).unwrap_or_default(),
        growth: history.and_then(|history| history.growth.clone()),
        growth_source: "lifetimes in the history",
        retention: view.filter(|_| !survivors.is_empty()).map(|view| find_retention(view, &survivors)),
        survivors,
        moment: view.and_then(find_moment),
        ranks: ranks(seen, stated),
        stated: &stated.ooms,
        retries: counters
            .filter(|counters| counters.ooms == Some(0))
            .and_then(|counters| counters.retries)
            .unwrap_or_default(),
        retries_source: counters.map_or("", |counters| counters.source.name()),
        counters,
        card: stated.card(),
        ..Facts::default()
    }
}

/// Returns the peak of the reserved bytes by the history, else by PyTorch's table.
fn reserved_peak(history: Option<&DeviceHistory>, counters: Option<&StatedCounters>) -> Bytes {
    let shown = history.map(|history| history.peak.reserved_bytes);
    let table = counters.and_then(|counters| counters.reserved_peak_bytes).map(|peak| peak.nearest);
    shown.or(table).unwrap_or_default()
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
        let is = ("free and reserved at the error", "the history's oom event");
        (oom.counters.reserved_bytes + oom.free_bytes, is)
    });
    let allowed = failure.and_then(|failure| failure.allowed);
    let allowed = allowed.map(|allowed| (allowed.nearest, ("allowed", "the error's text")));
    let (usable, is) = shown.into_iter().chain(allowed).min_by_key(|(bytes, _)| *bytes).unzip();
    DeviceFacts { name: None, total, usable, usable_is: is.unwrap_or_default() }
}
