//! Choosing an algorithm. The phantom knows a single algorithm, without workspace, for all inputs.
//!
//! A caller without a result raises, so the answer is always a single algorithm. PyTorch allocates the whole workspace that the
//! preference allows before the query (`CUDABlas.cpp`, 2.11), so the size stated here does not change the peak.

use super::super::cublas::CublasStatus;
use crate::boundary::{In, Out, Status, export};
use crate::handle::Handle;

/// `cublasLtMatmulHeuristicResult_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HeuristicResult {
    /// `cublasLtMatmulAlgo_t`: opaque to the caller; for us, the configuration attributes in 32-bit slots.
    pub(crate) algorithm: [u64; 8],
    /// Device memory the algorithm needs, in bytes.
    pub(crate) workspace_bytes: usize,
    /// Success if the other fields are valid.
    pub(crate) state: CublasStatus,
    /// Device utilisation: 1.0 is one full wave.
    pub(crate) waves: f32,
    /// Zero.
    pub(crate) reserved: [i32; 4],
}

/// The answer to every question about algorithms.
const ONLY: HeuristicResult =
    HeuristicResult { algorithm: [0; 8], workspace_bytes: 0, state: CublasStatus(0), waves: 1.0, reserved: [0; 4] };

/// 32-bit slots of an algorithm.
const ALGORITHM_WORDS: usize = 16;
/// `cublasLtMatmulAlgoConfigAttributes_t` has nine attributes, of four bytes or fewer; each has a slot in the algorithm.
const CONFIG_ATTRIBUTES: i32 = 9;

/// The slot of a configuration attribute and its width in bytes: the last two are `uint16_t`.
fn slot(attribute: i32) -> Result<(usize, usize), CublasStatus> {
    match attribute {
        0..7 => Ok((attribute as usize, 4)),
        7..CONFIG_ATTRIBUTES => Ok((attribute as usize, 2)),
        _ => Err(CublasStatus::INVALID),
    }
}

export! { CublasStatus;
    fn cublasLtMatmulAlgoGetHeuristic(
        _light: Handle, _operation: Handle, _a: Handle, _b: Handle, _c: Handle, _d: Handle, _preference: Handle,
        requested: i32, results: Out<HeuristicResult>, count: Out<i32>,
    ) {
        if requested < 1 {
            return Err(CublasStatus::INVALID);
        }
        results.set::<CublasStatus>(ONLY)?;
        count.set(1)
    }

    fn cublasLtMatmulAlgoGetIds(
        _light: Handle, _compute: i32, _scale: i32, _a: i32, _b: i32, _c: i32, _d: i32,
        requested: i32, ids: Out<i32>, count: Out<i32>,
    ) {
        if requested < 1 {
            return Err(CublasStatus::INVALID);
        }
        ids.set::<CublasStatus>(0)?;
        count.set(1)
    }

    fn cublasLtMatmulAlgoInit(
        _light: Handle, _compute: i32, _scale: i32, _a: i32, _b: i32, _c: i32, _d: i32,
        _id: i32, algorithm: Out<[u64; 8]>,
    ) { algorithm.set(ONLY.algorithm) }

    fn cublasLtMatmulAlgoCheck(
        _light: Handle, _operation: Handle, _a: Handle, _b: Handle, _c: Handle, _d: Handle,
        algorithm: In<[u64; 8]>, result: Out<HeuristicResult>,
    ) { result.set(HeuristicResult { algorithm: algorithm.get()?, ..ONLY }) }

    fn cublasLtMatmulAlgoConfigSetAttribute(algorithm: Out<u32>, attribute: i32, buffer: In<u8>, bytes: usize) {
        let (slot, width) = slot(attribute)?;
        if algorithm.is_null() || bytes < width {
            return Err(CublasStatus::INVALID);
        }
        let mut value = [0; 4];
        buffer.array(bytes).read::<CublasStatus>(&mut value[..width])?;
        algorithm.array(ALGORITHM_WORDS).set(slot, u32::from_le_bytes(value))
    }

    fn cublasLtMatmulAlgoConfigGetAttribute(
        algorithm: In<u32>, attribute: i32, buffer: Out<u8>, bytes: usize, written: Out<usize>,
    ) {
        let (slot, width) = slot(attribute)?;
        let value = algorithm.array(ALGORITHM_WORDS).get::<CublasStatus>(slot)?.to_le_bytes();
        if bytes > 0 {
            if buffer.is_null() || bytes < width {
                return Err(CublasStatus::INVALID);
            }
            buffer.array(bytes).write::<CublasStatus>(value.into_iter().take(width))?;
        }
        written.set_if_wanted(width);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    /// Sizes and offsets printed by a C++ program over `cublasLt.h` of CUDA 13.0 (g++ 12, x86-64):
    /// `sizeof(cublasLtMatmulHeuristicResult_t)` and `offsetof` of its fields.
    #[test]
    fn the_result_is_laid_out_as_the_header_says() {
        assert_eq!(size_of::<HeuristicResult>(), 96);
        let offsets = [
            offset_of!(HeuristicResult, workspace_bytes),
            offset_of!(HeuristicResult, state),
            offset_of!(HeuristicResult, waves),
            offset_of!(HeuristicResult, reserved),
        ];
        assert_eq!(offsets, [64, 72, 76, 80]);
    }

    fn ask(requested: i32, result: &mut HeuristicResult, count: &mut i32) -> CublasStatus {
        let none = std::ptr::null_mut();
        let (result, count) = (Out::to(result), Out::to(count));
        cublasLtMatmulAlgoGetHeuristic(none, none, none, none, none, none, none, requested, result, count)
    }

    #[test]
    fn there_is_always_one_algorithm_and_the_rest_of_the_array_is_left_alone() {
        let garbage = HeuristicResult { algorithm: [7; 8], workspace_bytes: 7, waves: 7.0, ..ONLY };
        let (mut results, mut count) = ([garbage; 2], 0);
        let [first, second] = &mut results;
        assert_eq!(ask(2, first, &mut count), CublasStatus::SUCCESS);
        assert_eq!((count, *first, *second), (1, ONLY, garbage));
        assert_eq!(ask(0, first, &mut count), CublasStatus::INVALID);
    }

    #[test]
    fn a_configuration_reads_back_and_stays_within_the_algorithm() {
        let mut algorithm = [0u64; 8];
        for (attribute, width) in [(0, 4), (2, 4), (8, 2)] {
            let buffer = In::to(&[3u8, 1, 4, 1]).cast();
            let room = Out::to(&mut algorithm).cast();
            assert_eq!(cublasLtMatmulAlgoConfigSetAttribute(room, attribute, buffer, width), CublasStatus::SUCCESS);
            let (mut read, mut written) = ([0u8; 4], 0);
            let (from, to) = (In::to(&algorithm).cast(), Out::to(&mut read).cast());
            let status = cublasLtMatmulAlgoConfigGetAttribute(from, attribute, to, width, Out::to(&mut written));
            assert_eq!((status, written), (CublasStatus::SUCCESS, width));
            assert_eq!(read[..width], [3u8, 1, 4, 1][..width]);
        }
        let last_slot = CONFIG_ATTRIBUTES as usize * size_of::<u32>();
        assert!(last_slot <= size_of_val(&algorithm));
    }
}
