//! The account of a device's memory: cases worked out by hand, and what holds for every history whatever.
#![expect(clippy::unwrap_used, reason = "a test")]

use proptest::prelude::*;
use trace::{
    Action, Address, Allocations, Bytes, Change, Event, EventIndex, Inconsistency, Occupancy, Peak, Settings, StackId,
    Stream, allocations,
};

const MIB: u64 = 1 << 20;

fn event(action: Action, address: u64, size: u64) -> Event {
    let (address, size) = (Address(address), Bytes(size));
    Event { action, address, size, stream: Stream(0), stack: StackId::EMPTY, mark: None }
}

fn walk(events: &[(Action, u64, u64)]) -> Allocations {
    let trace: Vec<Event> = events.iter().map(|&(action, address, size)| event(action, address, size)).collect();
    allocations(&trace, &Settings::default())
}

#[test]
fn a_block_ends_where_the_next_begins_or_the_rest_is_not_worth_cutting_off() {
    use Action::{Alloc, FreeCompleted, FreeRequested, SegmentAlloc};
    let found = walk(&[
        (SegmentAlloc, 0, 20 * MIB),
        (Alloc, 0, 4 * MIB),
        (Alloc, 4 * MIB, 4 * MIB + 1),
        (Alloc, 8 * MIB + 512, 11 * MIB), // leaves 1 MiB - 512: all of it
        (FreeRequested, 4 * MIB, 0),
        (FreeCompleted, 4 * MIB, 0),
        (Alloc, 4 * MIB, 4 * MIB), // 512 bytes more, up to the third
    ]);
    let blocks: Vec<u64> = found.list.iter().map(|lifetime| lifetime.allocation.block.0).collect();
    assert_eq!(blocks, [4 * MIB, 4 * MIB + 512, 12 * MIB - 512, 4 * MIB + 512]);
    assert_eq!(found.allocated_at_end, Bytes(20 * MIB));
    assert_eq!(found.inconsistencies, []);
}

#[test]
fn the_peak_is_the_first_event_with_the_largest_total() {
    use Action::{Alloc, FreeCompleted, FreeRequested, SegmentAlloc, SegmentFree};
    let found = walk(&[
        (SegmentAlloc, 0, 2 * MIB),
        (Alloc, 0, 512),
        (Alloc, 512, 512), // 2: the peak
        (FreeRequested, 512, 512),
        (Alloc, 1024, 512), // as much again
        (FreeCompleted, 512, 512),
        (FreeRequested, 0, 512),
        (FreeCompleted, 0, 512),
        (FreeRequested, 1024, 512),
        (FreeCompleted, 1024, 512),
        (SegmentFree, 0, 2 * MIB),
    ]);
    assert_eq!(found.allocated_peak, Some(Peak { event: EventIndex(2), bytes: Bytes(1024) }));
    assert_eq!(found.reserved_peak, Some(Peak { event: EventIndex(0), bytes: Bytes(2 * MIB) }));
    assert_eq!((found.allocated_at_end, found.reserved_at_end), (Bytes(0), Bytes(0)));
    let live = |event| found.live_after(EventIndex(event)).map(|live| live.allocation.address.0).collect::<Vec<_>>();
    assert_eq!((live(0), live(2), live(3), live(4)), (vec![], vec![0, 512], vec![0], vec![0, 1024]));
    let freed: Vec<_> = found.list.iter().map(|lifetime| (lifetime.free_requested, lifetime.free_completed)).collect();
    let times = [(6, 7), (3, 5), (8, 9)].map(|(a, b)| (Some(EventIndex(a)), Some(EventIndex(b))));
    assert_eq!(freed, times);
}

#[test]
fn a_history_without_its_beginning_is_walked_and_says_so() {
    use Action::{Alloc, FreeCompleted, FreeRequested, SegmentFree};
    let found = walk(&[
        (FreeRequested, 0, 512),
        (FreeCompleted, 0, 512),
        (FreeCompleted, 4096, 512),
        (SegmentFree, 0, 2 * MIB),
        (Alloc, 8192, 700),
    ]);
    assert_eq!((found.unknown_frees, found.inconsistencies.len()), (2, 0));
    assert_eq!(found.allocated_at_end, Bytes(1024));
}

