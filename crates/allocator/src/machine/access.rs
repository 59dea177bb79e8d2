//! Access to the counters, blocks, device and observer of an allocator.

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

    /// The counters, to reset them.
    pub fn stats_mut(&mut self) -> &mut Stats {
        &mut self.stats
    }

    /// The observer.
    pub fn observer(&self) -> &O {
        &self.observer
    }

    /// The observer, to empty it.
    pub fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }

    /// The device.
    pub fn device(&self) -> &D {
        &self.device
    }

    /// The device, to change it.
    pub fn device_mut(&mut self) -> &mut D {
        &mut self.device
    }

    /// The address of a block.
    pub fn address(&self, block: BlockId) -> Address {
        Address(self.blocks[block].address)
    }

    /// The size of a block.
    pub fn size(&self, block: BlockId) -> Bytes {
        Bytes(self.blocks[block].size)
    }
}
