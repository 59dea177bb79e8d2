//! Histories of a small device, so that events collide: the parts add up at every moment.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trace::{Action, Address, Bytes, Event, EventIndex, History, SnapshotSettings, Stream};

/// Four bytes per event: action, address, size, stream.
const EVENT: usize = 4;
const ACTIONS: [Action; 8] = [
    Action::Alloc,
    Action::FreeRequested,
    Action::FreeCompleted,
    Action::SegmentAlloc,
    Action::SegmentFree,
    Action::SegmentMap,
    Action::SegmentUnmap,
    Action::Oom,
];

fn event(bytes: &[u8]) -> Event {
    let page = 1 << 19; // A quarter of the smallest segment.
    let action = ACTIONS[usize::from(bytes[0]) % ACTIONS.len()];
    let (address, size) = (u64::from(bytes[1]) * page, u64::from(bytes[2]) * page / 4);
    Event { stream: Stream(u64::from(bytes[3] % 2)), ..Event::new(action, Address(address), Bytes(size)) }
}

fuzz_target!(|bytes: &[u8]| {
    let events: Vec<Event> = bytes.chunks_exact(EVENT).map(event).collect();
    let history = History::walk(&events, None, &SnapshotSettings::default());
    for (index, totals) in (0..).map(EventIndex).zip(history.totals()) {
        let live: Bytes = history.live_after(index).map(|lifetime| lifetime.block).sum();
        assert_eq!(live, totals.allocated, "after event {}", index.0);
    }
});
