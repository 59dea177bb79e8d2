//! Recordings of a few events, byte by byte.

use proptest::prelude::*;
use wire::recording::{EVENT_BYTES, MAGIC, PLACE, STACK};

use super::*;
use crate::event::Phase;
use crate::snapshot::BlockState;

const EVENTS: usize = 8;
const BLOCKS: usize = 4;
const MODULE: (&str, &str, u32) = ("/lib/torch/nn/modules/module.py", "Module._call_impl", 1790);
const OPTIMIZER: (&str, &str, u32) = ("/lib/torch/optim/optimizer.py", "wrapper", 40);
const SCRIPT: (&str, &str, u32) = ("/work/train.py", "<module>", 7);

/// An event of a test: address, change, reserved bytes, stack, step.
type Made = (u64, i64, u64, u32, u32);

/// The file of a process that did `events`, holds `blocks` (address, size, stack), and has the stacks `[]`, script, module,
/// optimizer by the numbers 0 to 3.
fn file(events: &[Made], blocks: &[(u64, u64, u32)]) -> Vec<u8> {
    let mut texts = Vec::new();
    for (file, function, line) in [SCRIPT, MODULE, OPTIMIZER] {
        texts.push(PLACE);
        texts.extend(u32::to_le_bytes(line));
        for text in [file, function] {
            texts.extend(u16::try_from(text.len()).unwrap().to_le_bytes());
        }
        texts.extend([file, function].concat().into_bytes());
    }
    for places in [&[1][..], &[2, 1], &[3, 1]] {
        texts.push(STACK);
        texts.extend(u16::try_from(places.len()).unwrap().to_le_bytes());
        for place in places {
            texts.extend(u32::to_le_bytes(*place));
        }
    }
    let mut file = vec![0; header::BYTES + EVENTS * EVENT_BYTES + BLOCKS * BLOCK_BYTES];
    let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
    put(header::MAGIC, &MAGIC);
    put(header::VERSION, &VERSION.to_le_bytes());
    let counts = [
        (header::EVENT_CAPACITY, EVENTS),
        (header::BLOCK_CAPACITY, BLOCKS),
        (header::TEXT_CAPACITY, texts.len()),
        (header::EVENTS, events.len()),
        (header::TEXTS_USED, texts.len()),
    ];
    for (at, count) in counts {
        put(at, &(count as u64).to_le_bytes());
    }
    for (number, (address, change, reserved, stack, step)) in events.iter().enumerate() {
        let at = header::BYTES + number % EVENTS * EVENT_BYTES;
        put(at, &address.to_le_bytes());
        put(at + 8, &change.to_le_bytes());
        put(at + 16, &reserved.to_le_bytes());
        put(at + 24, &stack.to_le_bytes());
        put(at + 28, &step.to_le_bytes());
        put(at + 36, &[if *address == 0 { KIND_ERROR } else { KIND_MEMORY }, 0]);
    }
    for (number, (address, size, stack)) in blocks.iter().enumerate() {
        let at = header::BYTES + EVENTS * EVENT_BYTES + number * BLOCK_BYTES;
        put(at, &address.to_le_bytes());
        put(at + 8, &size.to_le_bytes());
        put(at + 16, &stack.to_le_bytes());
    }
    file.extend(texts);
    file
}

fn snapshot(events: &[Made], blocks: &[(u64, u64, u32)], ooms: &[OomRecord]) -> Snapshot {
    read_recording(&file(events, blocks)).unwrap().into_snapshot(None, ooms)
}

fn actions(snapshot: &Snapshot) -> Vec<(Action, u64, u64)> {
    snapshot.traces[0].iter().map(|event| (event.action, event.address.0, event.size.0)).collect()
}

