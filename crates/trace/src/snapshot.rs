//! A snapshot: the segments at one instant, and the history that led to them.

mod read;
pub(crate) mod torch;

use std::sync::Arc;

pub use self::read::{SnapshotError, WrongValue, read_snapshot};
pub use self::torch::{Release, TorchVersions};
use crate::bytes::Bytes;
use crate::event::{Event, Mark};
use crate::ids::{Address, DeviceIndex, PoolId, Stream, Time};
use crate::stack::{StackId, StackTable};

/// What `torch.cuda.memory._snapshot` returned.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// The segments at the dump, by device and address.
    pub segments: Vec<Segment>,
    /// The history of each device, oldest first; index = device.
    pub traces: Vec<Vec<Event>>,
    /// Pinned host memory, where the version has it (2.14 and later). Sizes are rounded to powers of two.
    pub host_segments: Vec<Segment>,
    /// The history of pinned host memory (2.14 and later).
    pub host_traces: Vec<Vec<Event>>,
    /// Where `record_function` and the like began and ended (2.5 and later).
    pub annotations: Vec<Annotation>,
    /// The marks that events refer to.
    pub marks: Vec<Mark>,
    /// What the actions are called that [`crate::Action::Unknown`] stands for, cut off where that is long.
    pub unknown_actions: Vec<Arc<str>>,
    /// The stacks that events and blocks refer to.
    pub stacks: StackTable,
    /// The pools that events and segments refer to.
    pub pools: Vec<Pool>,
    /// The allocator's settings, where the version writes them (2.3 and later).
    pub settings: Settings,
    /// Which versions of PyTorch write such a snapshot.
    pub torch: TorchVersions,
}

impl Snapshot {
    /// The pool of an event or a segment.
    pub fn pool(&self, id: PoolId) -> Pool {
        self.pools.get(id.index()).copied().unwrap_or_default()
    }
}

/// A pool of memory, by the two numbers PyTorch gives it (`MempoolId_t` in `c10/core/CachingDeviceAllocator.h`, 2.11):
/// all zero for the one that everything shares, else a private one, of a CUDA graph or of `torch.cuda.MemPool`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pool {
    /// Counts the pools that captures made for themselves.
    pub first: u64,
    /// Counts the pools that programs made.
    pub second: u64,
}

impl Pool {
    /// Whether it is the pool that everything shares.
    pub fn is_default(self) -> bool {
        self == Pool::default()
    }
}

/// What the allocator was told to do, as far as a snapshot says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// The last configuration string; empty if none was set.
    pub conf: String,
    /// Whether expandable segments are on.
    pub expandable_segments: bool,
    /// Blocks of at least this size are never split; `None` = no such limit.
    pub max_split_size: Option<Bytes>,
    /// `roundup_power2_divisions` by power-of-two MiB, as `(boundary_mib, divisions)`; empty = 512-byte rounding only.
    pub roundup_power2_divisions: Vec<(u64, u64)>,
    /// The share of the device from which on cached memory is given back by age; `None` = never.
    pub garbage_collection_threshold: Option<f64>,
    /// Whether `cudaMalloc` is called without the allocator's lock, so that events of other threads come in between.
    pub release_lock_on_cudamalloc: bool,
}

/// One end of a named stretch of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// What the program called it.
    pub name: Arc<str>,
    /// Which end.
    pub stage: Stage,
    /// On which device; `None` where none is stated.
    pub device: Option<DeviceIndex>,
    /// When.
    pub time: Option<Time>,
}

/// Which end of a stretch an [`Annotation`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// `START`.
    Start,
    /// `END`.
    End,
}

/// Which of the two size classes a segment serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SegmentKind {
    /// Rounded requests of at most 1 MiB.
    Small,
    /// All others.
    Large,
}

/// One piece of device memory that the allocator holds.
#[derive(Clone, Debug)]
pub struct Segment {
    /// On which device.
    pub device: DeviceIndex,
    /// Where it starts.
    pub address: Address,
    /// Its whole size.
    pub total_size: Bytes,
    /// What PyTorch states to be allocated of it; in its own snapshots the sum of the allocated blocks.
    pub allocated_size: Bytes,
    /// The stream it belongs to.
    pub stream: Stream,
    /// Its size class.
    pub kind: SegmentKind,
    /// Whether it is a mapped range of an expandable segment.
    pub is_expandable: bool,
    /// The pool it serves, where the version writes it (2.1 and later).
    pub pool: Option<PoolId>,
    /// Who made the allocator get it, where recorded.
    pub stack: StackId,
    /// Its blocks, by address; together they fill it.
    pub blocks: Vec<Block>,
}

/// What a block was at the dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockState {
    /// In the program's hands.
    ActiveAllocated,
    /// Freed, but another stream may still use it.
    ActivePendingFree,
    /// In the cache.
    Inactive,
}

/// A part of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Where it starts.
    pub address: Address,
    /// Its size.
    pub size: Bytes,
    /// What was asked for; stale on inactive blocks.
    pub requested_size: Bytes,
    /// What it was at the dump.
    pub state: BlockState,
    /// Who made it, where recorded.
    pub stack: StackId,
}
