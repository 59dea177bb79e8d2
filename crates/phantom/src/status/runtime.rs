//! `cudaError_t`, the status of every function of the runtime.

use std::cell::Cell;

use crate::boundary::Status;
use crate::cuda::{Code, context};

/// `cudaError_t`.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CudaStatus(pub i32);

impl From<Code> for CudaStatus {
    fn from(code: Code) -> CudaStatus {
        CudaStatus(code.0)
    }
}

thread_local! {
    static LAST_ERROR: Cell<i32> = const { Cell::new(0) };
}

impl CudaStatus {
    /// Returns the thread's last error.
    pub(crate) fn last() -> CudaStatus {
        CudaStatus(LAST_ERROR.get())
    }

    /// Returns the thread's last error and forgets it.
    pub(crate) fn take_last() -> CudaStatus {
        CudaStatus(LAST_ERROR.replace(0))
    }
}

impl Status for CudaStatus {
    const SUCCESS: CudaStatus = CudaStatus(0);
    const INVALID: CudaStatus = CudaStatus(1);
    const INTERNAL: CudaStatus = CudaStatus(999);
    const UNSUPPORTED: CudaStatus = CudaStatus(801);

    /// The runtime initialises the driver.
    fn enter(_function: &'static str) -> Result<(), CudaStatus> {
        context::initialize();
        Ok(())
    }

    /// A failed call leaves the thread's last error set until it is read.
    fn failed(self) {
        LAST_ERROR.set(self.0);
    }
}
