//! A set of disjoint ranges: the used part of the address space.

use std::ops::Range;

/// Disjoint ranges in ascending order, none of which touches the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Busy(Vec<Range<u64>>);

impl Busy {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a range. Overlaps with earlier ranges are merged.
    pub(super) fn insert(&mut self, new: &Range<u64>) {
        let first = self.0.partition_point(|range| range.end < new.start);
        let touched = self.0[first..].iter().take_while(|range| range.start <= new.end).count();
        let Some(last) = touched.checked_sub(1).map(|more| first + more) else {
            return self.0.insert(first, new.clone());
        };
        let joined = self.0[first].start.min(new.start)..self.0[last].end.max(new.end);
        self.0[first] = joined;
        self.0.drain(first + 1..=last);
    }

    /// The lowest address from `from` on with `size` free bytes. `next` is the index of the first range to check, and
    /// moves on to the first range behind the result, so that a later call with a higher `from` continues there.
    pub(super) fn fit(&self, from: u64, size: u64, next: &mut u32) -> u64 {
        let mut place = from;
        for range in &self.0[*next as usize..] {
            if range.end > place {
                if range.start >= place + size {
                    break;
                }
                place = range.end;
            }
            *next += 1;
        }
        place
    }
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "lists of ranges, of which some have one")]
mod tests {
    use super::*;

    #[test]
    fn ranges_join_where_they_touch() {
        let check = |ranges: &[Range<u64>], expected: &[Range<u64>]| {
            let mut busy = Busy::default();
            for range in ranges {
                busy.insert(range);
            }
            assert_eq!(busy.0, expected, "{ranges:?}");
        };
        check(&[4..6, 0..2], &[0..2, 4..6]);
        check(&[4..6, 0..2, 2..4], &[0..6]);
        check(&[0..2, 4..6, 8..10, 1..9], &[0..10]);
        check(&[0..9, 3..4], &[0..9]);
        check(&[3..4, 0..9], &[0..9]);
    }

    #[test]
    fn the_lowest_room_that_is_large_enough_is_found() {
        let check = |from: u64, size: u64, expected: u64| {
            let busy = Busy(vec![2..4, 5..8, 10..12]);
            assert_eq!(busy.fit(from, size, &mut 0), expected, "{size} from {from}");
        };
        check(0, 2, 0);
        check(0, 3, 12);
        check(1, 1, 1);
        check(1, 2, 8);
        check(3, 1, 4);
        check(6, 2, 8);
        check(20, 5, 20);
    }
}
