//! The rules of Notes `[Held events]` and `[Late streams]` as tables of calls.

use super::machine::Events;
use crate::cuda::order::StreamKey;
use crate::cuda::{Code, NOT_READY};
use crate::handle::Handle;

use EventCall::{AllocatorAsks, CompleteAll, CompleteStream, Hold, ProgramAsks, Record, Synchronize, Wait};

const FIRST: StreamKey = 0x10;
const SECOND: StreamKey = 0x20;
const THIRD: StreamKey = 0x30;

const PENDING: Result<(), Code> = Err(NOT_READY);

/// A call; events are numbers below 8.
#[derive(Clone, Copy, Debug)]
enum EventCall {
    Hold(bool),
    Record(usize, StreamKey),
    /// A stream waits for an event.
    Wait(StreamKey, usize),
    ProgramAsks(usize),
    AllocatorAsks(usize),
    /// The host waits for an event.
    Synchronize(usize),
    /// The host waits for a stream.
    CompleteStream(StreamKey),
    /// The host waits for the device.
    CompleteAll,
}

fn call(events: &Events, handles: &[Handle], are_late: bool, made: EventCall) -> Result<(), Code> {
    match made {
        Hold(is_held) => events.hold(is_held),
        Record(event, on) => events.record(handles[event], on, None, are_late)?,
        Wait(on, event) => events.wait(on, handles[event]).map(drop)?,
        ProgramAsks(event) => events.query(&events.state(handles[event])?, are_late, false)?,
        AllocatorAsks(event) => events.query(&events.state(handles[event])?, are_late, true)?,
        Synchronize(event) => events.synchronize(&events.state(handles[event])?),
        CompleteStream(on) => events.complete(Some(on)),
        CompleteAll => events.complete(None),
    }
    Ok(())
}

/// Makes calls with or without late streams, and compares their answers.
fn check(are_late: bool, steps: &[(EventCall, Result<(), Code>)]) {
    let events = Events::new();
    let handles = [(); 8].map(|()| events.create(0));
    for (index, (made, expected)) in steps.iter().enumerate() {
        assert_eq!(call(&events, &handles, are_late, *made), *expected, "{steps:?}\nstep {index}: {made:?}");
    }
}

#[test]
fn events_are_done_at_once_unless_a_test_holds_them() {
    check(
        false,
        &[
            (ProgramAsks(0), Ok(())), // never recorded
            (Record(0, FIRST), Ok(())),
            (ProgramAsks(0), Ok(())),
            (AllocatorAsks(0), Ok(())),
            (Hold(true), Ok(())),
            (ProgramAsks(0), Ok(())),
            (Record(0, FIRST), Ok(())),
            (ProgramAsks(0), PENDING),
            (AllocatorAsks(0), PENDING),
            (Hold(false), Ok(())),
            (ProgramAsks(0), PENDING),
            (Record(0, FIRST), Ok(())),
            (ProgramAsks(0), Ok(())),
        ],
    );
}

#[test]
fn a_wait_for_an_event_completes_the_earlier_records_of_its_stream() {
    for are_late in [false, true] {
        check(
            are_late,
            &[
                (Hold(true), Ok(())),
                (Record(0, FIRST), Ok(())),
                (Record(1, FIRST), Ok(())),
                (Record(2, FIRST), Ok(())),
                (Record(3, SECOND), Ok(())),
                (Synchronize(1), Ok(())),
                (AllocatorAsks(0), Ok(())),
                (AllocatorAsks(1), Ok(())),
                (AllocatorAsks(2), PENDING),
                (AllocatorAsks(3), PENDING),
                (CompleteStream(SECOND), Ok(())),
                (AllocatorAsks(2), PENDING),
                (AllocatorAsks(3), Ok(())),
                (CompleteAll, Ok(())),
                (AllocatorAsks(2), Ok(())),
            ],
        );
    }
}

#[test]
fn a_wait_completes_the_work_that_the_stream_had_waited_for() {
    let start = [
        (Record(0, FIRST), Ok(())),
        (Wait(SECOND, 0), Ok(())),
        (Record(1, SECOND), Ok(())),
        (Record(2, FIRST), Ok(())),
        (Wait(THIRD, 1), Ok(())),
        (Record(3, THIRD), Ok(())),
    ];
    // The host's wait, and the events that are done afterwards.
    let rows = [
        (Synchronize(0), [true, false, false, false]),
        (Synchronize(1), [true, true, false, false]),
        (Synchronize(2), [true, false, true, false]),
        (Synchronize(3), [true, true, false, true]),
        (CompleteStream(FIRST), [true, false, true, false]),
        (CompleteStream(SECOND), [true, true, false, false]),
        (CompleteStream(THIRD), [true, true, false, true]),
        (CompleteAll, [true, true, true, true]),
    ];
    for (wait, are_done) in rows {
        let mut steps = start.to_vec();
        steps.push((wait, Ok(())));
        let asked = are_done.iter().enumerate();
        steps.extend(asked.map(|(event, is_done)| (AllocatorAsks(event), if *is_done { Ok(()) } else { PENDING })));
        check(true, &steps);
    }
}

#[test]
fn a_late_event_is_pending_for_the_allocator_until_the_program_polls_the_event() {
    check(
        true,
        &[
            (AllocatorAsks(0), Ok(())), // never recorded
            (Record(0, FIRST), Ok(())),
            (Record(1, FIRST), Ok(())),
            (Record(2, FIRST), Ok(())),
            (AllocatorAsks(1), PENDING),
            (AllocatorAsks(1), PENDING),
            (ProgramAsks(1), Ok(())),
            (AllocatorAsks(0), Ok(())),
            (AllocatorAsks(1), Ok(())),
            (AllocatorAsks(2), PENDING),
        ],
    );
}
