//! Changes to a recorded program that remove a cause. See Note [Proofs] in `rules/proof.rs`.

use allocator::Settings;
use allocator::replay::AllocationChange;
use report::Standing;
use trace::{Bytes, EventIndex, LifetimeId};

/// A change to the recorded program.
#[derive(Clone, Debug)]
pub(in crate::rules) struct Removal {
    pub(in crate::rules) what: What,
    pub(in crate::rules) standing: Standing,
    pub(in crate::rules) at_need: AtNeed,
    /// True if the first remedy of the finding removes the whole cause: the figures of the replay belong to the remedy, too.
    pub(in crate::rules) is_remedy: bool,
}

/// The bytes of a cause at the need, the peak of the run without a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules) enum AtNeed {
    /// Unknown, as for a cause that grows.
    Unknown,
    /// As many as at the failed request.
    Same,
    /// The other tensors have these bytes.
    AllBut(Bytes),
}

/// The kinds of changes.
#[derive(Clone, Debug)]
pub(in crate::rules) enum What {
    /// Allocations end earlier, are left out, or are smaller.
    Edits(Vec<(LifetimeId, AllocationChange)>),
    /// Allocations are left out or smaller, and so is the request that failed.
    EditsWithFailed(Vec<(LifetimeId, AllocationChange)>, AllocationChange),
    /// The allocator has other settings.
    Settings(fn(&mut Settings)),
    /// The allocator has this memory.
    Room(Bytes),
}

impl Removal {
    /// Each block is freed right after an event.
    pub(in crate::rules) fn free_after(kept: impl IntoIterator<Item = (LifetimeId, EventIndex)>) -> Removal {
        Removal::exact(What::Edits(
            kept.into_iter().map(|(life, event)| (life, AllocationChange::FreeAfter(event))).collect(),
        ))
    }

    /// The allocations are not made.
    pub(in crate::rules) fn leave_out(lives: impl IntoIterator<Item = LifetimeId>) -> Removal {
        Removal::exact(What::Edits(lives.into_iter().map(|life| (life, AllocationChange::LeaveOut)).collect()))
    }

    /// The allocations and the request that failed are changed.
    pub(in crate::rules) fn with_failed(
        edits: Vec<(LifetimeId, AllocationChange)>,
        failed: AllocationChange,
    ) -> Removal {
        Removal::exact(What::EditsWithFailed(edits, failed))
    }

    /// The allocator has other settings.
    pub(in crate::rules) fn settings(change: fn(&mut Settings)) -> Removal {
        Removal::exact(What::Settings(change))
    }

    /// The allocator has this memory.
    pub(in crate::rules) fn room(bytes: Bytes) -> Removal {
        Removal::exact(What::Room(bytes))
    }

    /// The change only resembles the program without the cause.
    pub(in crate::rules) fn estimated(self) -> Removal {
        Removal { standing: Standing::Estimated, ..self }
    }

    /// The cause does not grow: a larger need remains without it.
    pub(in crate::rules) fn steady(self) -> Removal {
        Removal { at_need: AtNeed::Same, ..self }
    }

    /// Other tensors have so many bytes at the need.
    pub(in crate::rules) fn all_but(self, bytes: Bytes) -> Removal {
        Removal { at_need: AtNeed::AllBut(bytes), ..self }
    }

    /// No remedy removes the whole cause.
    pub(in crate::rules) fn without_remedy(self) -> Removal {
        Removal { is_remedy: false, ..self }
    }

    /// True if the request that failed is not made without the cause.
    pub(in crate::rules) fn leaves_out_failed(&self) -> bool {
        matches!(self.what, What::EditsWithFailed(_, AllocationChange::LeaveOut))
    }

    fn exact(what: What) -> Removal {
        Removal { what, standing: Standing::Verified, at_need: AtNeed::Unknown, is_remedy: true }
    }
}
