//! The account of a device's memory: cases computed by hand.
#![expect(clippy::unwrap_used, reason = "a test")]

mod recorded;

use recorded::allocator::Allocator;
use trace::{
    Action, Address, Bytes, Event, EventIndex, History, Lifetime, Moment, Peak, PoolId, SnapshotSettings, StackTable,
    Steps, Time, Totals, UnknownAction,
};

const MIB: u64 = 1 << 20;

fn event(action: Action, address: u64, size: u64) -> Event {
    Event::new(action, Address(address), Bytes(size))
}

/// An event: its action, address, size.
type Said = (Action, u64, u64);

fn walk(events: &[Said]) -> History {
    let trace: Vec<Event> = events.iter().map(|&(action, address, size)| event(action, address, size)).collect();
    History::walk(&trace, None, &SnapshotSettings::default())
}

fn blocks(history: &History) -> Vec<u64> {
    history.lifetimes().iter().map(|life| life.block.0).collect()
}

#[test]
fn a_lifetime_takes_40_bytes() {
    assert_eq!(size_of::<Lifetime>(), 40);
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
    assert_eq!(blocks(&found), [4 * MIB, 4 * MIB + 512, 12 * MIB - 512, 4 * MIB + 512]);
    assert_eq!(found.at_end().allocated, Bytes(20 * MIB));
    assert_eq!(found.inconsistencies().first, []);
}

#[test]
fn events_of_unknown_kinds_count_for_nothing() {
    use Action::{Alloc, FreeCompleted, FreeRequested, SegmentAlloc};
    let known = [
        (SegmentAlloc, 0, 20 * MIB),
        (Alloc, 0, 4 * MIB),
        (Alloc, 4 * MIB, 4 * MIB),
        (FreeRequested, 0, 4 * MIB),
        (FreeCompleted, 0, 4 * MIB),
        (Alloc, 0, 2 * MIB),
    ];
    let unknown = (Action::Unknown(UnknownAction(0)), 4 * MIB, 4 * MIB);
    let mixed: Vec<Said> = known.iter().flat_map(|&said| [unknown, said]).collect();
    let (plain, mixed) = (walk(&known), walk(&mixed));
    assert_eq!(blocks(&mixed), blocks(&plain));
    assert_eq!((mixed.at_end(), mixed.peaks().allocated.unwrap().bytes), (plain.at_end(), Bytes(8 * MIB)));
    assert_eq!(mixed.event_count(), 12);
    assert_eq!(mixed.inconsistencies().first, []);
}

#[test]
fn blocks_of_the_size_that_is_never_split_get_their_segment() {
    use Action::{Alloc, SegmentAlloc};
    let trace = [
        event(SegmentAlloc, 0, 64 * MIB),
        event(Alloc, 0, 40 * MIB),
        event(SegmentAlloc, 64 * MIB, 20 * MIB),
        event(Alloc, 64 * MIB, 5 * MIB),
    ];
    let settings = SnapshotSettings { max_split_size: Some(Bytes(32 * MIB)), ..SnapshotSettings::default() };
    assert_eq!(blocks(&History::walk(&trace, None, &settings)), [64 * MIB, 5 * MIB]);
}

#[test]
fn while_expandable_segments_are_on_small_rests_are_cut_off_everywhere() {
    use Action::{Alloc, SegmentAlloc, SegmentMap};
    let most = 19 * MIB + MIB / 2;
    let found = walk(&[
        (SegmentAlloc, 0, 20 * MIB),
        (SegmentMap, 1 << 40, 2 * MIB),
        (Alloc, 0, most),
        (SegmentAlloc, 64 * MIB, 20 * MIB), // they are off again
        (Alloc, 64 * MIB, most),
    ]);
    assert_eq!(blocks(&found), [most, 20 * MIB]);
}

