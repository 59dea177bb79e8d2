//! The records that containers of a snapshot are folded into, by number.

use crate::ids::PoolId;
use crate::pickle;
use crate::stack::{FrameId, StackId};

pub(super) type Arena = pickle::Arena<Record>;

/// The record of a container, by its number in `Records`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Record {
    Frame(FrameId),
    /// A list of frames.
    Stack(StackId),
    Pool(PoolId),
    Event(u32),
    Block(u32),
    /// A list of consecutive events: the number of their range.
    Events(u32),
    /// A list of consecutive blocks: the number of their range.
    Blocks(u32),
}

impl pickle::Record for Record {
    fn kind(self) -> &'static str {
        match self {
            Record::Frame(_) | Record::Event(_) | Record::Block(_) => "dict",
            Record::Stack(_) | Record::Events(_) | Record::Blocks(_) => "list",
            Record::Pool(_) => "tuple",
        }
    }
}
