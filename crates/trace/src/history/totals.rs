//! PyTorch's counters and their peaks.

use super::lifetime::{Lifetime, Moment};
use crate::bytes::Bytes;

/// The counters of PyTorch's allocator for one device, at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// `allocated_bytes`.
    pub allocated: Bytes,
    /// `active_bytes`: allocated, or freed but not yet completed.
    pub active: Bytes,
    /// `reserved_bytes`.
    pub reserved: Bytes,
    /// `requested_bytes`: the requested size of the active blocks.
    pub requested: Bytes,
}

impl Totals {
    /// Applies the event of `life` at `moment`.
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

/// The first moment at which a total had its largest value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peak {
    /// The moment; [`Moment::BEFORE`] if the largest value was before the first event.
    pub at: Moment,
    /// The value.
    pub bytes: Bytes,
}

/// The peak of each total; `None` for a total that stays zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peaks {
    /// Of `allocated`: `torch.cuda.max_memory_allocated()`, if the history is whole.
    pub allocated: Option<Peak>,
    /// Of `active`.
    pub active: Option<Peak>,
    /// Of `reserved`: `torch.cuda.max_memory_reserved()`, if the history is whole.
    pub reserved: Option<Peak>,
    /// Of `requested`.
    pub requested: Option<Peak>,
}

impl Peaks {
    /// Updates the peaks with the totals of a moment.
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
