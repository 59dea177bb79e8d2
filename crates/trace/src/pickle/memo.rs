//! The memo: values that the pickle may load again. Nearly all are containers, each stored and never loaded.

use super::arena::{NodeId, Slot, StrId, number};

/// The most entries. Real memos have one for each container and string.
const MOST: usize = 1 << 27;
/// The most entries besides containers and strings.
const MOST_OTHERS: usize = 1 << 16;

/// Entries of 4 bytes: the kind in the lowest two bits, the number above.
#[derive(Debug)]
pub(super) struct Memo<T> {
    entries: Vec<u32>,
    /// Entries besides containers and strings; no pickler writes such entries.
    others: Vec<Slot<T>>,
    filled: usize,
}

const KIND: u32 = 3;
const MISSING: u32 = 0;
const STRING: u32 = 1;
const NODE: u32 = 2;
const OTHER: u32 = 3;
/// Numbers from here on do not fit an entry.
const LARGE: u32 = 1 << 30;

impl<T: Copy> Memo<T> {
    pub(super) fn new() -> Memo<T> {
        Memo { entries: Vec::new(), others: Vec::new(), filled: 0 }
    }

    /// The number of entries: the index that `MEMOIZE` uses next.
    pub(super) fn entry_count(&self) -> usize {
        self.filled
    }

    /// Stores a value; `false` if the index is too high, or the memo is full.
    #[inline]
    pub(super) fn set(&mut self, index: usize, slot: Slot<T>) -> bool {
        let Some(packed) = self.pack(slot) else { return false };
        if index == self.entries.len() && index < MOST {
            self.entries.push(packed);
            self.filled += 1;
            return true;
        }
        self.set_anywhere(index, packed)
    }

    fn set_anywhere(&mut self, index: usize, packed: u32) -> bool {
        if index >= MOST {
            return false;
        }
        if index >= self.entries.len() {
            self.entries.resize(index + 1, MISSING);
        }
        let Some(entry) = self.entries.get_mut(index) else { return false };
        self.filled += usize::from(*entry == MISSING);
        *entry = packed;
        true
    }

    #[inline]
    fn pack(&mut self, slot: Slot<T>) -> Option<u32> {
        match slot {
            Slot::Node(NodeId(id)) if id < LARGE => Some(id << 2 | NODE),
            Slot::Str(StrId(id)) if id < LARGE => Some(id << 2 | STRING),
            other if self.others.len() < MOST_OTHERS => {
                self.others.push(other);
                Some(number(self.others.len() - 1) << 2 | OTHER)
            }
            _ => None,
        }
    }

    /// The value at an index.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<Slot<T>> {
        let entry = *self.entries.get(index)?;
        // In this order, and not as a `match`, which would become an indirect jump.
        if entry & KIND == NODE {
            Some(Slot::Node(NodeId(entry >> 2)))
        } else if entry & KIND == STRING {
            Some(Slot::Str(StrId(entry >> 2)))
        } else {
            self.other(entry)
        }
    }

    #[cold]
    fn other(&self, entry: u32) -> Option<Slot<T>> {
        if entry == MISSING { None } else { self.others.get((entry >> 2) as usize).copied() }
    }
}
