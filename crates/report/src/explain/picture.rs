//! What a drawing of a device's history is made from.

use serde::Serialize;
use trace::{Address, Bytes, SegmentKind};

use crate::breakdown::Contents;
use crate::check::SiteFrame;

/// What a drawing of a device's history needs, already thinned out: its size does not depend on the history's length.
///
/// With at most 4000 totals, 20 000 spans, 20 000 blocks and 2000 stacks of 40 frames a page stays below 2 MB.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Picture {
    /// The totals over time, by event; peaks survive the thinning.
    pub totals: Vec<TotalsPoint>,
    /// The largest allocations, each from its beginning to its end, in any order.
    pub spans: Vec<Span>,
    /// The segments at the peak, by address; each's blocks by offset.
    pub segments: Vec<SegmentPicture>,
    /// The stacks that `spans` and `segments` refer to, and the bytes of each that are alive at the peak.
    pub stacks: Vec<StackPicture>,
    /// The events with which the steps begin, where steps were found.
    pub steps: Vec<u32>,
}

/// The totals after an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TotalsPoint {
    /// Which event.
    pub event: u32,
    /// When, in microseconds since 1970, where the history says.
    pub time_us: Option<u64>,
    /// In the program's hands.
    pub allocated_bytes: Bytes,
    /// Held by the allocator.
    pub reserved_bytes: Bytes,
}

/// An allocation from its beginning to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Span {
    /// The event that made it; 0 where it is older than the history.
    pub from: u32,
    /// The event that freed it; the number of events where nothing did.
    pub to: u32,
    /// Its block.
    pub bytes: Bytes,
    /// Index into [`Picture::stacks`].
    pub stack: u32,
}

/// A segment at the peak.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SegmentPicture {
    /// Where it starts.
    pub address: Address,
    /// Its size.
    pub bytes: Bytes,
    /// Its size class, where known.
    #[serde(serialize_with = "kind_name")]
    pub kind: Option<SegmentKind>,
    /// Whether it is a mapped range of an expandable segment.
    pub is_expandable: bool,
    /// The blocks in use, by offset; what lies between them is free.
    pub blocks: Vec<BlockPicture>,
}

/// A block in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BlockPicture {
    /// From the start of its segment.
    pub offset: u64,
    /// Its size.
    pub bytes: Bytes,
    /// Index into [`Picture::stacks`].
    pub stack: u32,
}

/// A stack, and what it made that is alive at the peak.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StackPicture {
    /// The whole stack, innermost first, less C++ frames where there are Python ones: stacks are merged from their outer
    /// ends. Empty where none was recorded.
    pub frames: Vec<SiteFrame>,
    /// What most of its bytes hold.
    pub category: Contents,
    /// In blocks.
    pub bytes: Bytes,
    /// How many allocations.
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
