//! Streams join, the origin waits for their work, and the capture ends.

use super::CapturedCall::{AskDevice, AskStatus, Begin, End, Launch, Record, Release, Run, Wait};
use super::{FIRST, ORIGIN, SECOND, SECOND_RELAXED, SIDE, THIRD, check};
use crate::cuda::capture::types::Mode;
use crate::cuda::{
    CAPTURE_INVALIDATED, CAPTURE_UNJOINED, CAPTURE_UNMATCHED, CAPTURE_UNSUPPORTED, CAPTURE_WRONG_THREAD, ILLEGAL_STATE,
};

/// The guide, Cross-stream Dependencies and Events.
#[test]
fn a_stream_joins_by_an_event_and_leaves_at_the_end() {
    check(&[
        (FIRST, Run(ORIGIN), Ok(0)),
        (FIRST, Begin(ORIGIN, Mode::Global), Ok(0)),
        (FIRST, Run(ORIGIN), Ok(1)),
        (FIRST, Run(SIDE), Ok(0)),
        (FIRST, Record(ORIGIN, "fork"), Ok(0)),
        (FIRST, AskStatus(SIDE), Ok(0)),
        (FIRST, Wait(SIDE, "fork"), Ok(0)),
        (FIRST, AskStatus(SIDE), Ok(1)),
        (FIRST, AskStatus(THIRD), Ok(0)),
        (FIRST, Run(SIDE), Ok(1)),
        (FIRST, Run(ORIGIN), Ok(1)),
        (FIRST, Record(SIDE, "join"), Ok(0)),
        (FIRST, Wait(ORIGIN, "join"), Ok(0)),
        (FIRST, Run(ORIGIN), Ok(1)),
        (FIRST, End(ORIGIN), Ok(4)),
        (FIRST, AskStatus(SIDE), Ok(0)),
        (FIRST, AskStatus(ORIGIN), Ok(0)),
        (FIRST, Run(SIDE), Ok(0)),
    ]);
}

/// Beside the first row, an H100's recordings: alpha0422/study, cuda-graph/007.
#[test]
fn the_origin_waits_for_all_work_before_the_end() {
    let fork_only = vec![];
    let work = vec![(Run(SIDE), 1)];
    let joined = vec![(Run(SIDE), 1), (Record(SIDE, "join"), 0), (Wait(ORIGIN, "join"), 0)];
    let works_on = [joined.clone(), work.clone()].concat();
    let fork_of_a_fork = vec![
        (Run(SIDE), 1),
        (Record(SIDE, "second fork"), 0),
        (Wait(THIRD, "second fork"), 0),
        (Run(THIRD), 1),
        (Record(THIRD, "join"), 0),
        (Wait(ORIGIN, "join"), 0),
    ];
    // "Nodes that are removed from the dependency set … do not result in CUDA_ERROR_STREAM_CAPTURE_UNJOINED"
    // (`cuStreamUpdateCaptureDependencies`, cuda.h).
    let released = vec![(Run(SIDE), 1), (Release(SIDE), 0)];
    let rows = [
        (fork_only, Ok(1)),
        (work, Err(CAPTURE_UNJOINED)),
        (joined, Ok(2)),
        (works_on, Err(CAPTURE_UNJOINED)),
        (fork_of_a_fork, Ok(3)),
        (released, Ok(2)),
    ];
    for (calls, at_the_end) in rows {
        let start =
            [(Begin(ORIGIN, Mode::Global), 0), (Run(ORIGIN), 1), (Record(ORIGIN, "fork"), 0), (Wait(SIDE, "fork"), 0)];
        let mut steps: Vec<_> = start.into_iter().chain(calls).map(|(call, nodes)| (FIRST, call, Ok(nodes))).collect();
        steps.extend([
            (FIRST, End(ORIGIN), at_the_end),
            (FIRST, AskStatus(SIDE), Ok(0)),
            (FIRST, Begin(SIDE, Mode::Global), Ok(0)),
        ]);
        check(&steps);
    }
}

#[test]
fn a_capture_is_ended_on_its_origin_by_its_thread_and_goes_on_after_a_wrong_end() {
    let rows = [
        (Mode::Global, SECOND, Err(CAPTURE_WRONG_THREAD)),
        (Mode::ThreadLocal, SECOND, Err(CAPTURE_WRONG_THREAD)),
        (Mode::ThreadLocal, SECOND_RELAXED, Err(CAPTURE_WRONG_THREAD)),
        (Mode::Relaxed, SECOND, Ok(1)),
    ];
    for (mode, caller, answer) in rows {
        let after = if answer.is_ok() { Err(ILLEGAL_STATE) } else { Ok(1) };
        check(&[
            (FIRST, End(ORIGIN), Err(ILLEGAL_STATE)),
            (FIRST, Begin(ORIGIN, mode), Ok(0)),
            (FIRST, Begin(ORIGIN, mode), Err(ILLEGAL_STATE)),
            (FIRST, Run(ORIGIN), Ok(1)),
            (FIRST, Record(ORIGIN, "fork"), Ok(0)),
            (FIRST, Wait(SIDE, "fork"), Ok(0)),
            (FIRST, Begin(SIDE, mode), Err(ILLEGAL_STATE)),
            (FIRST, End(SIDE), Err(CAPTURE_UNMATCHED)),
            (FIRST, End(THIRD), Err(ILLEGAL_STATE)),
            (caller, End(ORIGIN), answer),
            (FIRST, End(ORIGIN), after),
        ]);
    }
}

/// The guide, Invalidation.
#[test]
fn streams_of_an_invalidated_capture_refuse_work_until_its_end() {
    let refused = [
        Run(ORIGIN),
        Run(SIDE),
        Record(SIDE, "join"),
        Wait(THIRD, "fork"),
        Wait(SIDE, "outside"),
        Launch(SIDE),
        Release(SIDE),
    ];
    for call in refused {
        check(&[
            (FIRST, Begin(ORIGIN, Mode::Relaxed), Ok(0)),
            (FIRST, Record(ORIGIN, "fork"), Ok(0)),
            (FIRST, Wait(SIDE, "fork"), Ok(0)),
            (FIRST, AskDevice, Err(CAPTURE_UNSUPPORTED)),
            (FIRST, AskStatus(ORIGIN), Ok(2)),
            (FIRST, AskStatus(SIDE), Ok(2)),
            (FIRST, call, Err(CAPTURE_INVALIDATED)),
            (FIRST, Run(THIRD), Ok(0)),
            (FIRST, End(ORIGIN), Err(CAPTURE_INVALIDATED)),
            (FIRST, Run(SIDE), Ok(0)),
            (FIRST, Begin(ORIGIN, Mode::Global), Ok(0)),
            (FIRST, Run(ORIGIN), Ok(1)),
            (FIRST, End(ORIGIN), Ok(1)),
        ]);
    }
}