#[test]
fn blocks_of_a_pool_that_is_never_split_get_their_segment() {
    let mut allocator = Allocator::default();
    let address = allocator.alloc(100, 1);
    allocator.request_free(address);
    allocator.complete_free(address);
    allocator.alloc(200, 1);
    let mut dump = allocator.dump();
    dump[0].pool = PoolId::from_index(1);
    dump[0].blocks.truncate(1);
    dump[0].blocks[0].size = Bytes(2 * MIB);
    let found = History::walk(&allocator.events, Some(&[&dump[0]]), &SnapshotSettings::default());
    assert_eq!((blocks(&found), found.inconsistencies().count), (vec![2 * MIB; 2], 0));
}

#[test]
fn the_peak_is_the_first_event_with_the_largest_total() {
    use Action::{Alloc, FreeCompleted, FreeRequested, SegmentAlloc, SegmentFree};
    let found = walk(&[
        (SegmentAlloc, 0, 2 * MIB),
        (Alloc, 0, 512),
        (Alloc, 512, 512), // 2: the peak
        (FreeRequested, 512, 512),
        (Alloc, 1024, 512), // as much again, but more is active
        (FreeCompleted, 512, 512),
        (FreeRequested, 0, 512),
        (FreeCompleted, 0, 512),
        (FreeRequested, 1024, 512),
        (FreeCompleted, 1024, 512),
        (SegmentFree, 0, 2 * MIB),
    ]);
    let peak = |event, bytes| Some(Peak { at: Moment::after(EventIndex(event)), bytes: Bytes(bytes) });
    let peaks = found.peaks();
    assert_eq!((peaks.allocated, peaks.active), (peak(2, 1024), peak(4, 1536)));
    assert_eq!((peaks.reserved, peaks.requested), (peak(0, 2 * MIB), peak(4, 1536)));
    assert_eq!(found.at_end(), Totals::default());
    assert!(found.is_whole());
    let live = |event| found.live_after(EventIndex(event)).map(|live| live.address.0).collect::<Vec<_>>();
    assert_eq!((live(0), live(2), live(3), live(4)), (vec![], vec![0, 512], vec![0], vec![0, 1024]));
    let freed =
        found.lifetimes().iter().map(|life| (life.free_requested.event_before(), life.free_completed.event_before()));
    let times = [(6, 7), (3, 5), (8, 9)].map(|(a, b)| (Some(EventIndex(a)), Some(EventIndex(b))));
    assert_eq!(freed.collect::<Vec<_>>(), times);
}

#[test]
fn what_is_freed_without_having_been_handed_out_is_older_than_the_history() {
    use Action::{Alloc, FreeCompleted, FreeRequested, SegmentFree};
    let found = walk(&[
        (FreeRequested, 0, 512),
        (FreeCompleted, 0, 512),
        (FreeCompleted, 4096, 700), // freed before the history
        (SegmentFree, 0, 2 * MIB),
        (Alloc, 2 * MIB, 700),
    ]);
    assert_eq!(found.inconsistencies().first, []);
    assert!(!found.is_whole());
    let start = Totals { allocated: Bytes(512), active: Bytes(1536), reserved: Bytes(2 * MIB), requested: Bytes(1212) };
    assert_eq!(found.at_start(), start);
    assert_eq!(found.peaks().active, Some(Peak { at: Moment::BEFORE, bytes: Bytes(1536) }));
    assert_eq!(found.at_end().allocated, Bytes(1024));
}

