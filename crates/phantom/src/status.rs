//! The statuses of NVIDIA's libraries: the types that functions return.
//!
//! A library's functions are under `api`; the lists of missing functions, in `generated`, need no more of the library than its status.

mod driver;
mod runtime;

pub use self::driver::DriverStatus;
pub use self::runtime::CudaStatus;
use crate::boundary::{Status, status};

status! {
    /// `cublasStatus_t`.
    CublasStatus { success: 0, invalid: 7, internal: 14, unsupported: 15 }
}

status! {
    /// `cudnnStatus_t`: success, `BAD_PARAM`, `INTERNAL_ERROR` and `NOT_SUPPORTED` of `cudnn_graph.h`.
    CudnnStatus { success: 0, invalid: 2000, internal: 4000, unsupported: 3000 }
}

status! {
    /// `cufftResult`.
    CufftResult { success: 0, invalid: 4, internal: 5, unsupported: 16 }
}

status! {
    /// `curandStatus_t`. Without an "invalid value", out of range is the closest.
    CurandStatus { success: 0, invalid: 104, internal: 999, unsupported: 204 }
}

status! {
    /// `cusolverStatus_t`.
    CusolverStatus { success: 0, invalid: 3, internal: 7, unsupported: 9 }
}

status! {
    /// `cusparseStatus_t`.
    CusparseStatus { success: 0, invalid: 3, internal: 7, unsupported: 10 }
}

status! {
    /// `ncclResult_t`.
    NcclResult { success: 0, invalid: 4, internal: 3, unsupported: 5 }
}

/// `CUfileError_t`: a code of cuFile's and one of the driver's.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CufileError {
    /// `CUfileOpError`.
    pub(crate) operation: i32,
    /// `CUresult`.
    pub(crate) driver: i32,
}

impl CufileError {
    const fn of(operation: i32) -> CufileError {
        CufileError { operation, driver: 0 }
    }
}

/// The codes of `cufile.h`, CUDA 13.0: an unsupported platform is 5007, an invalid value 5022, an internal error 5030.
impl Status for CufileError {
    const SUCCESS: CufileError = CufileError::of(0);
    const INVALID: CufileError = CufileError::of(5_022);
    const INTERNAL: CufileError = CufileError::of(5_030);
    const UNSUPPORTED: CufileError = CufileError::of(5_007);
}
