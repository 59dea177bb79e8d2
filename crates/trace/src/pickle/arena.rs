//! The arena of values that are not folded: containers by number, their contents in one vector. Note [Pickle arena].

use std::fmt::Debug;

use super::error::PickleErrorKind;
use crate::interner::Interner;

/// A string, by its number: equal strings have equal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StrId(pub u32);

/// A byte string, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BytesId(pub u32);

/// A container, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// The result of folding a container: a kind and a number. At most 8 bytes, else nodes and slots grow.
pub trait Record: Copy + Debug + PartialEq {
    /// The Python type of the folded value.
    fn kind(self) -> &'static str;
}

/// A value on the stack or in a container.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Slot<T> {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer of up to 8 bytes.
    Int(i64),
    /// A longer integer, as an index into the arena's.
    Wide(u32),
    /// A float.
    Float(f64),
    /// A string.
    Str(StrId),
    /// A byte string.
    Bytes(BytesId),
    /// A list, tuple or dict, folded or not.
    Node(NodeId),
    /// A part of a folded container that was unfolded again.
    Folded(T),
}

/// A container.
#[derive(Clone, Copy, Debug)]
pub(super) enum ArenaNode<T> {
    Dict(ChainId),
    List(ChainId),
    Tuple(ChainId),
    Folded(T),
}

/// The contents of a container, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChainId(u32);

impl ChainId {
    pub(super) const EMPTY: ChainId = ChainId(u32::MAX);
}

/// ChainItems added in several steps: the first and the last extent.
#[derive(Clone, Copy, Debug)]
struct Chain {
    first: u32,
    last: u32,
}

/// Values added in one step.
#[derive(Clone, Copy, Debug)]
struct ItemRun {
    start: u32,
    end: u32,
    next: u32,
}

const NO_EXTENT: u32 = u32::MAX;

/// All values of a pickle that are not on the stack.
#[derive(Debug)]
pub struct Arena<T> {
    pub(super) nodes: Vec<ArenaNode<T>>,
    pub(super) wide: Vec<i128>,
    pub(super) strings: Interner<u8>,
    /// Byte strings, not necessarily text.
    pub(super) blobs: Interner<u8>,
    items: Vec<Slot<T>>,
    chains: Vec<Chain>,
    extents: Vec<ItemRun>,
}

impl<T: Copy> Arena<T> {
    /// An arena in which these strings have the numbers from 0 on.
    pub(super) fn new(names: &[&str]) -> Arena<T> {
        let mut strings = Interner::new();
        for name in names {
            strings.intern(name.as_bytes());
        }
        let (nodes, wide, items) = (Vec::new(), Vec::new(), Vec::new());
        Arena { nodes, wide, strings, blobs: Interner::new(), items, chains: Vec::new(), extents: Vec::new() }
    }

    /// The text of a string.
    pub fn resolve_text(&self, string: StrId) -> &str {
        // The builder converts strings to UTF-8 before it stores them.
        std::str::from_utf8(self.strings.get(string.0)).unwrap_or_default()
    }

    /// The content of a byte string.
    pub fn resolve_bytes(&self, bytes: BytesId) -> &[u8] {
        self.blobs.get(bytes.0)
    }

    /// The record of a folded container, or of a part of one.
    pub fn folded(&self, slot: Slot<T>) -> Option<T> {
        match slot {
            Slot::Folded(record) => Some(record),
            Slot::Node(id) => match *self.node(id)? {
                ArenaNode::Folded(record) => Some(record),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn node(&self, id: NodeId) -> Option<&ArenaNode<T>> {
        self.nodes.get(id.0 as usize)
    }

    /// The number of values in containers that were not folded.
    pub fn item_count(&self) -> usize {
        self.items.len()
    }

    /// The contents of a container, in order; for a dict, keys and values in turn.
    pub(super) fn contents(&self, chain: ChainId) -> ChainItems<'_, T> {
        let first = self.chains.get(chain.0 as usize).map_or(NO_EXTENT, |chain| chain.first);
        ChainItems { arena: self, next: first, here: [].iter() }
    }

    /// Appends to a container's contents; returns their new number.
    pub(super) fn extend(&mut self, chain: ChainId, values: &[Slot<T>]) -> ChainId {
        if values.is_empty() {
            return chain;
        }
        let extent = number(self.extents.len());
        let start = number(self.items.len());
        self.items.extend_from_slice(values);
        self.extents.push(ItemRun { start, end: number(self.items.len()), next: NO_EXTENT });
        let Some(known) = self.chains.get_mut(chain.0 as usize) else {
            self.chains.push(Chain { first: extent, last: extent });
            return ChainId(number(self.chains.len() - 1));
        };
        if let Some(last) = self.extents.get_mut(known.last as usize) {
            last.next = extent;
        }
        known.last = extent;
        chain
    }
}

/// The number of an element. The limits keep every table far below `u32::MAX`.
pub(super) fn number(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

/// Fails if a table with `count` elements is full.
pub(super) fn within(count: usize, limit: usize, what: &'static str) -> Result<(), PickleErrorKind> {
    if count < limit { Ok(()) } else { Err(PickleErrorKind::TooMany { limit, what }) }
}

/// The contents of a container.
#[derive(Debug)]
pub(super) struct ChainItems<'a, T> {
    arena: &'a Arena<T>,
    /// The extent after the current one.
    next: u32,
    here: std::slice::Iter<'a, Slot<T>>,
}

impl<T: Copy> Clone for ChainItems<'_, T> {
    fn clone(&self) -> Self {
        ChainItems { arena: self.arena, next: self.next, here: self.here.clone() }
    }
}

impl<T: Copy> Iterator for ChainItems<'_, T> {
    type Item = Slot<T>;

    fn next(&mut self) -> Option<Slot<T>> {
        loop {
            if let Some(&slot) = self.here.next() {
                return Some(slot);
            }
            let extent = self.arena.extents.get(self.next as usize)?;
            self.here = self.arena.items.get(extent.start as usize..extent.end as usize).unwrap_or_default().iter();
            self.next = extent.next;
        }
    }
}
