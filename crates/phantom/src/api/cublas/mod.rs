//! cuBLAS: handles and their modes. Products do nothing ([`inert`]), reductions answer zero ([`results`]), and host
//! copies are done for real ([`copies`]).
//!
//! Results of cuBLAS stay device memory that reads as zeros. PyTorch allocates the workspace itself and passes it with
//! `cublasSetWorkspace_v2`, so the ledger has counted it already and the journal only names it. The small buffers that
//! `cublasCreate` allocates belong to the profile's context.

pub(crate) mod copies;
pub(crate) mod inert;
pub(crate) mod results;

use std::ffi::{c_char, c_void};

use crate::boundary::{In, Out, export, literal};
use crate::handle::{Handle, Table};
pub(crate) use crate::status::CublasStatus;
use crate::version::{self, Library};

/// `CUBLAS_STATUS_NOT_INITIALIZED`: the handle was never created, or was destroyed.
pub(crate) const NOT_INITIALIZED: CublasStatus = CublasStatus(1);

/// See Note [Version answers] in `version.rs`; cuBLAS of CUDA 13.0 is 13.1.0.
pub(crate) static VERSION: Library = Library::new("libcublas.so.", c"cublasGetProperty", [13, 1, 0]);

/// The state of a handle. Non-zero defaults are from the cuBLAS manual.
#[derive(Clone, Default)]
struct Context {
    stream: usize,
    pointer_mode: i32,
    atomics_mode: i32,
    math_mode: i32,
    sm_count_target: i32,
    emulation_strategy: i32,
    emulation_special_values: i32,
    mantissa_control: i32,
    max_mantissa_bits: i32,
    mantissa_bit_offset: i32,
    mantissa_bits: usize,
}

static HANDLES: Table<Context> = Table::new();

fn with<R>(handle: Handle, body: impl FnOnce(&mut Context) -> R) -> Result<R, CublasStatus> {
    HANDLES.with(handle, body).ok_or(NOT_INITIALIZED)
}

/// The stream of a handle; the legacy stream for an unknown one.
fn stream_of(handle: Handle) -> usize {
    with(handle, |context| context.stream).unwrap_or_default()
}

/// True if scalar results go to host memory: `CUBLAS_POINTER_MODE_HOST`, the default.
fn results_go_to_host(handle: Handle) -> Result<bool, CublasStatus> {
    with(handle, |context| context.pointer_mode == 0)
}

/// A setter and a getter of one field of the handle.
macro_rules! modes {
    ($($set:ident, $get:ident => $field:ident: $ty:ty;)*) => {
        export! { CublasStatus;
            $(
                fn $set(handle: Handle, value: $ty) { with(handle, |context| context.$field = value) }
                fn $get(handle: Handle, value: Out<$ty>) {
                    value.set(with(handle, |context| context.$field)?)
                }
            )*
        }
    };
}

modes! {
    cublasSetStream_v2, cublasGetStream_v2 => stream: usize;
    cublasSetPointerMode_v2, cublasGetPointerMode_v2 => pointer_mode: i32;
    cublasSetAtomicsMode, cublasGetAtomicsMode => atomics_mode: i32;
    cublasSetMathMode, cublasGetMathMode => math_mode: i32;
    cublasSetSmCountTarget, cublasGetSmCountTarget => sm_count_target: i32;
    cublasSetEmulationStrategy, cublasGetEmulationStrategy => emulation_strategy: i32;
    cublasSetEmulationSpecialValuesSupport, cublasGetEmulationSpecialValuesSupport => emulation_special_values: i32;
    cublasSetFixedPointEmulationMantissaControl, cublasGetFixedPointEmulationMantissaControl => mantissa_control: i32;
    cublasSetFixedPointEmulationMaxMantissaBitCount, cublasGetFixedPointEmulationMaxMantissaBitCount =>
        max_mantissa_bits: i32;
    cublasSetFixedPointEmulationMantissaBitOffset, cublasGetFixedPointEmulationMantissaBitOffset =>
        mantissa_bit_offset: i32;
    cublasSetFixedPointEmulationMantissaBitCountPointer, cublasGetFixedPointEmulationMantissaBitCountPointer =>
        mantissa_bits: usize;
}

export! { CublasStatus;
    fn cublasCreate_v2(handle: Out<Handle>) {
        // `cudaEmulationSpecialValuesSupport` starts as "default", 0xFFFF in `library_types.h`.
        let context = Context { emulation_special_values: 0xFFFF, ..Context::default() };
        handle.set(HANDLES.insert(context))
    }

    fn cublasDestroy_v2(handle: Handle) {
        HANDLES.remove(handle).map(drop).ok_or(NOT_INITIALIZED)
    }

    fn cublasSetWorkspace_v2(handle: Handle, workspace: usize, bytes: usize) {
        with(handle, |_| ())?;
        crate::journal::record_workspace("cublas", workspace as u64, bytes as u64);
        Ok(())
    }

    fn cublasGetVersion_v2(_handle: Handle, version: Out<i32>) { version.set(VERSION.number(10_000)) }

    fn cublasGetProperty(property: i32, value: Out<i32>) { set_property(&VERSION, property, value) }

    fn cublasLoggerConfigure(_on: i32, _to_stdout: i32, _to_stderr: i32, _file: In<c_char>) { Ok(()) }

    fn cublasSetLoggerCallback(_callback: *mut c_void) { Ok(()) }
}

