//! The version of CUDA that the program was built for, and the versions of the program's NVIDIA libraries.
//!
//! # Note [CUDA 12 and 13]
//!
//! The phantom answers programs for CUDA 12 and for CUDA 13. Almost every changed function got a new name during CUDA
//! 12 (`cudaGetDeviceProperties_v2`), so the name tells the version. CUDA 13 reassigned the plain names to the newest
//! variants, so that nine runtime functions differ under the same name (found by comparing the prototypes of
//! `cuda_runtime_api.h` 12.4 and 13.0; the headers of cuBLAS, cuDNN, cuFFT, cuRAND, cuSOLVER, cuSPARSE, NCCL and the
//! driver have no such function): `cudaMemAdvise`, `cudaMemPrefetchAsync`, `cudaStreamGetCaptureInfo`,
//! `cudaStreamUpdateCaptureDependencies` and the `cudaGraph` functions that take edges. Where the difference matters,
//! [`cuda_major`] decides by the soname of the mapped runtime, because the callers were linked with that runtime. A
//! process with both runtimes is ambiguous, and is refused.
//!
//! Structures that grew at their end need no decision where nobody reads the rest: the older, shorter part is written
//! (`cudaPointerAttributes`).
//!
//! # Note [Version answers]
//!
//! PyTorch compares the versions of libraries with those of its compilation, and cudnn-frontend chooses features by
//! version. The real libraries are mapped behind the phantom, so a question for a version is passed on to the library:
//! a documented function that returns constants, and touches no device. An unmapped library has the version of torch
//! 2.11.0's wheels.

use std::ffi::CStr;
use std::sync::OnceLock;

use crate::resolve;

/// An NVIDIA library, and the function that states its version.
#[derive(Debug)]
pub(crate) struct Library {
    /// Its file name up to the soname's number.
    file: &'static str,
    /// `…GetProperty(libraryPropertyType, int *)`.
    property: &'static CStr,
    /// Major, minor, patch level of an unmapped library.
    otherwise: [i32; 3],
    /// The answer of the mapped library.
    said: OnceLock<[i32; 3]>,
}

impl Library {
    /// Describes a library.
    pub(crate) const fn new(file: &'static str, property: &'static CStr, otherwise: [i32; 3]) -> Library {
        Library { file, property, otherwise, said: OnceLock::new() }
    }

    /// Major, minor, patch level. See Note [Version answers].
    pub(crate) fn version(&self) -> [i32; 3] {
        if let Some(said) = self.said.get() {
            return *said;
        }
        match resolve::ask_properties(self.file, self.property) {
            Some(version) => *self.said.get_or_init(|| version),
            None => self.otherwise,
        }
    }

    /// The version as one number; most libraries count the major version in thousands, cuBLAS and cuDNN in ten thousands.
    pub(crate) fn number(&self, major_unit: i32) -> i32 {
        let [major, minor, patch] = self.version();
        major * major_unit + minor * 100 + patch
    }
}

/// The answer of `cudaRuntimeGetVersion` without a mapped runtime: `CUDART_VERSION` of CUDA 13.0.
const CUDART: i32 = 13_000;

/// The version of the program's CUDA runtime, as `CUDART_VERSION` numbers it. See Note [Version answers].
pub(crate) fn runtime() -> i32 {
    resolve::ask_number("libcudart.so.", c"cudaRuntimeGetVersion").unwrap_or(CUDART)
}

/// The newest CUDA that the driver supports: never older than the program's CUDA.
pub(crate) fn driver() -> i32 {
    runtime().max(CUDART)
}

/// The major version of the callers' CUDA signatures, 12 or 13; `None` if both runtimes are mapped.
pub(crate) fn cuda_major() -> Option<i32> {
    let (is_12, is_13) = (resolve::is_mapped("libcudart.so.12"), resolve::is_mapped("libcudart.so.13"));
    match (is_12, is_13) {
        (true, false) => Some(12),
        (false, true) => Some(13),
        (false, false) => Some(CUDART / 1000),
        (true, true) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_the_libraries_versions_are_those_of_cuda_13() {
        let library = Library::new("libnothing.so.", c"nothingGetProperty", [1, 2, 3]);
        assert_eq!((library.version(), library.number(1000)), ([1, 2, 3], 1203));
        assert_eq!((runtime(), driver(), cuda_major()), (13_000, 13_000, Some(13)));
    }

    #[test]
    fn a_mapped_library_is_found_by_the_start_of_its_name() {
        assert!(resolve::is_mapped("libc.so."));
        assert!(resolve::mapped_symbol("libc.so.", c"strlen").is_some());
        assert!(resolve::mapped_symbol("libc.so.", c"cudaMalloc").is_none());
    }
}
