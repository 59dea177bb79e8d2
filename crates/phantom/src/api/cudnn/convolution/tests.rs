//! The layout of results, how many are written, and what an execution refuses.
#![expect(clippy::unwrap_used, reason = "test")]

use std::mem::offset_of;

use super::super::shape::HALF;
use super::*;

#[test]
fn results_have_the_layout_of_the_header() {
    // Three 4-byte fields, padding, a size_t, five more 4-byte fields, padding to 8.
    assert_eq!(size_of::<AlgorithmPerf>(), 48);
    assert_eq!(offset_of!(AlgorithmPerf, memory), 16);
    assert_eq!(offset_of!(AlgorithmPerf, determinism), 24);
    assert_eq!(offset_of!(AlgorithmPerf, reserved), 32);
}

fn query() -> Query {
    let convolution = Convolution {
        direction: Direction::Forward,
        x: Tensor::packed(HALF, vec![8, 16, 32, 32]),
        w: Tensor::packed(HALF, vec![32, 16, 3, 3]),
        y: Tensor::packed(HALF, vec![8, 32, 30, 30]),
    };
    Query { math_type: 1, convolution }
}

#[test]
fn no_more_results_are_written_than_requested() {
    for (requested, expected) in [(1, 1), (2, 2), (10, 2)] {
        let mut results = [AlgorithmPerf::default(); 3];
        let mut returned = -1;
        query().answer(requested, Out::to(&mut returned), Out::to(&mut results).cast()).unwrap();
        assert_eq!(returned, expected);
        let written = results.iter().filter(|result| **result != AlgorithmPerf::default()).count();
        assert_eq!(written, expected as usize);
        assert_eq!(results[0].memory as u64, query().bytes(WITH_WORKSPACE));
    }
    assert!(query().answer(0, Out::to(&mut 0), Out::to(&mut AlgorithmPerf::default())).is_err());
}

#[test]
fn too_small_a_workspace_is_refused() {
    let bytes = query().bytes(WITH_WORKSPACE) as usize;
    assert!(bytes > 0);
    let cases = [(WITH_WORKSPACE, bytes, true), (WITH_WORKSPACE, bytes - 1, false), (WITHOUT_WORKSPACE, 0, true)];
    for (algorithm, available, works) in cases {
        assert_eq!(query().execute(algorithm, std::ptr::null_mut(), available).is_ok(), works);
    }
}
