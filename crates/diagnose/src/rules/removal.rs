//! Changes to a recorded program that remove a cause. See Note [Proofs] in `proof.rs`.

use allocator::Settings;
use allocator::replay::AllocationChange;
use report::Standing;
use trace::{Bytes, EventIndex, LifetimeId};

/// A change to the recorded program.
#[derive(Clone, Debug)]
pub(super) struct Removal {
    pub(super) what: What,
    pub(super) standing: Standing,
    /// True for a cause that costs as much at the need as at the failed request.
    pub(super) is_steady: bool,
}

/// The kinds of changes.
#[derive(Clone, Debug)]
pub(super) enum What {
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
    pub(super) fn free_after(kept: impl IntoIterator<Item = (LifetimeId, EventIndex)>) -> Removal {
        Removal::exact(What::Edits(
            kept.into_iter().map(|(life, event)| (life, AllocationChange::FreeAfter(event))).collect(),
        ))
    }

    /// The allocations are not made.
    pub(super) fn leave_out(lives: impl IntoIterator<Item = LifetimeId>) -> Removal {
        Removal::exact(What::Edits(lives.into_iter().map(|life| (life, AllocationChange::LeaveOut)).collect()))
    }

    /// The allocations and the request that failed are changed.
    pub(super) fn with_failed(edits: Vec<(LifetimeId, AllocationChange)>, failed: AllocationChange) -> Removal {
        Removal::exact(What::EditsWithFailed(edits, failed))
    }

    /// The allocator has other settings.
    pub(super) fn settings(change: fn(&mut Settings)) -> Removal {
        Removal::exact(What::Settings(change))
    }

    /// The allocator has this memory.
    pub(super) fn room(bytes: Bytes) -> Removal {
        Removal::exact(What::Room(bytes))
    }

    /// The change is only like the program without the cause.
    pub(super) fn estimated(self) -> Removal {
        Removal { standing: Standing::Estimated, ..self }
    }

    /// The cause does not grow: a larger need remains without it.
    pub(super) fn steady(self) -> Removal {
        Removal { is_steady: true, ..self }
    }

    /// True if the request that failed is not made without the cause.
    pub(super) fn leaves_out_failed(&self) -> bool {
        matches!(self.what, What::EditsWithFailed(_, AllocationChange::LeaveOut))
    }

    fn exact(what: What) -> Removal {
        Removal { what, standing: Standing::Verified, is_steady: false }
    }
}
