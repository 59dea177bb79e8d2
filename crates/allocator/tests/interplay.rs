//! `max_split_size_mb` together with `expandable_segments`: reserved memory that grows without bound.
//!
//! The figures are measurements by the author of PyTorch's pull request 193400 (for issue 123548) on a 16 GiB GPU with
//! torch 2.12. Each cycle allocates 91 and 45.5 MiB, then 2 MiB that stay, and frees the first two. The result is a
//! free block of 136.5 MiB, which is oversize: no smaller request may use the block, and the 2 MiB block separates it
//! from the unmapped space at the end, so the block cannot grow into a fit either. Every cycle maps new pages.
#![expect(clippy::unwrap_used, reason = "a test")]

use allocator::{Allocator, Rules, Settings, SimulatedDevice};
use trace::{Bytes, Release, Stream};

const MIB: u64 = 1 << 20;

/// Reserved and allocated MiB after the cycles of `cycles`.
fn run(settings: Settings, stays: bool, cycles: &[u64]) -> Vec<(u64, u64)> {
    let device = SimulatedDevice::new(16 << 30, 0);
    let mut allocator = Allocator::new(Rules::of(Release { major: 2, minor: 12 }), settings, device, ());
    let malloc =
        |allocator: &mut Allocator<_>, kib: u64| allocator.malloc(Bytes(kib << 10), Stream::default()).unwrap();
    malloc(&mut allocator, 64 << 10);
    let mut seen = Vec::new();
    for cycle in 0..=*cycles.last().unwrap() {
        let first = malloc(&mut allocator, 91 << 10);
        let second = malloc(&mut allocator, 45 * 1024 + 512);
        let fence = malloc(&mut allocator, 2 << 10);
        allocator.free(first);
        allocator.free(second);
        if !stays {
            allocator.free(fence);
        }
        if cycles.contains(&cycle) {
            let counted = allocator.stats();
            seen.push((counted.reserved_bytes.all.current / MIB, counted.allocated_bytes.all.current / MIB));
        }
    }
    seen
}

fn settings(max_split: bool, expandable_segments: bool) -> Settings {
    Settings { max_split_size: max_split.then_some(Bytes(128 * MIB)), expandable_segments, ..Settings::default() }
}

#[test]
fn together_they_grow_as_was_measured() {
    let cycles = [0, 20, 40, 60, 80, 100];
    let expected = [(220, 66), (2980, 106), (5760, 146), (8520, 186), (11_300, 226), (14_060, 266)];
    assert_eq!(run(settings(true, true), true, &cycles), expected);
}

#[test]
fn either_alone_or_without_the_block_that_stays_nothing_grows() {
    for (max_split, expandable, stays) in
        [(false, false, true), (true, false, true), (false, true, true), (false, false, false), (true, true, false)]
    {
        let seen = run(settings(max_split, expandable), stays, &[100]);
        assert!(seen[0].0 < 500, "max_split {max_split}, expandable {expandable}, stays {stays}: {seen:?}");
    }
}
