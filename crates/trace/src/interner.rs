//! Slices stored once each. A trace repeats a few thousand strings and stacks millions of times.

use std::hash::{BuildHasher, RandomState};

/// Slices by number, and numbers by slice. Slices lie behind each other in one vector.
#[derive(Clone, Debug)]
pub(crate) struct Interner<T> {
    items: Vec<T>,
    /// The end of each slice, which is the start of the next.
    ends: Vec<u32>,
    /// Open addressing with linear probing: the number of a slice plus one, or 0. At most half full.
    table: Vec<u32>,
    /// Different in every process, so that nobody can forge a file whose slices all collide.
    seed: u64,
}

/// An element of a slice.
pub(crate) trait Element: Copy + Eq {
    /// The elements, 8 bytes at a time.
    fn words(slice: &[Self]) -> impl Iterator<Item = u64>;
}

impl Element for u8 {
    fn words(slice: &[u8]) -> impl Iterator<Item = u64> {
        let (whole, rest) = slice.as_chunks::<8>();
        let last = rest.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
        whole.iter().map(|&chunk| u64::from_le_bytes(chunk)).chain(std::iter::once(last))
    }
}

impl<T: Element> Interner<T> {
    pub(crate) fn new() -> Interner<T> {
        let seed = RandomState::new().hash_one(0);
        Interner { items: Vec::new(), ends: Vec::new(), table: vec![0; 64], seed }
    }

    /// The number of different slices.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The number of elements of all slices.
    pub(crate) fn total(&self) -> usize {
        self.items.len()
    }

    /// A slice by its number; empty for an unknown number.
    pub(crate) fn get(&self, number: u32) -> &[T] {
        let at = number as usize;
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(at).copied().unwrap_or(start);
        self.items.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The number of a stored slice.
    pub(crate) fn find(&self, slice: &[T]) -> Option<u32> {
        let place = self.probe(slice);
        self.table.get(place)?.checked_sub(1)
    }

    /// The number of the slice, which is stored if new. Beyond `u32::MAX` elements new slices get the last number; the
    /// readers stop long before.
    pub(crate) fn intern(&mut self, slice: &[T]) -> u32 {
        let place = self.probe(slice);
        if let Some(known) = self.table.get(place).and_then(|entry| entry.checked_sub(1)) {
            return known;
        }
        let number = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        self.items.extend_from_slice(slice);
        self.ends.push(u32::try_from(self.items.len()).unwrap_or(u32::MAX));
        self.enter(place, number);
        if self.ends.len() * 2 > self.table.len() {
            self.grow();
        }
        number
    }

    fn enter(&mut self, place: usize, number: u32) {
        if let Some(entry) = self.table.get_mut(place) {
            *entry = number.saturating_add(1);
        }
    }

    fn grow(&mut self) {
        let size = self.table.len() * 2;
        self.table.clear();
        self.table.resize(size, 0);
        for number in 0..u32::try_from(self.ends.len()).unwrap_or(u32::MAX) {
            let place = self.probe(self.get(number));
            self.enter(place, number);
        }
    }

    /// The position of the slice in the table, or of its vacancy.
    fn probe(&self, slice: &[T]) -> usize {
        let mask = self.table.len() - 1;
        let mut place = self.hash(slice) & mask;
        loop {
            match self.table.get(place) {
                Some(&entry) if entry != 0 && self.get(entry - 1) != slice => place = (place + 1) & mask,
                _ => return place,
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "a table has fewer than 2^32 places")]
    fn hash(&self, slice: &[T]) -> usize {
        let start = self.seed ^ slice.len() as u64;
        let hash = T::words(slice).fold(start, |hash, word| mix(hash ^ word, self.seed | 1));
        mix(hash, 0x9e37_79b9_7f4a_7c15) as usize
    }
}

/// Both halves of the product, so that each bit of the result depends on every bit of the factors.
#[expect(clippy::cast_possible_truncation, reason = "the halves are what is wanted")]
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_slices_have_one_number_and_keep_it() {
        let mut strings = Interner::<u8>::new();
        let text = |n: u32| format!("string {}", n % 1000);
        let first: Vec<u32> = (0..1000).map(|n| strings.intern(text(n).as_bytes())).collect();
        let again: Vec<u32> = (1000..2000).map(|n| strings.intern(text(n).as_bytes())).collect();
        assert_eq!(first, (0..1000).collect::<Vec<_>>());
        assert_eq!(first, again);
        assert_eq!((strings.get(7), strings.len()), (&b"string 7"[..], 1000));
        assert_eq!((strings.find(b"string 999"), strings.find(b"string 1000")), (Some(999), None));
    }

    #[test]
    fn slices_that_differ_only_in_length_differ() {
        let mut strings = Interner::<u8>::new();
        let numbers: Vec<u32> = (0..40).map(|length| strings.intern(&vec![0; length])).collect();
        assert_eq!(numbers, (0..40).collect::<Vec<_>>());
    }
}
