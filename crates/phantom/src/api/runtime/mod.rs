//! The CUDA runtime (`libcudart`), as declared in `cuda_runtime_api.h` of CUDA 13.0, and of CUDA 12.4 where that differs
//! (Note [CUDA 12 and 13] in `version.rs`).

pub(crate) mod device;
pub(crate) mod event;
pub(crate) mod graph;
pub(crate) mod kernel;
pub mod memory;
pub mod pool;
pub(crate) mod registration;
pub(crate) mod stream;

use std::ffi::c_char;

use crate::boundary::{export, literal};
use crate::cuda::{Code, NOT_SUPPORTED, describe};
pub use crate::status::CudaStatus;
use crate::{journal, version};

/// Returns the thread's last error and forgets it.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetLastError() -> CudaStatus {
    CudaStatus::take_last()
}

/// Returns the thread's last error and keeps it.
#[unsafe(no_mangle)]
pub extern "C" fn cudaPeekAtLastError() -> CudaStatus {
    CudaStatus::last()
}

/// The name of an error.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorName(error: CudaStatus) -> *const c_char {
    literal(describe(Code(error.0)).0)
}

/// The sentence for an error.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorString(error: CudaStatus) -> *const c_char {
    literal(describe(Code(error.0)).1)
}

/// True if the callers of a function that CUDA 13 changed use the signature of CUDA 13, false for CUDA 12; an error if
/// both runtimes are mapped. See Note [CUDA 12 and 13] in `version.rs`.
fn is_cuda_13(function: &'static str) -> Result<bool, CudaStatus> {
    let Some(major) = version::cuda_major() else {
        journal::record_missing(function);
        return Err(NOT_SUPPORTED.into());
    };
    Ok(major == 13)
}

export! { CudaStatus;
    fn cudaProfilerStart() { Ok(()) }
    fn cudaProfilerStop() { Ok(()) }
}
