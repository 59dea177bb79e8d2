//! The free blocks of one pool and stream, in the order of the search.

use crate::ids::BlockId;

/// The sort key of a free block: size, then tie, then address. See Note [Keys].
///
/// # Note [Keys]
///
/// Sizes and addresses are multiples of 512 and below 2^57. Without their low nine bits each fits in 48 bits; together
/// with the 32 bits of a tie they are compared as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SortKey(u128);

impl SortKey {
    const UNIT_BITS: u32 = 9;
    const MAX_BYTES: u64 = (1 << 57) - 1;

    pub(crate) fn new(bytes: u64, tie: u32, address: u64) -> SortKey {
        let (size, address) = (bytes >> SortKey::UNIT_BITS, address >> SortKey::UNIT_BITS);
        SortKey(u128::from(size) << 80 | u128::from(tie) << 48 | u128::from(address))
    }

    /// A key not larger than any key of a block of this size.
    pub(crate) fn first_of(bytes: u64) -> SortKey {
        // Only requests exceed the largest size that fits a key; no block does.
        SortKey::new(bytes.min(SortKey::MAX_BYTES), 0, 0)
    }

    /// The size of the block.
    pub(crate) fn bytes(self) -> u64 {
        ((self.0 >> 80) as u64) << SortKey::UNIT_BITS
    }
}

type KeyedBlock = (SortKey, BlockId);

/// An ordered set in chunks of at most [`FreeSet::CHUNK`] entries: one binary search among the chunks, one within, and
/// an insertion moves no more than a chunk. No chunk is empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct FreeSet {
    chunks: Vec<Vec<KeyedBlock>>,
}

/// A position in a [`FreeSet`]; valid until the set changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    chunk: usize,
    entry: usize,
}

impl FreeSet {
    const CHUNK: usize = 128;

    /// The first position whose key is at least `key`; may be the end.
    #[inline]
    pub(crate) fn lower_bound(&self, key: SortKey) -> Position {
        let chunk = match self.chunks.len() {
            0 => return Position { chunk: 0, entry: 0 },
            1 => 0,
            _ => self.chunks.partition_point(|chunk| chunk.last().is_some_and(|&(last, _)| last < key)),
        };
        let entry = self.chunks.get(chunk).map_or(0, |entries| entries.partition_point(|&(other, _)| other < key));
        self.normalize(Position { chunk, entry })
    }

    /// The same position; the end of a chunk becomes the start of the next.
    fn normalize(&self, place: Position) -> Position {
        match self.chunks.get(place.chunk) {
            Some(entries) if place.entry >= entries.len() => Position { chunk: place.chunk + 1, entry: 0 },
            _ => place,
        }
    }

    /// The block at a position; `None` at the end.
    #[inline]
    pub(crate) fn get(&self, place: Position) -> Option<BlockId> {
        self.chunks.get(place.chunk)?.get(place.entry).map(|&(_, block)| block)
    }

    /// The next position.
    pub(crate) fn after(&self, place: Position) -> Position {
        self.normalize(Position { entry: place.entry + 1, ..place })
    }

    /// The previous position; `None` at the beginning.
    pub(crate) fn before(&self, place: Position) -> Option<Position> {
        if place.entry > 0 {
            return Some(Position { entry: place.entry - 1, ..place });
        }
        let chunk = place.chunk.checked_sub(1)?;
        Some(Position { chunk, entry: self.chunks.get(chunk)?.len() - 1 })
    }

    #[inline]
    pub(crate) fn insert(&mut self, key: SortKey, block: BlockId) {
        let Some(end) = self.chunks.len().checked_sub(1) else {
            return self.chunks.push(vec![(key, block)]);
        };
        let index = match end {
            0 => 0,
            _ => self.chunks.partition_point(|chunk| chunk.last().is_some_and(|&(last, _)| last < key)).min(end),
        };
        let chunk = &mut self.chunks[index];
        let place = chunk.partition_point(|&(other, _)| other < key);
        chunk.insert(place, (key, block));
        if chunk.len() > FreeSet::CHUNK {
            let upper = chunk.split_off(FreeSet::CHUNK / 2);
            self.chunks.insert(index + 1, upper);
        }
    }

    /// Removes the block at a position, which must not be the end.
    #[inline]
    pub(crate) fn remove_at(&mut self, place: Position) {
        let chunk = &mut self.chunks[place.chunk];
        chunk.remove(place.entry);
        if chunk.is_empty() {
            self.chunks.remove(place.chunk);
        }
    }

    /// Removes the block with this key, if present.
    #[inline]
    pub(crate) fn remove(&mut self, key: SortKey) {
        let place = self.lower_bound(key);
        let found = self.chunks.get(place.chunk).and_then(|chunk| chunk.get(place.entry));
        debug_assert!(found.is_some_and(|&(other, _)| other == key), "{key:?} is not in the set");
        if found.is_some_and(|&(other, _)| other == key) {
            self.remove_at(place);
        }
    }

    /// All blocks, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.chunks.iter().flatten().map(|&(_, block)| block)
    }

    /// The sizes of all blocks, smallest first.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = u64> + '_ {
        self.chunks.iter().flatten().map(|&(key, _)| key.bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn key(size: u64) -> SortKey {
        SortKey::new(size << 9, 3, size << 20)
    }

    proptest! {
        #[test]
        fn it_is_an_ordered_set(changes in prop::collection::vec((any::<bool>(), 0_u64..400), 0..1500)) {
            let (mut set, mut model) = (FreeSet::default(), BTreeMap::new());
            for (index, (add, size)) in (0_u32..).zip(changes) {
                if add && model.insert(key(size), BlockId::new(index)).is_none() {
                    set.insert(key(size), BlockId::new(index));
                } else if add {
                    set.remove(key(size));
                    set.insert(key(size), BlockId::new(index));
                } else if model.remove(&key(size)).is_some() {
                    set.remove(key(size));
                }
                let place = set.lower_bound(key(size));
                prop_assert_eq!(set.get(place), model.range(key(size)..).next().map(|(_, &block)| block));
                let before = set.before(place).and_then(|before| set.get(before));
                prop_assert_eq!(before, model.range(..key(size)).next_back().map(|(_, &block)| block));
            }
            prop_assert!(set.iter().eq(model.values().copied()));
        }
    }
}