/// `skip_actions` can leave out kinds of events, and some tools write fewer.
#[test]
fn kinds_of_events_that_were_not_recorded_are_done_without() {
    use Action::{Alloc, FreeCompleted, FreeRequested};
    let cases: [(&str, &[Said]); 2] = [
        ("no completions", &[(FreeRequested, 512, 512), (Alloc, 0, 512), (FreeRequested, 0, 512), (Alloc, 0, 512)]),
        ("no requests", &[(FreeCompleted, 512, 512), (Alloc, 0, 512), (FreeCompleted, 0, 512), (Alloc, 0, 512)]),
    ];
    for (name, events) in cases {
        let found = walk(events);
        assert_eq!(found.inconsistencies().first, [], "{name}");
        let allocated: Vec<u64> = found.totals().map(|totals| totals.allocated.0).collect();
        assert_eq!(allocated, [0, 512, 0, 512], "{name}");
        let active: Vec<u64> = found.totals().map(|totals| totals.active.0).collect();
        assert_eq!((found.at_start().allocated, active), (Bytes(512), vec![0, 512, 0, 512]), "{name}");
    }
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
    assert_eq!(found.inconsistencies().first, []);
    assert_eq!(blocks(&found), [30 * MIB, 20 * MIB - 512]);
    assert_eq!(found.peaks().reserved.unwrap().bytes, Bytes(40 * MIB));
    let segments = |event| -> Vec<u64> {
        let state = found.state_after(EventIndex(event));
        state.segments.iter().map(|segment| segment.size.0).collect()
    };
    assert_eq!((segments(0), segments(3), segments(5)), (vec![20 * MIB], vec![40 * MIB], vec![20 * MIB]));
}

#[test]
fn events_that_contradict_each_other_are_named_and_left_out() {
    use Action::{Alloc, FreeCompleted, FreeRequested, SegmentAlloc, SegmentFree};
    let found = walk(&[
        (SegmentAlloc, 0, 20 * MIB),
        (Alloc, 0, 4 * MIB),
        (Alloc, 0, 512),
        (Alloc, 16 * MIB, 4 * MIB),
        (SegmentAlloc, MIB, MIB),
        (SegmentFree, 32 * MIB, 2 * MIB),
        (SegmentFree, 32 * MIB, 2 * MIB),
        (FreeRequested, 0, 0),
        (FreeRequested, 0, 0),
        (FreeCompleted, 0, 0),
        (FreeCompleted, 0, 0),
        (Alloc, 10 * MIB, 6 * MIB + 512),
    ]);
    let texts: Vec<String> = found.inconsistencies().first.iter().map(ToString::to_string).collect();
    let expected = [
        "event 2 allocates 0x0, which is still in use",
        "event 8 frees 0x0, which is free already",
        "event 10 frees 0x0, which is free already",
        "event 4 reserves device memory at 0x100000, which overlaps the segment at 0x0",
        "event 6 releases device memory at 0x2000000, which is not reserved",
        "event 11 allocates 6291968 bytes at 0xa00000, where only 6291456 are free",
    ];
    assert_eq!(texts, expected);
    assert_eq!((found.at_end().allocated, found.at_end().reserved), (Bytes(10 * MIB + 512), Bytes(20 * MIB)));
}

#[test]
fn a_failed_request_has_the_counters_and_the_free_blocks_of_its_moment() {
    use Action::{Alloc, FreeCompleted, Oom, SegmentAlloc};
    let found = walk(&[
        (SegmentAlloc, 0, 20 * MIB),
        (Alloc, 0, 4 * MIB),
        (Alloc, 4 * MIB, 6 * MIB),
        (Alloc, 10 * MIB, 2 * MIB),
        (FreeCompleted, 4 * MIB, 6 * MIB),
        (SegmentAlloc, 32 * MIB, 2 * MIB),
        (Oom, 5 * MIB, 30 * MIB),
        (FreeCompleted, 0, 4 * MIB),
    ]);
    let [oom] = found.ooms() else { panic!("{:?}", found.ooms()) };
    assert_eq!((oom.event, oom.requested, oom.device_free), (EventIndex(6), Bytes(30 * MIB), Bytes(5 * MIB)));
    assert_eq!((oom.totals.allocated, oom.capacity()), (Bytes(6 * MIB), Bytes(27 * MIB)));
    assert_eq!(found.free_blocks_at(oom, |_| true).serving, Bytes(8 * MIB));
    let state = found.state_after(oom.event);
    let spread = state.fragmentation();
    assert_eq!((spread.free, spread.inactive_split), (Bytes(16 * MIB), Bytes(14 * MIB)));
    assert_eq!((spread.free_blocks, spread.used_segments, spread.segments), (3, 1, 2));
}