#[test]
fn mapped_ranges_join_and_are_cut() {
    use Action::{Alloc, FreeCompleted, SegmentMap, SegmentUnmap};
    let found = walk(&[
        (SegmentMap, 0, 20 * MIB),
        (SegmentMap, 20 * MIB, 20 * MIB),
        (Alloc, 0, 30 * MIB),
        (FreeCompleted, 0, 30 * MIB),
        (SegmentUnmap, 20 * MIB, 20 * MIB),
        (Alloc, 0, 20 * MIB - 512),
    ]);
    assert_eq!(found.inconsistencies, []);
    let blocks: Vec<u64> = found.list.iter().map(|lifetime| lifetime.allocation.block.0).collect();
    assert_eq!(blocks, [30 * MIB, 20 * MIB - 512]);
    assert_eq!((found.reserved_peak.unwrap().bytes, found.reserved_at_end), (Bytes(40 * MIB), Bytes(20 * MIB)));
}

#[test]
fn mapped_ranges_of_different_streams_do_not_join() {
    let other = |event: Event| Event { stream: Stream(7), ..event };
    let trace = [
        event(Action::SegmentMap, 0, 2 * MIB),
        other(event(Action::SegmentMap, 2 * MIB, 2 * MIB)),
        event(Action::Alloc, 0, 3 * MIB),
    ];
    let found = allocations(&trace, &Settings::default());
    let (event, address) = (EventIndex(2), Address(0));
    let (requested, free) = (Bytes(3 * MIB), Bytes(2 * MIB));
    assert_eq!(found.inconsistencies, [Inconsistency::NoRoom { event, address, requested, free }]);
}

#[test]
fn events_that_contradict_each_other_are_named_and_left_out() {
    use Action::{Alloc, SegmentAlloc, SegmentFree};
    let found = walk(&[
        (SegmentAlloc, 0, 2 * MIB),
        (Alloc, 0, 1024),
        (Alloc, 512, 512),
        (Alloc, 2 * MIB - 512, 513),
        (SegmentAlloc, MIB, MIB),
        (SegmentFree, 0, 2 * MIB),
    ]);
    let texts: Vec<String> = found.inconsistencies.iter().map(ToString::to_string).collect();
    let expected = [
        "event 2 hands out 0x200, inside the block at 0x0 that is still in use",
        "event 3 hands out 513 bytes at 0x1ffe00, where only 512 are free",
        "event 4 obtains device memory at 0x100000, which overlaps the segment at 0x0",
        "event 5 gives back device memory at 0x0, in which the block at 0x0 is in use",
    ];
    assert_eq!(texts, expected);
    assert_eq!((found.allocated_at_end, found.reserved_at_end), (Bytes(1024), Bytes(2 * MIB)));
}

proptest! {
    /// Most of these histories are nonsense. The account adds up after each of their events all the same.
    #[test]
    fn every_account_adds_up(trace in proptest::collection::vec(any_event(), 0..60), expandable: bool) {
        let settings = Settings { expandable_segments: expandable, ..Settings::default() };
        let mut occupancy = Occupancy::new(&settings);
        let mut counted = Vec::new();
        for (index, event) in (0..).map(EventIndex).zip(&trace) {
            let before = totals(&occupancy);
            let change = occupancy.apply(index, event);
            check_change(before, &occupancy, change)?;
            check_blocks(&occupancy)?;
            counted.push(occupancy.allocated());
        }
        check_lifetimes(&counted, &allocations(&trace, &settings))?;
    }

    /// Where all memory was seen being obtained, nothing is outside it.
    #[test]
    fn allocated_is_within_active_is_within_reserved(mut trace in proptest::collection::vec(any_event(), 0..60)) {
        let keeps = |event: &Event| !matches!(event.action, Action::SegmentFree | Action::SegmentUnmap);
        trace.retain(keeps);
        trace.insert(0, event(Action::SegmentAlloc, 0, 64 * MIB));
        let mut occupancy = Occupancy::new(&Settings::default());
        for (index, event) in (0..).map(EventIndex).zip(&trace) {
            let _ = occupancy.apply(index, event);
            let (allocated, active, reserved) = totals(&occupancy);
            prop_assert!(allocated <= active && active <= reserved);
        }
    }
}