/// Answers `libraryPropertyType`: 0 = major, 1 = minor, 2 = patch level.
pub(crate) fn set_property<S: crate::boundary::Status>(
    library: &Library,
    property: i32,
    value: Out<i32>,
) -> Result<(), S> {
    let index = usize::try_from(property).map_err(|_| S::INVALID)?;
    value.set(*library.version().get(index).ok_or(S::INVALID)?)
}

/// `cublasGetStatusName`, as CUDA's header declares it.
#[unsafe(no_mangle)]
pub extern "C" fn cublasGetStatusName(status: CublasStatus) -> *const c_char {
    literal(match status.0 {
        0 => c"CUBLAS_STATUS_SUCCESS",
        1 => c"CUBLAS_STATUS_NOT_INITIALIZED",
        3 => c"CUBLAS_STATUS_ALLOC_FAILED",
        7 => c"CUBLAS_STATUS_INVALID_VALUE",
        8 => c"CUBLAS_STATUS_ARCH_MISMATCH",
        11 => c"CUBLAS_STATUS_MAPPING_ERROR",
        13 => c"CUBLAS_STATUS_EXECUTION_FAILED",
        14 => c"CUBLAS_STATUS_INTERNAL_ERROR",
        15 => c"CUBLAS_STATUS_NOT_SUPPORTED",
        16 => c"CUBLAS_STATUS_LICENSE_ERROR",
        _ => c"CUBLAS_STATUS_UNKNOWN",
    })
}

/// `cublasGetStatusString`, as CUDA's header declares it.
#[unsafe(no_mangle)]
pub extern "C" fn cublasGetStatusString(status: CublasStatus) -> *const c_char {
    literal(match status.0 {
        0 => c"success",
        1 => c"the library was not initialized",
        3 => c"the resource allocation failed",
        7 => c"an invalid value was used as an argument",
        14 => c"an internal operation failed",
        15 => c"the functionality requested is not supported by the phantom GPU",
        _ => c"unknown cuBLAS status",
    })
}

/// `cublasGetCudartVersion`, as CUDA's header declares it.
#[unsafe(no_mangle)]
pub extern "C" fn cublasGetCudartVersion() -> usize {
    version::runtime() as usize
}

/// `cublasXerbla`, as declared in CUDA's header: names the wrong argument of a routine.
#[unsafe(no_mangle)]
pub extern "C" fn cublasXerbla(routine: In<c_char>, argument: i32) {
    let routine = routine.text().unwrap_or_default();
    crate::stderr::complain(&format!("argument {argument} of {routine} had an illegal value"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boundary::Status;

    fn create() -> Handle {
        let mut handle = std::ptr::null_mut();
        assert_eq!(cublasCreate_v2(Out::to(&mut handle)), CublasStatus::SUCCESS);
        handle
    }

    #[test]
    fn modes_are_what_was_set_and_start_as_the_manual_says() {
        let handle = create();
        let mut mode = -1;
        assert_eq!(cublasGetPointerMode_v2(handle, Out::to(&mut mode)), CublasStatus::SUCCESS);
        assert_eq!(mode, 0);
        assert_eq!(cublasSetMathMode(handle, 3), CublasStatus::SUCCESS);
        assert_eq!(cublasGetMathMode(handle, Out::to(&mut mode)), CublasStatus::SUCCESS);
        assert_eq!(mode, 3);
        let mut stream = 0;
        assert_eq!(cublasSetStream_v2(handle, 0x10), CublasStatus::SUCCESS);
        assert_eq!(cublasGetStream_v2(handle, Out::to(&mut stream)), CublasStatus::SUCCESS);
        assert_eq!(stream, 0x10);
        assert_eq!(cublasDestroy_v2(handle), CublasStatus::SUCCESS);
    }

    #[test]
    fn a_destroyed_handle_is_refused() {
        let handle = create();
        assert_eq!(cublasDestroy_v2(handle), CublasStatus::SUCCESS);
        assert_eq!(cublasDestroy_v2(handle), NOT_INITIALIZED);
        assert_eq!(cublasSetMathMode(handle, 1), NOT_INITIALIZED);
        assert_eq!(cublasSetWorkspace_v2(handle, 0x1000, 4096), NOT_INITIALIZED);
    }

    #[test]
    fn versions_are_the_headers() {
        let mut value = 0;
        assert_eq!(cublasGetVersion_v2(std::ptr::null_mut(), Out::to(&mut value)), CublasStatus::SUCCESS);
        assert_eq!(value, 130_100);
        for (property, expected) in [(0, 13), (1, 1), (2, 0)] {
            assert_eq!(cublasGetProperty(property, Out::to(&mut value)), CublasStatus::SUCCESS);
            assert_eq!(value, expected);
        }
        assert_eq!(cublasGetProperty(3, Out::to(&mut value)), CublasStatus::INVALID);
    }
}
