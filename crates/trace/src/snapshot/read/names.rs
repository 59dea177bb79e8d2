//! The words that PyTorch writes into snapshots, by number: the arena has each string under its number.

use crate::event::Action;
use crate::pickle::{Slot, StrId};
use crate::snapshot::BlockState;

macro_rules! names {
    ($($name:ident = $text:literal,)*) => {
        /// A word of a snapshot.
        #[expect(clippy::enum_variant_names, reason = "`name` is one of PyTorch's words")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Name {
            $($name,)*
        }

        const ALL: &[Name] = &[$(Name::$name,)*];

        /// The words in the order of their numbers.
        pub(super) const TEXTS: &[&str] = &[$($text,)*];
    };
}

names! {
    // keys of events
    Action = "action",
    Addr = "addr",
    DeviceFree = "device_free",
    Size = "size",
    Stream = "stream",
    TimeUs = "time_us",
    CompileContext = "compile_context",
    UserMetadata = "user_metadata",
    PoolId = "pool_id",
    Frames = "frames",
    // keys of frames
    Name = "name",
    Filename = "filename",
    Line = "line",
    // keys of blocks
    Address = "address",
    RequestedSize = "requested_size",
    State = "state",
    History = "history",
    // actions
    Alloc = "alloc",
    FreeRequested = "free_requested",
    FreeCompleted = "free_completed",
    SegmentAlloc = "segment_alloc",
    SegmentFree = "segment_free",
    SegmentMap = "segment_map",
    SegmentUnmap = "segment_unmap",
    Oom = "oom",
    Snapshot = "snapshot",
    // states
    ActiveAllocated = "active_allocated",
    ActivePendingFree = "active_pending_free",
    ActiveAwaitingFree = "active_awaiting_free",
    Inactive = "inactive",
}

impl Name {
    /// The word of a string.
    #[inline]
    pub(super) fn of<T: Copy>(slot: Slot<T>) -> Option<Name> {
        let Slot::Str(StrId(number)) = slot else { return None };
        ALL.get(number as usize).copied()
    }

    pub(super) fn as_str(self) -> &'static str {
        TEXTS.get(self as usize).copied().unwrap_or_default()
    }

    /// The action of a word, for frequent actions.
    #[inline]
    pub(super) fn as_action(self) -> Option<Action> {
        Some(match self {
            Name::Alloc => Action::Alloc,
            Name::FreeRequested => Action::FreeRequested,
            Name::FreeCompleted => Action::FreeCompleted,
            Name::SegmentAlloc => Action::SegmentAlloc,
            Name::SegmentFree => Action::SegmentFree,
            Name::SegmentMap => Action::SegmentMap,
            Name::SegmentUnmap => Action::SegmentUnmap,
            Name::Oom => Action::Oom,
            Name::Snapshot => Action::Snapshot,
            _ => return None,
        })
    }

    pub(super) fn block_state(self) -> Option<BlockState> {
        match self {
            Name::ActiveAllocated => Some(BlockState::ActiveAllocated),
            // The second is the name in PyTorch's documentation.
            Name::ActivePendingFree | Name::ActiveAwaitingFree => Some(BlockState::ActivePendingFree),
            Name::Inactive => Some(BlockState::Inactive),
            _ => None,
        }
    }
}
