//! Forbidden calls: unsafe calls, waits for captured work, merges, waits for work outside, and the legacy stream.

use super::CapturedCall::{
    Allocate, AskDevice, AskEvent, AskStatus, AskStream, Begin, End, Launch, Record, RecordExternal, Run, Wait,
    WaitExternal,
};
use super::{BLOCKING, FAR, FIRST, LEGACY, MODES, ORIGIN, SECOND, SECOND_FAR, SECOND_RELAXED, SIDE, THIRD, check};
use crate::cuda::capture::types::{CallingThread, Mode};
use crate::cuda::{
    CAPTURE_IMPLICIT, CAPTURE_INVALIDATED, CAPTURE_ISOLATION, CAPTURE_MERGE, CAPTURE_UNSUPPORTED, CAPTURED_EVENT,
};

/// The comments of `cudaThreadExchangeStreamCaptureMode`. Columns: the mode that the calling thread has exchanged.
#[test]
fn unsafe_calls_are_forbidden_by_the_modes_of_the_capture_and_of_the_thread() {
    let rows = [
        (FIRST, Mode::Global, [true, true, false]),
        (FIRST, Mode::ThreadLocal, [true, true, false]),
        (FIRST, Mode::Relaxed, [false, false, false]),
        (SECOND, Mode::Global, [true, false, false]),
        (SECOND, Mode::ThreadLocal, [false, false, false]),
        (SECOND, Mode::Relaxed, [false, false, false]),
    ];
    for (caller, begun, columns) in rows {
        for (mode, is_forbidden) in MODES.into_iter().zip(columns) {
            let caller = CallingThread { mode, ..caller };
            for call in [Allocate, AskEvent("outside"), AskStream(SIDE)] {
                let answers =
                    if is_forbidden { (Err(CAPTURE_UNSUPPORTED), Err(CAPTURE_INVALIDATED)) } else { (Ok(0), Ok(1)) };
                check(&[
                    (FIRST, Begin(ORIGIN, begun), Ok(0)),
                    (FIRST, Run(ORIGIN), Ok(1)),
                    (caller, call, answers.0),
                    (FIRST, End(ORIGIN), answers.1),
                ]);
            }
        }
    }
}

/// The guide, Prohibited Operations: captured work is not being executed, in no mode and for no thread.
#[test]
fn captured_work_cannot_be_asked_for_in_any_mode_by_any_thread() {
    let rows = [
        (AskStream(ORIGIN), CAPTURE_UNSUPPORTED),
        (AskStream(SIDE), CAPTURE_UNSUPPORTED),
        (AskDevice, CAPTURE_UNSUPPORTED),
        (AskEvent("fork"), CAPTURED_EVENT),
        (Launch(ORIGIN), CAPTURE_UNSUPPORTED),
    ];
    for (call, code) in rows {
        for (mode, caller) in
            MODES.into_iter().flat_map(|mode| [FIRST, SECOND, SECOND_RELAXED].map(|caller| (mode, caller)))
        {
            check(&[
                (FIRST, Begin(ORIGIN, mode), Ok(0)),
                (FIRST, Run(ORIGIN), Ok(1)),
                (FIRST, Record(ORIGIN, "fork"), Ok(0)),
                (FIRST, Wait(SIDE, "fork"), Ok(0)),
                (caller, call, Err(code)),
                (FIRST, End(ORIGIN), Err(CAPTURE_INVALIDATED)),
            ]);
        }
    }
}

/// Recorded on two RTX PRO 4000: ROCm/rocm-systems, pull request 4508.
#[test]
fn a_capture_forbids_nothing_on_another_device_until_a_stream_of_the_device_joins() {
    for mode in MODES {
        check(&[
            (FIRST, Begin(ORIGIN, mode), Ok(0)),
            (SECOND_FAR, AskDevice, Ok(0)),
            (SECOND_FAR, AskEvent("outside"), Ok(0)),
            (SECOND_FAR, Allocate, Ok(0)),
            (FIRST, Record(ORIGIN, "fork"), Ok(0)),
            (FIRST, Wait(FAR, "fork"), Ok(0)),
            (SECOND_FAR, AskDevice, Err(CAPTURE_UNSUPPORTED)),
            (FIRST, End(ORIGIN), Err(CAPTURE_INVALIDATED)),
        ]);
    }
}