#[test]
fn a_recording_becomes_a_history_with_segments() {
    let events =
        [(0x1000, 512, 2048, 1, 1), (0x1200, 512, 2048, 1, 1), (0x1000, -512, 2048, 0, 1), (0, 4096, 2048, 1, 1)];
    let oom = OomRecord { free_bytes: 77, ..OomRecord::default() };
    let snapshot = snapshot(&events, &[(0x1200, 512, 1)], &[oom]);
    let expected = [
        (Action::SegmentAlloc, 0x1000, 1024),
        (Action::Alloc, 0x1000, 512),
        (Action::Alloc, 0x1200, 512),
        (Action::FreeRequested, 0x1000, 512),
        (Action::FreeCompleted, 0x1000, 512),
        (Action::Oom, 77, 4096),
    ];
    assert_eq!(actions(&snapshot), expected);
    let states: Vec<_> = snapshot.segments[0].blocks.iter().map(|block| (block.address.0, block.state)).collect();
    assert_eq!(states, [(0x1000, BlockState::Inactive), (0x1200, BlockState::ActiveAllocated)]);
    let frame = snapshot.stacks.frames(snapshot.segments[0].blocks[1].stack).next().unwrap();
    assert_eq!((frame.file.as_str(), frame.line), (SCRIPT.0, SCRIPT.2));
}

#[test]
fn ranges_that_are_empty_are_released_where_the_reserved_bytes_fall() {
    let events = [(0x1000, 512, 2048, 1, 1), (0x1000, -512, 2048, 0, 1), (0x1000, 1024, 1024, 1, 1)];
    let expected = [
        (Action::SegmentAlloc, 0x1000, 512),
        (Action::Alloc, 0x1000, 512),
        (Action::FreeRequested, 0x1000, 512),
        (Action::FreeCompleted, 0x1000, 512),
        (Action::SegmentFree, 0x1000, 512),
        (Action::SegmentAlloc, 0x1000, 1024),
        (Action::Alloc, 0x1000, 1024),
    ];
    assert_eq!(actions(&snapshot(&events, &[(0x1000, 1024, 1)], &[])), expected);
}

#[test]
fn phases_follow_from_stacks_and_steps() {
    let make = |stack, step| (0x1000, 512, 512, stack, step);
    let events = [make(1, 1), make(2, 1), make(0, 1), make(1, 1), make(3, 1), make(1, 2), make(2, 2)];
    let snapshot = snapshot(&events, &[], &[]);
    let allocs = snapshot.traces[0].iter().filter(|event| event.action == Action::Alloc);
    let found: Vec<_> = allocs
        .map(|event| {
            (snapshot.marks[event.mark.unwrap() as usize].step, snapshot.marks[event.mark.unwrap() as usize].phase)
        })
        .collect();
    let expected = [
        (1, Phase::Setup),
        (1, Phase::Forward),
        (1, Phase::Backward),
        (1, Phase::Other),
        (1, Phase::Optimizer),
        (2, Phase::Data),
        (2, Phase::Forward),
    ];
    assert_eq!(found, expected);
}

#[test]
fn the_ring_keeps_the_last_events() {
    let events: Vec<Made> = (0..11).map(|number| (0x1000 + 512 * number, 512, 8192, 1, 1)).collect();
    let recording = read_recording(&file(&events, &[])).unwrap();
    assert_eq!((recording.event_count(), recording.events.first().unwrap().address), (11, 0x1000 + 512 * 3));
    assert!(recording.ends_with(10) && !recording.ends_with(0));
}

#[test]
fn other_files_are_refused() {
    let whole = file(&[], &[]);
    let mut later = whole.clone();
    later[header::VERSION] = 9;
    let cases = [
        (b"not a recording".to_vec(), RecordingError::Magic),
        (later, RecordingError::Version { found: 9 }),
        (whole[..4500].to_vec(), RecordingError::Length { found: 4500, expected: whole.len() as u64 }),
    ];
    for (bytes, expected) in cases {
        assert_eq!(read_recording(&bytes).unwrap_err(), expected);
    }
}

proptest! {
    /// A killed process leaves any bytes behind the last counter; a damaged file leaves any at all.
    #[test]
    fn no_bytes_make_the_reader_panic(changes in prop::collection::vec((0_usize..5000, any::<u8>()), 0..40)) {
        let mut bytes = file(&[(0x1000, 512, 2048, 1, 1), (0x1000, -512, 2048, 0, 1)], &[(0x1200, 512, 2)]);
        for (at, byte) in changes {
            if let Some(found) = bytes.get_mut(at) {
                *found = byte;
            }
        }
        if let Ok(recording) = read_recording(&bytes) {
            let snapshot = recording.into_snapshot(None, &[]);
            for device in 0..u32::try_from(snapshot.traces.len()).unwrap() {
                crate::History::of(&snapshot, DeviceIndex(device));
            }
        }
    }
}
