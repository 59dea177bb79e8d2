//! The data for a drawing of a device's history.

use serde::Serialize;
use trace::{Address, Bytes, SegmentKind};

use crate::breakdown::Contents;
use crate::check::SiteFrame;

/// The data for a drawing of a device's history, downsampled to a size that does not depend on the history's length.
///
/// With at most 4000 totals, 20 000 spans, 20 000 blocks and 2000 stacks of 40 frames a page stays below 2 MB.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Picture {
    /// The totals over time, by event; downsampling keeps the peaks.
    pub totals: Vec<TotalsPoint>,
    /// The largest allocations with their first and last event, in any order.
    pub spans: Vec<Span>,
    /// The segments at the peak, by address, with their blocks by offset.
    pub segments: Vec<SegmentPicture>,
    /// The stacks that `spans` and `segments` refer to, and the bytes of each that are alive at the peak.
    pub stacks: Vec<StackPicture>,
    /// The first event of each step; empty if no steps were found.
    pub steps: Vec<u32>,
}

/// The totals after an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TotalsPoint {
    /// The number of the event.
    pub event: u32,
    /// Microseconds since 1970; `None` in a history without times.
    pub time_us: Option<u64>,
    /// Allocated bytes.
    pub allocated_bytes: Bytes,
    /// Reserved bytes.
    pub reserved_bytes: Bytes,
}

/// The lifetime of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Span {
    /// The event that allocated the block; 0 for a block older than the history.
    pub from: u32,
    /// The event that freed the block; the number of events for a block never freed.
    pub to: u32,
    /// The size of the block.
    pub bytes: Bytes,
    /// Index into [`Picture::stacks`].
    pub stack: u32,
}

/// A segment at the peak.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SegmentPicture {
    /// The start address.
    pub address: Address,
    /// The size.
    pub bytes: Bytes,
    /// The size class, if known.
    #[serde(serialize_with = "kind_name")]
    pub kind: Option<SegmentKind>,
    /// True if the segment is a mapped range of an expandable segment.
    pub is_expandable: bool,
    /// The blocks in use, by offset; the gaps are free.
    pub blocks: Vec<BlockPicture>,
}

/// A block in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BlockPicture {
    /// The distance from the start of the segment.
    pub offset: u64,
    /// The size.
    pub bytes: Bytes,
    /// Index into [`Picture::stacks`].
    pub stack: u32,
}

/// A stack, with the blocks that the stack allocated and that are alive at the peak.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StackPicture {
    /// The whole stack, innermost first, without C++ frames if there are Python frames: stacks are merged from their
    /// outer ends. Empty without a recorded stack.
    pub frames: Vec<SiteFrame>,
    /// The category of most bytes.
    pub category: Contents,
    /// The sum of block sizes.
    pub bytes: Bytes,
    /// The number of allocations.
    pub count: u64,
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde's calling convention")]
fn kind_name<S: serde::Serializer>(kind: &Option<SegmentKind>, serializer: S) -> Result<S::Ok, S::Error> {
    let name = kind.map(|kind| match kind {
        SegmentKind::Small => "small",
        SegmentKind::Large => "large",
    });
    name.serialize(serializer)
}