/// The guide, Prohibited Operations: two captures are not merged. Both are invalid afterwards, a third is not.
#[test]
fn two_captures_do_not_meet() {
    for (begun_first, begun_second) in [(ORIGIN, THIRD), (THIRD, ORIGIN)] {
        check(&[
            (FIRST, Begin(begun_first, Mode::Relaxed), Ok(0)),
            (FIRST, Begin(begun_second, Mode::Relaxed), Ok(0)),
            (FIRST, Begin(FAR, Mode::Relaxed), Ok(0)),
            (FIRST, Record(ORIGIN, "fork"), Ok(0)),
            (FIRST, Wait(SIDE, "fork"), Ok(0)),
            (FIRST, Record(SIDE, "join"), Ok(0)),
            (FIRST, Wait(THIRD, "join"), Err(CAPTURE_MERGE)),
            (FIRST, AskStatus(SIDE), Ok(2)),
            (FIRST, Run(FAR), Ok(1)),
            (FIRST, End(ORIGIN), Err(CAPTURE_INVALIDATED)),
            (FIRST, End(THIRD), Err(CAPTURE_INVALIDATED)),
            (FIRST, End(FAR), Ok(1)),
        ]);
    }
}

/// An H100's recordings: alpha0422/study, cuda-graph/008.
#[test]
fn a_capture_waits_for_work_outside_by_an_external_event_only() {
    check(&[
        (FIRST, Begin(THIRD, Mode::Relaxed), Ok(0)),
        (FIRST, Begin(ORIGIN, Mode::Relaxed), Ok(0)),
        (FIRST, Record(SIDE, "outside"), Ok(0)),
        (FIRST, Wait(SIDE, "outside"), Ok(0)),
        (FIRST, Wait(ORIGIN, "outside"), Err(CAPTURE_ISOLATION)),
        (FIRST, End(ORIGIN), Err(CAPTURE_INVALIDATED)),
        (FIRST, End(THIRD), Ok(0)),
    ]);
    check(&[
        (FIRST, RecordExternal(SIDE), Ok(0)),
        (FIRST, Begin(ORIGIN, Mode::Global), Ok(0)),
        (FIRST, WaitExternal(ORIGIN), Ok(1)),
        (FIRST, Run(ORIGIN), Ok(1)),
        (FIRST, RecordExternal(ORIGIN), Ok(1)),
        (FIRST, WaitExternal(SIDE), Ok(0)),
        (FIRST, End(ORIGIN), Ok(3)),
    ]);
}

/// `cudaStreamIsCapturing` fails beside the capture of a blocking stream and does no harm; other calls on the legacy stream end
/// the capture. An H100's recordings of a wait: alpha0422/study, cuda-graph/009.
#[test]
fn the_legacy_stream_waits_for_no_capture() {
    check(&[(FIRST, Begin(LEGACY, Mode::Global), Err(CAPTURE_UNSUPPORTED)), (FIRST, AskStatus(LEGACY), Ok(0))]);
    for call in [Run(LEGACY), Record(LEGACY, "outside"), RecordExternal(LEGACY), AskStream(LEGACY), Launch(LEGACY)] {
        check(&[
            (FIRST, Begin(ORIGIN, Mode::Relaxed), Ok(0)),
            (FIRST, call, Ok(0)),
            (FIRST, Record(ORIGIN, "fork"), Ok(0)),
            (FIRST, Wait(BLOCKING, "fork"), Ok(0)),
            (FIRST, AskStatus(LEGACY), Err(CAPTURE_IMPLICIT)),
            (FIRST, AskStatus(ORIGIN), Ok(1)),
            (SECOND_FAR, call, Ok(0)),
            (FIRST, call, Err(CAPTURE_IMPLICIT)),
            (FIRST, End(ORIGIN), Err(CAPTURE_INVALIDATED)),
        ]);
    }
    for mode in MODES {
        check(&[
            (FIRST, Begin(ORIGIN, mode), Ok(0)),
            (FIRST, Record(ORIGIN, "fork"), Ok(0)),
            (FIRST, Wait(LEGACY, "fork"), Err(CAPTURE_IMPLICIT)),
            (FIRST, End(ORIGIN), Err(CAPTURE_INVALIDATED)),
        ]);
    }
}
