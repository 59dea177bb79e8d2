//! `CUresult`, the status of every driver function.

use crate::boundary::Status;
use crate::cuda::{Code, NOT_INITIALIZED, context};

/// Functions allowed before `cuInit` ("CUDA Driver API", Initialization).
const BEFORE_INIT: [&str; 7] = [
    "cuInit",
    "cuDriverGetVersion",
    "cuGetErrorString",
    "cuGetErrorName",
    "cuGetProcAddress",
    "cuGetProcAddress_v2",
    "cuGetExportTable",
];

/// `CUresult`. Unlike the runtime's, a failure leaves nothing behind.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverStatus(pub i32);

impl Status for DriverStatus {
    const SUCCESS: DriverStatus = DriverStatus(0);
    const INVALID: DriverStatus = DriverStatus(1);
    const INTERNAL: DriverStatus = DriverStatus(999);
    const UNSUPPORTED: DriverStatus = DriverStatus(801);

    /// Refuses other calls before `cuInit`.
    fn enter(function: &'static str) -> Result<(), DriverStatus> {
        if context::is_initialized() || BEFORE_INIT.contains(&function) { Ok(()) } else { Err(NOT_INITIALIZED.into()) }
    }
}

impl From<Code> for DriverStatus {
    fn from(code: Code) -> DriverStatus {
        DriverStatus(code.0)
    }
}
