//! A safe reader of Python pickles, of all protocols (0 to 5), for plain data only.
//!
//! A pickle is a program for a small stack machine, and some of its instructions import and call things. This reader
//! runs those that make `None`, booleans, integers, floats, strings, bytes, lists, tuples and dicts, and rejects all
//! others by name. Nothing is ever imported or called.
//!
//! # Note [Folding containers]
//! A trace of a gigabyte is ten million small dicts. The reader does not keep them: when a container gets its content,
//! a [`Fold`] may turn it into a record at once, from the values on the stack. Containers that the fold declines, and
//! containers filled in another way (protocol 0 adds key by key), are kept in an [`Arena`]. A fold therefore decides
//! how much memory reading takes, and never the result: readers of the arena handle both forms. A folded list that
//! grows is folded further if the fold can, else unfolded again. A fold copies its input. Only a program that fills a
//! container *after* putting it into another could observe the copy, and no pickler writes such a program, save for
//! values that contain themselves.
//!
//! # Note [Pickle arena]
//! Containers are nodes in one vector and refer to each other by index, so a value that the pickle shares stays shared,
//! nothing recurses (not even dropping), and every instruction makes at most one node. Strings are interned. A *tree*
//! walk of shared nodes can be exponentially longer than the pickle, and a walk of cyclic nodes endless: readers of the
//! arena walk to a known depth, and count.

mod arena;
mod builder;
mod error;
mod machine;
mod memo;
mod opcode;
mod source;
mod text;
mod value;

use std::io::Read;

pub(crate) use self::arena::Record;
pub use self::arena::{Arena, BytesId, NodeId, Slot, StrId};
pub(crate) use self::builder::ValueBuilder;
pub use self::builder::{Fold, Plain};
pub use self::error::{PickleError, PickleErrorKind};
pub use self::value::{Data, PickleValue};

/// Limits of a pickle. The sums are far above any real snapshot's and below any machine's memory.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Containers: 8 bytes each, and 4 for the memo.
    pub nodes: usize,
    /// Values in containers that are not folded: 16 bytes each. Real snapshots fold nearly all.
    pub values: usize,
    /// Bytes of different strings, in total and each.
    pub text: usize,
    /// Values on the stack, 16 bytes each. Python's pickler pushes a thousand for each open container.
    pub stack: usize,
    /// Open containers. Python's pickler fails at a thousand.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { nodes: 1 << 27, values: 1 << 25, text: 256 << 20, stack: 1 << 24, depth: 10_000 }
    }
}

/// A pickle read without folding.
#[derive(Debug)]
pub struct Document {
    arena: Arena<Plain>,
    root: Slot<Plain>,
}

impl Document {
    /// The value of the pickle.
    pub fn root(&self) -> PickleValue<'_, Plain> {
        PickleValue::new(&self.arena, self.root)
    }

    /// The number of values in all containers.
    pub fn item_count(&self) -> usize {
        self.arena.item_count()
    }
}

/// Reads the pickle at the start of `input`, as `pickle.load` does; the rest is ignored.
pub fn decode(input: impl Read) -> Result<Document, PickleError> {
    decode_within(input, Limits::default())
}

/// [`decode`] with other limits.
pub fn decode_within(input: impl Read, limits: Limits) -> Result<Document, PickleError> {
    let (root, builder) = machine::run(input, ValueBuilder::new(Plain::FOLD, &[], limits))?;
    Ok(Document { arena: builder.arena, root })
}

/// Reads a pickle with the fold of `builder`.
pub(crate) fn read<F: Fold>(
    input: impl Read,
    builder: ValueBuilder<F>,
) -> Result<(Slot<F::Folded>, ValueBuilder<F>), PickleError> {
    machine::run(input, builder)
}
