//! Histories recorded by real PyTorch, replayed under their own settings: every segment event and every placement is
//! repeated, through errors, emptied caches and blocks that side streams used.
#![expect(clippy::unwrap_used, reason = "a test")]

#[path = "../../trace/tests/recorded/mod.rs"]
mod recorded;

use std::path::{Path, PathBuf};

use allocator::replay::{Difference, Program, ProgramError, replay, verify};
use allocator::{Rules, Settings, SimulatedDevice, Tie};
use proptest::prelude::*;
use recorded::{Golden, goldens_in};
use trace::{Action, Address, Bytes, DeviceIndex, Event, History, Release, Snapshot, Stream};

fn release(golden: &Golden) -> Release {
    let mut parts = golden.json["torch"].as_str().unwrap().split('.').map(|part| part.parse().unwrap());
    Release { major: parts.next().unwrap(), minor: parts.next().unwrap() }
}

/// Streams in the order of their pointers, a separate list in the file.
fn stream(golden: &Golden, stream: Stream) -> Stream {
    let index = usize::try_from(stream.0).unwrap();
    Stream(golden.json["stream_pointer_rank"][index].as_u64().unwrap())
}

fn snapshot(golden: &Golden) -> Snapshot {
    let events = golden.events.iter().map(|event| Event { stream: stream(golden, event.stream), ..*event });
    let mut segments = golden.segments.clone();
    for segment in &mut segments {
        segment.stream = stream(golden, segment.stream);
    }
    segments.sort_by_key(|segment| segment.address);
    Snapshot { segments, traces: vec![events.collect()], settings: golden.settings.clone(), ..Snapshot::default() }
}

struct Recording {
    name: String,
    snapshot: Snapshot,
    program: Program,
    settings: Settings,
    rules: Rules,
}

/// The fixtures, or the files of `OOMPH_GOLDEN`, without recordings under garbage collection, which depends on a limit
/// that no history states.
fn recordings() -> Vec<Recording> {
    let fixtures = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/golden");
    let folder = std::env::var_os("OOMPH_GOLDEN").map_or_else(fixtures, PathBuf::from);
    let goldens = goldens_in(&folder).into_iter().filter(|golden| !golden.settings.conf.contains("garbage"));
    let recording = |golden: Golden| {
        let (snapshot, release) = (snapshot(&golden), release(&golden));
        let history = History::of(&snapshot, DeviceIndex(0));
        let program = Program::of(&snapshot, DeviceIndex(0), &history).unwrap();
        let settings = Settings::parse(&golden.settings.conf, release).unwrap();
        Recording { name: golden.name, snapshot, program, settings, rules: Rules::of(release) }
    };
    goldens.map(recording).collect()
}

fn is_segment(event: &Event) -> bool {
    use Action::{Oom, SegmentAlloc, SegmentFree, SegmentMap, SegmentUnmap};
    matches!(event.action, SegmentAlloc | SegmentFree | SegmentMap | SegmentUnmap | Oom)
}

#[test]
fn under_its_own_settings_a_history_repeats() {
    let recordings = recordings();
    assert!(recordings.len() >= 5, "{} files", recordings.len());
    for Recording { name, snapshot, program, settings, rules } in &recordings {
        let events = &snapshot.traces[0];
        let agreement = verify(program, events, settings, *rules);
        assert_eq!(agreement.difference, None, "{name}");
        assert_eq!(agreement.segment_events, events.iter().filter(|event| is_segment(event)).count(), "{name}");
        let requests = events.iter().filter(|event| event.action == Action::Alloc).count();
        assert_eq!(agreement.placements, requests, "{name}");
    }
}

#[test]
fn under_other_settings_it_does_not() {
    let Recording { snapshot, program, settings, rules, .. } = recordings().swap_remove(0);
    let other = Settings { expandable_segments: !settings.expandable_segments, ..settings };
    let agreement = verify(&program, &snapshot.traces[0], &other, rules);
    assert!(matches!(agreement.difference, Some(Difference::Segment { .. })), "{agreement:?}");
}

/// Except recordings with a limited address space of expandable segments, which no device changes.
#[test]
fn on_a_larger_device_what_failed_is_served() {
    let limited = |recording: &Recording| recording.settings.expandable_segments_reserve.is_some();
    for Recording { name, snapshot, program, settings, rules } in recordings().into_iter().filter(|r| !limited(r)) {
        let failed = snapshot.traces[0].iter().filter(|event| event.action == Action::Oom).count();
        let outcome = replay(&program, &settings, rules, SimulatedDevice::new(SimulatedDevice::NEVER_FULL_BYTES, 0));
        assert_eq!((outcome.served.len(), outcome.failed), (failed, None), "{name}");
    }
}

