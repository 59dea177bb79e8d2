//! PyTorch's own counters, and when each was largest.

use super::lifetime::{Lifetime, Moment};
use crate::bytes::Bytes;

/// What PyTorch's allocator counts of one device, at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Blocks in the program's hands: `allocated_bytes`.
    pub allocated: Bytes,
    /// Blocks not free, those let go of but not yet usable included: `active_bytes`.
    pub active: Bytes,
    /// Obtained from the device: `reserved_bytes`.
    pub reserved: Bytes,
    /// What was asked for, of the active blocks: `requested_bytes`.
    pub requested: Bytes,
}

impl Totals {
    /// Counts what happens to `life` at `moment`.
    pub(super) fn note(&mut self, life: &Lifetime, moment: Moment) {
        if life.begun == moment {
            self.allocated += life.block;
            self.active += life.block;
            self.requested += life.requested;
        }
        if life.free_requested == moment {
            self.allocated -= life.block;
        }
        if life.free_completed == moment {
            self.active -= life.block;
            self.requested -= life.requested;
        }
    }
}

/// The first moment at which a total was as large as it ever got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peak {
    /// Which moment; [`Moment::BEFORE`] where it never was as much as before the first event.
    pub at: Moment,
    /// The total then.
    pub bytes: Bytes,
}

/// The peak of each total; `None` where it never was more than nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peaks {
    /// Of the allocated bytes: `torch.cuda.max_memory_allocated()`, if the history is whole.
    pub allocated: Option<Peak>,
    /// Of the active bytes.
    pub active: Option<Peak>,
    /// Of the reserved bytes: `torch.cuda.max_memory_reserved()`, if the history is whole.
    pub reserved: Option<Peak>,
    /// Of the requested bytes.
    pub requested: Option<Peak>,
}

impl Peaks {
    /// Looks at the totals of a moment.
    pub(super) fn raise(&mut self, at: Moment, totals: &Totals) {
        raise(&mut self.allocated, at, totals.allocated);
        raise(&mut self.active, at, totals.active);
        raise(&mut self.reserved, at, totals.reserved);
        raise(&mut self.requested, at, totals.requested);
    }
}

fn raise(peak: &mut Option<Peak>, at: Moment, bytes: Bytes) {
    if bytes > peak.map_or(Bytes::ZERO, |peak| peak.bytes) {
        *peak = Some(Peak { at, bytes });
    }
}
