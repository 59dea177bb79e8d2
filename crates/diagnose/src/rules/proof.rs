//! Proofs: the recorded program is replayed without a cause.
//!
//! # Note [Proofs]
//! A cause is a change to what was recorded without which the failed request would be served: blocks freed earlier, requests left out
//! or made smaller, another setting of the allocator, more memory for it. A rule states the change, and the replay of the recorded requests
//! says what comes of it: the peak of the allocated bytes before and after, on a device that is never full, and whether a device of the
//! recorded size serves the request. Where the first remedy of a finding removes the whole cause, its figures are those of the
//! proof.

pub(crate) mod replayed;
pub(super) mod saving;

use allocator::replay::AllocationChange;
use report::{Evidence, Standing, Without};
use trace::{Bytes, Lifetime, LifetimeId, Moment};

use crate::measure::life::Life;
use crate::measure::view::View;
use crate::rules::facts::known::{Source, bytes, text};
use crate::rules::proof::replayed::Replayable;
use crate::rules::rule::Cause;
use crate::rules::rule::removal::{Removal, What};

/// Replays a history without the causes of a report.
pub(super) struct Prover<'v> {
    view: &'v View<'v>,
    /// The moment of the failed request, or of the peak.
    at: Moment,
    replayable: Replayable,
    /// The peak of the unchanged program.
    before: Bytes,
}

impl<'v> Prover<'v> {
    /// Returns the prover of a history; `None` for a history that cannot be replayed.
    pub(super) fn of(view: &'v View<'v>, at: Moment) -> Option<Prover<'v>> {
        let replayable = Replayable::of(view)?;
        let before = replayable.peak_allocated();
        Some(Prover { view, at, replayable, before })
    }

    /// Adds the proof to the finding of a cause that states its change.
    pub(super) fn prove(&self, cause: &mut Cause) {
        let Some(removal) = &cause.removal else { return };
        let without = self.replay(removal);
        cause.finding.without = Some(without);
        cause.finding.evidence.extend(rows(&without, removal.leaves_out_failed()));
        let is_remedied = removal.is_remedy && without.lowers_peak();
        if let Some(remedy) = cause.finding.remedies.first_mut().filter(|_| is_remedied) {
            remedy.before_bytes = Some(without.before_bytes);
            remedy.after_bytes = Some(without.after_bytes);
            remedy.standing = without.standing;
        }
    }

    fn replay(&self, removal: &Removal) -> Without {
        let freed_bytes = self.freed_bytes(&removal.what);
        let (after, served) = match &removal.what {
            What::Edits(edits) => self.replayable.edited(self.lives(edits), None),
            What::EditsWithFailed(edits, failed) => self.replayable.edited(self.lives(edits), Some(*failed)),
            What::Settings(set) => (self.before, self.replayable.with(set).served()),
            What::Room(bytes) => (self.before, self.replayable.served_by(*bytes)),
        };
        let is_exact = self.replayable.is_exact();
        Without {
            before_bytes: self.before,
            after_bytes: after.min(self.before),
            freed_bytes,
            served: if is_exact || freed_bytes == Bytes::ZERO { served } else { self.serves_by_sum(freed_bytes) },
            standing: if is_exact { removal.standing } else { Standing::Estimated },
        }
    }

    /// True if the failed request fits into the freed bytes: a replay that does not place blocks as the recording did says nothing about gaps.
    fn serves_by_sum(&self, freed: Bytes) -> Option<bool> {
        let failed = self.view.trace.history.ooms().last()?;
        Some(self.view.live_total(self.at) + failed.requested <= failed.capacity() + freed)
    }

    /// Returns the bytes that a change frees at the moment.
    fn freed_bytes(&self, what: &What) -> Bytes {
        let (edits, failed) = match what {
            What::Edits(edits) => (edits, None),
            What::EditsWithFailed(edits, failed) => (edits, Some(*failed)),
            What::Settings(_) | What::Room(_) => return Bytes::ZERO,
        };
        let requested = self.view.trace.history.ooms().last().map(|failed| failed.requested);
        let of_failed = failed.zip(requested).map_or(Bytes::ZERO, |(edit, requested)| lost(requested, requested, edit));
        let live = self.lives(edits).filter(|(life, _)| life.is_live_after(self.at));
        live.map(|(life, edit)| lost(life.block(), life.requested(), edit)).sum::<Bytes>() + of_failed
    }

    fn lives<'e>(
        &'e self,
        edits: &'e [(LifetimeId, AllocationChange)],
    ) -> impl Iterator<Item = (&'e Lifetime, AllocationChange)> {
        let lives = self.view.trace.history.lifetimes();
        edits.iter().filter_map(move |(id, edit)| Some((lives.get(id.0 as usize)?, *edit)))
    }
}

/// The bytes that an allocation loses by an edit.
fn lost(block: Bytes, requested: Bytes, edit: AllocationChange) -> Bytes {
    match edit {
        AllocationChange::FreeAfter(_) | AllocationChange::LeaveOut => block,
        AllocationChange::Resize(bytes) => requested - Bytes(bytes),
    }
}

/// The proof as evidence.
fn rows(without: &Without, is_left_out: bool) -> impl Iterator<Item = Evidence> {
    let peaks = [("peak with it", without.before_bytes), ("peak without it", without.after_bytes)];
    let is_lower = without.lowers_peak();
    let peaks = peaks.into_iter().filter(move |_| is_lower).map(|(what, peak)| bytes(what, peak, Source::Replay));
    let served = without.served.map(|served| {
        let fate = match (served, is_left_out) {
            (true, true) => "not made",
            (true, false) => "served",
            (false, _) => "refused, too",
        };
        text("the request without it", fate.to_owned(), Source::Replay)
    });
    peaks.chain(served)
}
