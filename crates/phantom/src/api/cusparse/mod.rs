//! cuSPARSE: handles, matrices with a stored shape ([`matrices`], [`dense`]), buffer sizes ([`buffers`], modelled), the
//! older interfaces ([`legacy`]), and products without work.

pub(crate) mod buffers;
pub(crate) mod dense;
pub(crate) mod legacy;
pub(crate) mod matrices;

use std::ffi::c_char;

use crate::api::captured::inert_on_stream;
use crate::boundary::{Out, export, inert, literal};
use crate::handle::{Handle, Table};
pub(crate) use crate::status::CusparseStatus;
use crate::version::Library;

/// `CUSPARSE_STATUS_NOT_INITIALIZED`: the handle was never created, or was destroyed.
pub(crate) const NOT_INITIALIZED: CusparseStatus = CusparseStatus(1);

/// See Note [Version answers] in `version.rs`; otherwise `CUSPARSE_VER_*` of `cusparse.h`, CUDA 13.0.
static VERSION: Library = Library::new("libcusparse.so.", c"cusparseGetProperty", [12, 6, 3]);

#[derive(Default)]
struct Context {
    stream: usize,
    pointer_mode: i32,
}

static HANDLES: Table<Context> = Table::new();

fn with<R>(handle: Handle, body: impl FnOnce(&mut Context) -> R) -> Result<R, CusparseStatus> {
    HANDLES.with(handle, body).ok_or(NOT_INITIALIZED)
}

/// The stream of a handle; the legacy stream for an unknown one.
fn stream_of(handle: Handle) -> usize {
    with(handle, |context| context.stream).unwrap_or_default()
}

/// True if scalar results go to host memory: `CUSPARSE_POINTER_MODE_HOST`, the default.
fn results_go_to_host(handle: Handle) -> Result<bool, CusparseStatus> {
    with(handle, |context| context.pointer_mode == 0)
}

export! { CusparseStatus;
    fn cusparseCreate(handle: Out<Handle>) { handle.set(HANDLES.insert(Context::default())) }
    fn cusparseDestroy(handle: Handle) { HANDLES.remove(handle).map(drop).ok_or(NOT_INITIALIZED) }
    fn cusparseSetStream(handle: Handle, stream: usize) { with(handle, |context| context.stream = stream) }
    fn cusparseGetStream(handle: Handle, stream: Out<usize>) { stream.set(with(handle, |context| context.stream)?) }
    fn cusparseSetPointerMode(handle: Handle, mode: i32) { with(handle, |context| context.pointer_mode = mode) }
    fn cusparseGetPointerMode(handle: Handle, mode: Out<i32>) { mode.set(with(handle, |context| context.pointer_mode)?) }

    fn cusparseGetVersion(_handle: Handle, version: Out<i32>) { version.set(VERSION.number(1000)) }
    fn cusparseGetProperty(property: i32, value: Out<i32>) { super::cublas::set_property(&VERSION, property, value) }
}

// Functions of logging.
inert! { CusparseStatus;
    cusparseLoggerForceDisable cusparseLoggerOpenFile cusparseLoggerSetCallback cusparseLoggerSetFile
    cusparseLoggerSetLevel cusparseLoggerSetMask
}

// Their outputs are vectors and matrices in device memory.
inert_on_stream! { CusparseStatus, stream_of;
    cusparseAxpby cusparseCreateIdentityPermutation cusparseDenseToSparse_analysis cusparseDenseToSparse_convert
    cusparseGather
    cusparseRot cusparseSDDMM cusparseSDDMM_preprocess cusparseScatter
    cusparseSpMM cusparseSpMM_preprocess cusparseSpMV cusparseSpMV_preprocess cusparseSpSM_analysis cusparseSpSM_solve
    cusparseSpSM_updateMatrix cusparseSpSV_analysis cusparseSpSV_solve cusparseSpSV_updateMatrix cusparseSparseToDense
}

/// `cusparseGetErrorName`, as CUDA's header declares it.
#[unsafe(no_mangle)]
pub extern "C" fn cusparseGetErrorName(status: CusparseStatus) -> *const c_char {
    literal(match status.0 {
        0 => c"CUSPARSE_STATUS_SUCCESS",
        1 => c"CUSPARSE_STATUS_NOT_INITIALIZED",
        2 => c"CUSPARSE_STATUS_ALLOC_FAILED",
        3 => c"CUSPARSE_STATUS_INVALID_VALUE",
        7 => c"CUSPARSE_STATUS_INTERNAL_ERROR",
        9 => c"CUSPARSE_STATUS_ZERO_PIVOT",
        10 => c"CUSPARSE_STATUS_NOT_SUPPORTED",
        11 => c"CUSPARSE_STATUS_INSUFFICIENT_RESOURCES",
        _ => c"CUSPARSE_STATUS_UNKNOWN",
    })
}

/// `cusparseGetErrorString`, as CUDA's header declares it.
#[unsafe(no_mangle)]
pub extern "C" fn cusparseGetErrorString(status: CusparseStatus) -> *const c_char {
    literal(match status.0 {
        0 => c"success",
        1 => c"initialization error",
        2 => c"out of memory",
        3 => c"invalid value",
        7 => c"internal error",
        9 => c"zero pivot",
        10 => c"operation not supported by the phantom GPU",
        _ => c"unknown cuSPARSE status",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boundary::Status;

    #[test]
    fn handles_remember_their_modes_until_destroyed() {
        let mut handle = std::ptr::null_mut();
        assert_eq!(cusparseCreate(Out::to(&mut handle)), CusparseStatus::SUCCESS);
        let mut mode = 7;
        assert_eq!(cusparseGetPointerMode(handle, Out::to(&mut mode)), CusparseStatus::SUCCESS);
        assert_eq!(mode, 0);
        assert_eq!(cusparseSetPointerMode(handle, 1), CusparseStatus::SUCCESS);
        assert_eq!(cusparseGetPointerMode(handle, Out::to(&mut mode)), CusparseStatus::SUCCESS);
        assert_eq!(mode, 1);
        assert_eq!(cusparseDestroy(handle), CusparseStatus::SUCCESS);
        assert_eq!(cusparseSetPointerMode(handle, 0), NOT_INITIALIZED);
    }
}
