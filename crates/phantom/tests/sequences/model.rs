//! The plainest model of a device: lists of what is held, and an array of bytes for the beginning of each block.

use std::ops::Range;

use oomph_phantom::testing::PAGE_BYTES;

/// The modelled part of a block's contents: more than any sequence touches.
const WINDOW: usize = 2048;

/// The source of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// `cudaMalloc`.
    Device,
    /// `cudaMallocAsync`.
    Pool,
}

/// A live allocation. Each byte names the copy that wrote it: a read sees neighbours of the same copy as written
/// together (Note [Values on a phantom] in `values.rs`).
#[derive(Clone, Debug)]
pub struct Block {
    pub address: usize,
    pub bytes: usize,
    pub place: Place,
    content: Vec<Option<(u64, u8)>>,
    copies: u64,
}

impl Block {
    pub fn new(address: usize, bytes: usize, place: Place) -> Block {
        Block { address, bytes, place, content: vec![None; bytes.min(WINDOW)], copies: 0 }
    }

    fn window(&self, at: usize, bytes: usize) -> Range<usize> {
        at.min(self.content.len())..(at + bytes).min(self.content.len())
    }

    pub fn write(&mut self, at: usize, bytes: &[u8]) {
        self.copies += 1;
        let written = bytes.iter().map(|byte| Some((self.copies, *byte)));
        self.content.splice(at..at + bytes.len(), written);
    }

    pub fn forget(&mut self, at: usize, bytes: usize) {
        let window = self.window(at, bytes);
        self.content[window].fill(None);
    }

    pub fn read(&self, at: usize, bytes: usize) -> Vec<u8> {
        let mut found: Vec<u8> =
            self.content[at..at + bytes].iter().map(|byte| byte.map_or(0, |(_, value)| value)).collect();
        let together = self.written_together(at);
        let starts_here = at == 0 || self.copy_at(at - 1) != self.copy_at(at);
        // The start of a block, read to another extent than written: a result, not the copied bytes.
        if at.is_multiple_of(512) && starts_here && together != bytes {
            found[..together.min(bytes)].fill(0);
        }
        found
    }

    /// True if a read from the start of the block finds all `bytes` bytes.
    pub fn is_known(&self, bytes: usize) -> bool {
        let is_of_another_extent =
            self.content.first().is_some_and(Option::is_some) && self.written_together(0) != bytes;
        self.content[..bytes].iter().all(Option::is_some) && !is_of_another_extent
    }

    /// The number of bytes from `at` that the same copy wrote without a gap.
    fn written_together(&self, at: usize) -> usize {
        let copy = self.copy_at(at);
        let run = (at..self.content.len()).take_while(|&index| copy.is_some() && self.copy_at(index) == copy);
        run.count()
    }

    fn copy_at(&self, at: usize) -> Option<u64> {
        self.content[at].map(|(copy, _)| copy)
    }
}

/// A stream-ordered pool: whole pages, kept up to a threshold. All in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pool {
    used: u64,
    reserved: u64,
    pub threshold: u64,
}

impl Pool {
    pub fn shrink(&mut self, keep_bytes: u64) {
        self.reserved = self.reserved.min(pages(self.used.max(keep_bytes)));
    }
}

/// A physical allocation (`cuMemCreate`) that is charged still.
#[derive(Clone, Debug)]
pub struct Physical {
    pub handle: usize,
    pub bytes: usize,
    pub mapped_at: Vec<usize>,
    pub is_released: bool,
}

/// A device.
#[derive(Clone, Debug)]
pub struct Model {
    total_bytes: u64,
    pub blocks: Vec<Block>,
    pub freed: Vec<usize>,
    pub pool: Pool,
    pub physical: Vec<Physical>,
}

impl Model {
    pub fn new(total_bytes: u64) -> Model {
        Model { total_bytes, blocks: Vec::new(), freed: Vec::new(), pool: Pool::default(), physical: Vec::new() }
    }

    pub fn used_bytes(&self) -> u64 {
        let plain = || self.blocks.iter().filter(|block| block.place == Place::Device).map(|block| block.bytes as u64);
        let large: u64 = plain().filter(|bytes| *bytes >= PAGE_BYTES).map(pages).sum();
        let small: u64 = plain().filter(|bytes| *bytes < PAGE_BYTES).map(|bytes| bytes.next_multiple_of(512)).sum();
        let physical: u64 = self.physical.iter().map(|physical| physical.bytes as u64).sum();
        large + pages(small) + physical + self.pool.reserved
    }

    /// True if a request is granted. Bytes from a pool are noted here, bytes from the device by their block.
    pub fn take(&mut self, bytes: usize, place: Place) -> bool {
        if bytes as u64 > self.total_bytes {
            return false;
        }
        let mut after = self.clone();
        match place {
            Place::Device => after.blocks.push(Block::new(0, bytes, place)),
            Place::Pool => {
                after.pool.used += bytes.next_multiple_of(512) as u64;
                after.pool.reserved = after.pool.reserved.max(pages(after.pool.used));
            }
        }
        let fits = after.used_bytes() <= self.total_bytes;
        if fits {
            self.pool = after.pool;
        }
        fits
    }

    pub fn give_back(&mut self, block: &Block) {
        self.freed.push(block.address);
        if block.place == Place::Pool {
            self.pool.used -= block.bytes.next_multiple_of(512) as u64;
            self.pool.shrink(self.pool.threshold);
        }
    }

    /// Notes a physical allocation; false if it is refused.
    pub fn create(&mut self, handle: usize, bytes: usize) -> bool {
        let fits = self.used_bytes() + bytes as u64 <= self.total_bytes;
        if fits {
            self.physical.push(Physical { handle, bytes, mapped_at: Vec::new(), is_released: false });
        }
        fits
    }

    /// Drops what is released and mapped nowhere.
    pub fn collect(&mut self) {
        self.physical.retain(|physical| !physical.is_released || !physical.mapped_at.is_empty());
    }
}

fn pages(bytes: u64) -> u64 {
    bytes.next_multiple_of(PAGE_BYTES)
}
