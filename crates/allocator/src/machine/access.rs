//! What an allocator shows: its counters, its blocks, and what was put into it.

use trace::{Address, Bytes};

use super::{Allocator, Observer};
use crate::device::Device;
use crate::ids::BlockId;
use crate::stats::Stats;

impl<D: Device, O: Observer> Allocator<D, O> {
    /// The counters of `torch.cuda.memory_stats`.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The same, to reset them.
    pub fn stats_mut(&mut self) -> &mut Stats {
        &mut self.stats
    }

    /// What listens.
    pub fn observer(&self) -> &O {
        &self.observer
    }

    /// What listens, to empty it.
    pub fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }

    /// What lies underneath.
    pub fn device(&self) -> &D {
        &self.device
    }

    /// What lies underneath, to tell it something.
    pub fn device_mut(&mut self) -> &mut D {
        &mut self.device
    }

    /// Where a block is.
    pub fn address(&self, block: BlockId) -> Address {
        Address(self.blocks[block].address)
    }

    /// How large a block is.
    pub fn size(&self, block: BlockId) -> Bytes {
        Bytes(self.blocks[block].size)
    }
}