fn totals(occupancy: &Occupancy) -> (Bytes, Bytes, Bytes) {
    (occupancy.allocated(), occupancy.active(), occupancy.reserved())
}

/// The totals changed by what the change says and by nothing else.
fn check_change(
    before: (Bytes, Bytes, Bytes),
    after: &Occupancy,
    change: Result<Change, Inconsistency>,
) -> Result<(), TestCaseError> {
    let (allocated, active, reserved) = before;
    let expected = match change {
        Ok(Change::Allocated(new)) => (allocated + new.block, active + new.block, reserved),
        Ok(Change::FreeRequested(old)) => (allocated - old.block, active, reserved),
        Ok(Change::FreeCompleted(old)) => (allocated, active - old.block, reserved),
        Ok(Change::Freed(old)) => (allocated - old.block, active - old.block, reserved),
        Ok(Change::Reserved(size)) => (allocated, active, reserved + size),
        Ok(Change::Released(size)) => (allocated, active, reserved - size),
        Ok(Change::Unknown | Change::Nothing) | Err(_) => before,
    };
    prop_assert_eq!(totals(after), expected);
    Ok(())
}

fn check_blocks(occupancy: &Occupancy) -> Result<(), TestCaseError> {
    let live: Vec<_> = occupancy.live().collect();
    prop_assert_eq!(live.iter().map(|block| block.block).sum::<Bytes>(), occupancy.allocated());
    for pair in live.windows(2) {
        prop_assert!(pair[0].address.offset(pair[0].block.0) <= pair[1].address);
    }
    prop_assert!(live.iter().all(|block| block.requested <= block.block));
    Ok(())
}

/// What the lifetimes say of every instant is what the walk counted there, and the peak is the first largest of it.
fn check_lifetimes(counted: &[Bytes], found: &Allocations) -> Result<(), TestCaseError> {
    for (index, &allocated) in (0..).map(EventIndex).zip(counted) {
        prop_assert_eq!(found.allocated_after(index), allocated);
    }
    let largest = counted.iter().copied().max().filter(|&bytes| bytes > Bytes::ZERO);
    let first = largest.and_then(|largest| counted.iter().position(|&bytes| bytes == largest));
    prop_assert_eq!(found.allocated_peak.map(|peak| (peak.event.0 as usize, peak.bytes)), first.zip(largest));
    Ok(())
}

fn any_event() -> impl Strategy<Value = Event> {
    use Action::{Alloc, FreeCompleted, FreeRequested, Oom, SegmentAlloc, SegmentFree, SegmentMap, SegmentUnmap};
    let small = (prop::sample::select(&[Alloc, FreeRequested, FreeCompleted][..]), 0..16u64, 0..4096u64);
    let large = (prop::sample::select(&[Alloc, FreeRequested, FreeCompleted][..]), 0..16u64, 0..8 * MIB);
    let segments = (
        prop::sample::select(&[SegmentAlloc, SegmentMap, SegmentFree, SegmentUnmap, Oom][..]),
        0..16u64,
        (1..4u64).prop_map(|n| n * 2 * MIB),
    );
    prop_oneof![
        4 => small.prop_map(|(action, at, size)| event(action, at * 512, size)),
        2 => large.prop_map(|(action, at, size)| event(action, at * 2 * MIB, size)),
        2 => segments.prop_map(|(action, at, size)| event(action, at * 2 * MIB, size)),
    ]
}