/// Not with expandable segments: a history does not show address space that was unmapped before it began. Not from 2.12
/// on: a history does not show the numbers that order equal blocks.
#[test]
fn a_history_from_its_middle_is_replayed_from_the_state_before() {
    let fixed = recordings().into_iter().filter(|r| !r.settings.expandable_segments && r.rules.tie == Tie::Address);
    for Recording { name, snapshot, settings, rules, .. } in fixed {
        let middle = snapshot.traces[0].len() / 2;
        let events = snapshot.traces[0][middle..].to_vec();
        let cut = Snapshot { traces: vec![events], ..snapshot };
        let history = History::of(&cut, DeviceIndex(0));
        let program = Program::of(&cut, DeviceIndex(0), &history).unwrap();
        assert!(!program.is_whole(), "{name}");
        let agreement = verify(&program, &cut.traces[0], &settings, rules);
        let seen = agreement.segment_events + agreement.placements;
        assert!(seen > 50, "{name}: {agreement:?}");
    }
}

#[test]
fn calls_of_empty_cache_are_told_and_can_be_taken_out_and_put_in() {
    let event = |action, address: u64, bytes| Event::new(action, Address(address), Bytes(bytes));
    let (start, size) = (1 << 40, 32 << 20);
    let block = |address| {
        [event(Action::SegmentAlloc, address, size), event(Action::Alloc, address, size)]
            .into_iter()
            .chain([event(Action::FreeRequested, address, size), event(Action::FreeCompleted, address, size)])
    };
    let mut events: Vec<Event> = block(start).collect();
    events.push(event(Action::SegmentFree, start, size));
    events.extend(block(start).take(2));
    let snapshot = Snapshot { traces: vec![events], ..Snapshot::default() };
    let history = History::walk(&snapshot.traces[0], None, &snapshot.settings);
    let program = Program::of(&snapshot, DeviceIndex(0), &history).unwrap();
    assert_eq!(program.empty_cache_count(), 1, "the request would have fitted without");
    let calls = |program: &Program| {
        let rules = Rules::of(Release { major: 2, minor: 11 });
        replay(program, &Settings::default(), rules, SimulatedDevice::new(1 << 40, 0)).stats.num_device_alloc
    };
    assert_eq!(calls(&program), 2);
    let without = program.without_empty_cache();
    assert_eq!(calls(&without), 1);
    assert_eq!(calls(&without.with_empty_cache_after(&[trace::EventIndex(3)])), 2);
}

/// Events of any kind at few addresses: collisions are frequent.
fn any_events() -> impl Strategy<Value = Vec<Event>> {
    let actions = prop::sample::select(vec![
        Action::Alloc,
        Action::FreeRequested,
        Action::FreeCompleted,
        Action::SegmentAlloc,
        Action::SegmentFree,
        Action::SegmentMap,
        Action::SegmentUnmap,
        Action::Oom,
    ]);
    let size = prop_oneof![8 => (1_u64..60).prop_map(|n| n << 19), 1 => Just(512), 1 => any::<u64>()];
    let address = prop_oneof![12 => (0_u64..30).prop_map(|n| (1 << 40) + (n << 20)), 1 => any::<u64>()];
    let event = (actions, address, size, 0..2_u64).prop_map(|(action, address, size, stream)| {
        let event = Event::new(action, Address(address), Bytes(size));
        Event { stream: Stream(stream), ..event }
    });
    prop::collection::vec(event, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Histories that no allocator wrote are rejected, or differ; nothing panics.
    #[test]
    fn any_history_is_replayed_or_refused(events in any_events(), expandable_segments in any::<bool>(), minor in 6_u8..=15) {
        let snapshot = Snapshot { traces: vec![events], ..Snapshot::default() };
        let history = History::walk(&snapshot.traces[0], None, &snapshot.settings);
        if let Ok(program) = Program::of(&snapshot, DeviceIndex(0), &history) {
            let (rules, settings) = (Rules::of(Release { major: 2, minor }), Settings { expandable_segments, ..Settings::default() });
            let agreement = verify(&program, &snapshot.traces[0], &settings, rules);
            prop_assert!(agreement.placements <= snapshot.traces[0].len());
            let outcome = replay(&program, &settings, rules, SimulatedDevice::new(4 << 30, 0));
            prop_assert!(outcome.peak_allocated_bytes() <= outcome.peak_reserved_bytes());
        }
    }
}

#[test]
fn memory_where_pytorch_has_none_is_refused() {
    let refused = |address: u64, size: u64| {
        let events = vec![Event::new(Action::SegmentAlloc, Address(address), Bytes(size))];
        let snapshot = Snapshot { traces: vec![events], ..Snapshot::default() };
        let history = History::walk(&snapshot.traces[0], None, &snapshot.settings);
        matches!(Program::of(&snapshot, DeviceIndex(0), &history), Err(ProgramError::Misplaced { .. }))
    };
    let cases = [
        (1 << 40, 2 << 20, false),
        ((1 << 40) + 1, 2 << 20, true),
        (1 << 40, (2 << 20) + 1, true),
        (1 << 57, 2 << 20, true),
        (1 << 40, 0, true),
    ];
    for (address, size, expected) in cases {
        assert_eq!(refused(address, size), expected, "{size} at {address:#x}");
    }
}
