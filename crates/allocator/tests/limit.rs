//! Packings are valid, and are the best where the best is known.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;

use allocator::limit::{AlivePeak, Buffer, GRANULE, Method, Packing, TooLarge, pack, peak_alive_bytes};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use trace::Bytes;

/// A buffer of a number of granules.
fn buffer(start: u32, end: u32, granules: u64) -> Buffer {
    Buffer { start, end, size: Bytes(granules * GRANULE.0) }
}

/// The packing, after a check of its validity.
fn packed(buffers: &[Buffer]) -> Packing {
    let packing = pack(buffers).unwrap();
    assert_eq!(packing.offsets.len(), buffers.len());
    assert_eq!(packing.bound, peak_alive_bytes(buffers));
    assert!(packing.peak >= packing.bound.bytes, "{packing:?}");
    assert_eq!(packing.peak, highest_end(buffers, &packing.offsets));
    no_two_overlap(buffers, &packing.offsets);
    packing
}

fn is_ever_alive(buffer: &Buffer) -> bool {
    buffer.start < buffer.end
}

fn rounded(buffer: &Buffer) -> u64 {
    buffer.size.0.max(1).next_multiple_of(512)
}

fn highest_end(buffers: &[Buffer], offsets: &[u64]) -> Bytes {
    let alive = buffers.iter().zip(offsets).filter(|(buffer, _)| is_ever_alive(buffer));
    Bytes(alive.map(|(buffer, offset)| offset + rounded(buffer)).max().unwrap_or(0))
}

/// Walks through time with the ranges in use, and checks the neighbours of each new range.
fn no_two_overlap(buffers: &[Buffer], offsets: &[u64]) {
    let alive = || buffers.iter().zip(offsets).filter(|(buffer, _)| is_ever_alive(buffer));
    let begins = alive().map(|(buffer, &offset)| (buffer.start, true, offset, offset + rounded(buffer)));
    let ends = alive().map(|(buffer, &offset)| (buffer.end, false, offset, offset + rounded(buffer)));
    let mut turns: Vec<(u32, bool, u64, u64)> = begins.chain(ends).collect();
    turns.sort_unstable();
    let mut used: BTreeMap<u64, u64> = BTreeMap::new();
    for (when, begins, offset, end) in turns {
        assert_eq!(offset % 512, 0);
        if !begins {
            assert_eq!(used.remove(&offset), Some(end));
            continue;
        }
        let below = used.range(..=offset).next_back();
        assert!(below.is_none_or(|(_, &below)| below <= offset), "at {when}: {offset} lies inside another");
        let above = used.range(offset..).next();
        assert!(above.is_none_or(|(&above, _)| end <= above), "at {when}: {offset} runs into another");
        used.insert(offset, end);
    }
}

#[test]
fn the_most_alive_at_once() {
    let check = |buffers: &[Buffer], granules: u64, at: u32| {
        let expected = AlivePeak { bytes: Bytes(granules * 512), at };
        assert_eq!(peak_alive_bytes(buffers), expected, "{buffers:?}");
        assert_eq!(packed(buffers).bound, expected, "{buffers:?}");
    };
    check(&[], 0, 0);
    check(&[buffer(3, 4, 7)], 7, 3);
    check(&[buffer(0, 2, 1), buffer(2, 4, 1)], 1, 0); // one ends where the other begins
    check(&[buffer(2, 4, 1), buffer(0, 3, 1)], 2, 2); // in any order
    check(&[buffer(5, Buffer::TO_THE_END, 2), buffer(0, 9, 1), buffer(8, 9, 1)], 4, 8);
    check(&[buffer(4, 4, 9), buffer(6, 5, 9), buffer(0, 1, 1)], 1, 0); // never alive
    check(&[Buffer { start: 0, end: 1, size: Bytes(0) }], 1, 0); // no block is smaller than a granule
    check(&[Buffer { start: 0, end: 1, size: Bytes(513) }], 2, 0);
}

#[test]
fn sizes_that_no_address_can_hold_are_refused() {
    let huge = Buffer { start: 0, end: 1, size: Bytes(u64::MAX) };
    let found = pack(&[huge, huge]).unwrap_err();
    assert_eq!(found, TooLarge { found: 2 << 64 });
    assert_eq!(peak_alive_bytes(&[huge, huge]).bytes, Bytes(u64::MAX));
}

/// Best fit in the order of time puts the buffer that stays (3) above the one that goes (2), and has no space for 4
/// below.
#[test]
fn knowing_the_future_helps() {
    let buffers = [buffer(0, 2, 3), buffer(1, 9, 2), buffer(3, 9, 4)];
    let packing = packed(&buffers);
    assert_eq!(packing.peak, Bytes(6 * 512));
    assert!(matches!(packing.method, Method::FirstFit(_)), "{packing:?}");
    assert!(packing.is_optimal());
    assert!(packing.gap() == 0.0);
}

