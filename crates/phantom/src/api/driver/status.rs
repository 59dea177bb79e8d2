//! `CUresult`, the status of every driver function.

use crate::boundary::Status;
use crate::cuda::Code;

/// `CUresult`. Unlike the runtime's, a failure leaves nothing behind.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverStatus(pub i32);

impl Status for DriverStatus {
    const SUCCESS: DriverStatus = DriverStatus(0);
    const INVALID: DriverStatus = DriverStatus(1);
    const INTERNAL: DriverStatus = DriverStatus(999);
    const UNSUPPORTED: DriverStatus = DriverStatus(801);
}

impl From<Code> for DriverStatus {
    fn from(code: Code) -> DriverStatus {
        DriverStatus(code.0)
    }
}
