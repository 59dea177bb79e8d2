//! A snapshot: the segments at one instant, and the history that led to them.

mod read;

pub use self::read::{SnapshotError, WrongValue, read_snapshot};
use crate::bytes::Bytes;
use crate::event::{Event, Mark};
use crate::ids::{Address, DeviceIndex, Stream};
use crate::stack::{StackId, StackTable};

/// What `torch.cuda.memory._snapshot` returned.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// The segments at the dump, by device and address.
    pub segments: Vec<Segment>,
    /// The history of each device, oldest first; index = device.
    pub traces: Vec<Vec<Event>>,
    /// The marks that events refer to.
    pub marks: Vec<Mark>,
    /// The stacks that events and blocks refer to.
    pub stacks: StackTable,
    /// The allocator's settings, where the version writes them (2.3 and later).
    pub settings: Settings,
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
#[derive(Clone, Copy, Debug)]
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