fn alive_together(a: &Buffer, b: &Buffer) -> bool {
    a.start.max(b.start) < a.end.min(b.end)
}

/// The lowest end among all packings whose offsets are sums of sizes: every packing can be pushed down into such a
/// packing.
fn best_by_sums(buffers: &[Buffer]) -> u64 {
    let sums: Vec<u64> = (0..1usize << buffers.len())
        .map(|set| buffers.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1).map(|(_, b)| rounded(b)).sum())
        .collect();
    let mut best = u64::MAX;
    try_sums(buffers, &sums, &mut Vec::new(), 0, &mut best);
    best
}

fn try_sums(buffers: &[Buffer], sums: &[u64], offsets: &mut Vec<u64>, peak: u64, best: &mut u64) {
    let Some(next) = buffers.get(offsets.len()) else {
        *best = peak;
        return;
    };
    for &offset in sums {
        let end = offset + rounded(next);
        let collides =
            |(other, &at): (&Buffer, &u64)| alive_together(next, other) && at < end && offset < at + rounded(other);
        if end.max(peak) < *best && !buffers.iter().zip(offsets.iter()).any(collides) {
            offsets.push(offset);
            try_sums(buffers, sums, offsets, end.max(peak), best);
            offsets.pop();
        }
    }
}

/// The lowest end of first fit over all orders of the buffers.
fn best_by_orders(buffers: &[Buffer]) -> u64 {
    let mut best = u64::MAX;
    try_orders(buffers, &mut Vec::new(), 0, &mut best);
    best
}

fn try_orders(buffers: &[Buffer], placed: &mut Vec<(usize, u64)>, peak: u64, best: &mut u64) {
    if placed.len() == buffers.len() {
        *best = peak.min(*best);
    }
    for next in 0..buffers.len() {
        if placed.iter().all(|&(other, _)| other != next) {
            let offset = lowest(buffers, placed, next);
            let end = offset + rounded(&buffers[next]);
            placed.push((next, offset));
            try_orders(buffers, placed, end.max(peak), best);
            placed.pop();
        }
    }
}

fn lowest(buffers: &[Buffer], placed: &[(usize, u64)], next: usize) -> u64 {
    let mut others: Vec<(u64, u64)> = placed
        .iter()
        .filter(|&&(other, _)| alive_together(&buffers[next], &buffers[other]))
        .map(|&(other, at)| (at, at + rounded(&buffers[other])))
        .collect();
    others.sort_unstable();
    let mut offset = 0;
    for (start, end) in others {
        if start >= offset + rounded(&buffers[next]) {
            break;
        }
        offset = offset.max(end);
    }
    offset
}

/// Up to `count` buffers in `time` moments, of up to `size` granules.
fn some_buffers(count: usize, time: u32, size: u64) -> impl Strategy<Value = Vec<Buffer>> {
    let one = (0..time, 1..=time, 1..=size).prop_map(|(start, length, size)| buffer(start, start + length, size));
    prop::collection::vec(one, 1..=count)
}

/// The best packing is found by trying all. Where the bound is not reached, the search may miss the best, but seldom.
#[test]
fn few_buffers_are_packed_as_well_as_possible() {
    let mut runner = TestRunner::deterministic();
    let strategy = some_buffers(6, 8, 6);
    let mut missed = 0;
    for _ in 0..2000 {
        let buffers = strategy.new_tree(&mut runner).unwrap().current();
        let packing = packed(&buffers);
        if !packing.is_optimal() {
            let best = best_by_orders(&buffers);
            assert!(packing.peak.0 >= best, "{buffers:?}");
            missed += u32::from(packing.peak.0 > best);
        }
    }
    assert!(missed <= 4, "missed {missed} of 2000");
}

proptest! {
    #[test]
    fn no_two_buffers_overlap(buffers in some_buffers(120, 200, 64)) {
        packed(&buffers);
    }

    #[test]
    fn nor_do_short_ones(buffers in some_buffers(200, 30, 1000)) {
        packed(&buffers);
    }

    /// Note [Orders suffice].
    #[test]
    fn some_order_makes_first_fit_best(buffers in some_buffers(4, 6, 5)) {
        prop_assert_eq!(best_by_orders(&buffers), best_by_sums(&buffers));
    }

    #[test]
    fn the_same_buffers_are_packed_the_same_way(buffers in some_buffers(60, 60, 60)) {
        prop_assert_eq!(packed(&buffers), packed(&buffers));
    }
}
