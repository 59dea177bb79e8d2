//! A snapshot: the segments at one instant, and the history before it.

mod read;
pub(crate) mod torch;

use std::sync::Arc;

pub use self::read::{SnapshotError, WrongValue, read_snapshot};
pub use self::torch::TorchVersions;
use crate::bytes::Bytes;
use crate::event::{Event, Mark};
use crate::ids::{Address, DeviceIndex, PoolId, Stream, Time};
use crate::stack::{StackId, StackTable};

/// The result of `torch.cuda.memory._snapshot`.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// The segments at the dump, by device and address.
    pub segments: Vec<Segment>,
    /// The history of each device, oldest first; index = device.
    pub traces: Vec<Vec<Event>>,
    /// Pinned host memory, in versions that write it (2.14 and later). Sizes are rounded to powers of two.
    pub host_segments: Vec<Segment>,
    /// The history of pinned host memory (2.14 and later).
    pub host_traces: Vec<Vec<Event>>,
    /// Beginnings and ends of `record_function` and similar ranges (2.5 and later).
    pub annotations: Vec<Annotation>,
    /// The marks that events refer to.
    pub marks: Vec<Mark>,
    /// The names of unknown actions, shortened, for [`crate::Action::Unknown`].
    pub unknown_actions: Vec<Arc<str>>,
    /// The stacks that events and blocks refer to.
    pub stacks: StackTable,
    /// The pools that events and segments refer to.
    pub pools: Vec<Pool>,
    /// The allocator's settings, in versions that write them (2.3 and later).
    pub settings: SnapshotSettings,
    /// The versions of PyTorch that write such a snapshot.
    pub torch: TorchVersions,
}

impl Snapshot {
    /// The pool of an event or a segment.
    pub fn pool(&self, id: PoolId) -> Pool {
        self.pools.get(id.index()).copied().unwrap_or_default()
    }
}

/// A pool, by PyTorch's two numbers (`MempoolId_t` in `c10/core/CachingDeviceAllocator.h`, 2.11): both zero for the
/// shared pool, else a private pool of a CUDA graph or of `torch.cuda.MemPool`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pool {
    /// Counts the pools of captures.
    pub first: u64,
    /// Counts the pools of programs.
    pub second: u64,
}

impl Pool {
    /// Tests for the shared pool.
    pub fn is_default(self) -> bool {
        self == Pool::default()
    }
}

/// The allocator's settings, as far as a snapshot states them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SnapshotSettings {
    /// The last configuration string; empty if none was set.
    pub conf: String,
    /// Set if expandable segments are on.
    pub expandable_segments: bool,
    /// Blocks of at least this size are never split; `None` = no such limit.
    pub max_split_size: Option<Bytes>,
    /// `roundup_power2_divisions` by power-of-two MiB, as `(boundary_mib, divisions)`; empty = 512-byte rounding only.
    pub roundup_power2_divisions: Vec<(u64, u64)>,
    /// The share of the device above which cached memory is released by age; `None` = never.
    pub garbage_collection_threshold: Option<f64>,
    /// Set if `cudaMalloc` is called without the allocator's lock, so that events of other threads may come in between.
    pub release_lock_on_cudamalloc: bool,
}

/// One end of a named range of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// The name given by the program.
    pub name: Arc<str>,
    /// Beginning or end.
    pub stage: Stage,
    /// The device; `None` if not stated.
    pub device: Option<DeviceIndex>,
    /// The time.
    pub time: Option<Time>,
}

/// The end of a range that an [`Annotation`] marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// `START`.
    Start,
    /// `END`.
    End,
}

/// The size class of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SegmentKind {
    /// Rounded requests of at most 1 MiB.
    Small,
    /// All others.
    Large,
}

/// A segment of device memory, reserved by the allocator.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The device.
    pub device: DeviceIndex,
    /// The first address.
    pub address: Address,
    /// The whole size.
    pub total_size: Bytes,
    /// The allocated size stated by PyTorch; in its own snapshots the sum of the allocated blocks.
    pub allocated_size: Bytes,
    /// The stream of the segment.
    pub stream: Stream,
    /// Its size class.
    pub kind: SegmentKind,
    /// Set for a mapped range of an expandable segment.
    pub is_expandable: bool,
    /// The pool, in versions that write it (2.1 and later).
    pub pool: Option<PoolId>,
    /// The stack that caused the reservation, if recorded.
    pub stack: StackId,
    /// The blocks, by address; together they fill the segment.
    pub blocks: Vec<Block>,
}

/// The state of a block at the dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockState {
    /// Allocated.
    ActiveAllocated,
    /// Freed, but another stream may still use it.
    ActivePendingFree,
    /// Cached.
    Inactive,
}

/// A part of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The first address.
    pub address: Address,
    /// Its size.
    pub size: Bytes,
    /// The requested size; stale on inactive blocks.
    pub requested_size: Bytes,
    /// The state at the dump.
    pub state: BlockState,
    /// The stack of the allocation, if recorded.
    pub stack: StackId,
}
