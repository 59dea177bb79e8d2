//! The holders of a device's memory, taken from a total one after the other.

use std::collections::BTreeMap;

use report::Contents;
use report::explain::{Holder, MemoryPart};
use trace::{Bytes, Moment};

use super::life::Life;
use super::view::View;

/// Parts whose sum never exceeds the total.
pub(crate) struct Parts {
    /// The bytes without a holder so far.
    pub(crate) left: Bytes,
    /// The parts so far.
    pub(crate) list: Vec<MemoryPart>,
}

impl Parts {
    /// A total without holders.
    pub(crate) fn of(total: Bytes) -> Parts {
        Parts { left: total, list: Vec::new() }
    }

    /// Adds a holder of `bytes`, or of as much as is left.
    pub(crate) fn take(&mut self, holder: Holder, bytes: Bytes) {
        let bytes = bytes.min(self.left);
        self.left -= bytes;
        self.list.push(MemoryPart { holder, bytes });
    }

    /// Adds the allocated bytes at `moment` by category.
    pub(crate) fn take_contents(&mut self, view: &View, moment: Moment) {
        let mut held: BTreeMap<Contents, Bytes> = BTreeMap::new();
        for (life, contents) in view.live_after(moment) {
            *held.entry(contents).or_default() += life.block();
        }
        for (contents, bytes) in held {
            self.take(Holder::Allocated(Some(contents)), bytes);
        }
    }
}