/// The memory that remains of the set-up in [`leaking_steps`].
const SETUP: u64 = 30 * MIB + 512;

/// Six steps of a loop over lines 10 to 29; each keeps the block of line 12, which is freed two steps later.
fn leaking_steps() -> (Allocator, Vec<EventIndex>) {
    let mut allocator = Allocator::default();
    let mut first_events = Vec::new();
    (0..30).for_each(|_| _ = allocator.alloc(MIB, 1));
    allocator.alloc(512, 1);
    let mut kept = Vec::new();
    for _ in 0..6 {
        first_events.push(EventIndex(u32::try_from(allocator.events.len()).unwrap()));
        for line in 10..30 {
            let address = allocator.alloc(2048, line);
            if line == 12 {
                kept.push(address);
            } else {
                allocator.request_free(address);
                allocator.complete_free(address);
            }
        }
    }
    (allocator, first_events)
}

#[test]
fn steps_are_found_where_the_history_repeats_itself() {
    let (allocator, expected) = leaking_steps();
    let history = History::walk(&allocator.events, None, &SnapshotSettings::default());
    let steps = history.find_steps(&allocator.events, &StackTable::default()).unwrap();
    assert_eq!(steps.first_events(), expected);
    let memory = steps.with_memory(&history);
    let before: Vec<u64> = memory.iter().map(|step| step.allocated_before.0 - SETUP).collect();
    assert_eq!(before, [0, 2048, 4096, 6144, 8192, 10240]);
    let peaks: Vec<u64> = memory.iter().map(|step| step.allocated_peak.0 - SETUP).collect();
    assert_eq!(peaks, [4096, 6144, 8192, 10240, 12288, 14336]);
    let survivors = |step| steps.survivors(&history, step).map(|life| (life.stack.0, life.block.0)).collect::<Vec<_>>();
    assert_eq!((survivors(0), survivors(3)), (vec![(12, 2048)], vec![(12, 2048)]));
    assert_eq!(survivors(4), [], "no whole step follows the last but one");
}

#[test]
fn a_program_that_does_not_repeat_itself_has_no_steps() {
    let mut allocator = Allocator::default();
    (0..200).for_each(|line| _ = allocator.alloc(512 * u64::from(line), line));
    let history = History::walk(&allocator.events, None, &SnapshotSettings::default());
    assert_eq!(history.find_steps(&allocator.events, &StackTable::default()), None);
}

#[test]
fn times_mark_the_first_events_that_are_not_earlier() {
    let at = |micros| Event { time: Time::from_micros(micros), ..event(Action::Alloc, 512 * micros, 512) };
    let events: Vec<Event> = [10, 20, 20, 30].map(at).to_vec();
    let steps = Steps::at_times(&events, [5, 20, 21, 31].into_iter().filter_map(Time::from_micros));
    assert_eq!(steps.first_events(), [0, 1, 3].map(EventIndex));
}

#[test]
fn the_largest_allocations_come_in_the_order_they_began() {
    use Action::{Alloc, FreeCompleted};
    let found = walk(&[
        (Alloc, 0, 4 * MIB),
        (Alloc, 8 * MIB, 2 * MIB),
        (FreeCompleted, 8 * MIB, 2 * MIB),
        (Alloc, 16 * MIB, 2 * MIB), // lives longer than the one before
        (Alloc, 24 * MIB, 6 * MIB),
    ]);
    let largest = |n| found.largest(n).into_iter().map(|id| id.0).collect::<Vec<_>>();
    assert_eq!((largest(1), largest(3), largest(9)), (vec![3], vec![0, 2, 3], vec![0, 1, 2, 3]));
}
