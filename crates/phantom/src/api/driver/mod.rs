//! The CUDA driver interface (`libcuda.so.1`), as declared in `cuda.h` of CUDA 13.0: what PyTorch, Triton and
//! extensions ask for by name.

pub(crate) mod context;
pub(crate) mod graph;
pub(crate) mod memory;
pub(crate) mod module;
pub(crate) mod stream;
pub mod virtual_memory;

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::boundary::{In, Out, export, literal};
use crate::cuda::{Code, INVALID_VALUE, NOT_SUPPORTED, context as contexts, describe};
pub use crate::status::DriverStatus;
use crate::{resolve, version};

/// `CUlogsCallbackHandle`: never dereferenced.
const LOG_READER: usize = 0x0D00_0020;

export! { DriverStatus;
    fn cuInit(_flags: c_uint) {
        contexts::initialize();
        Ok(())
    }
    fn cuDriverGetVersion(version: Out<c_int>) { version.set(version::driver()) }
    fn cuGetErrorString(error: DriverStatus, text: Out<*const c_char>) { text.set(literal(describe(Code(error.0)).1)) }
    fn cuGetErrorName(error: DriverStatus, text: Out<*const c_char>) { text.set(literal(describe(Code(error.0)).0)) }
    fn cuGetProcAddress(symbol: In<c_char>, found: Out<*const c_void>, version: c_int, _flags: u64) {
        find(symbol, found, version, None)
    }
    fn cuGetProcAddress_v2(
        symbol: In<c_char>, found: Out<*const c_void>, version: c_int, _flags: u64, status: Out<c_int>,
    ) {
        find(symbol, found, version, Some(status))
    }
    // A driver of CUDA 13 passes its log to the callback. The phantom has no log.
    fn cuLogsRegisterCallback(_callback: usize, _data: *mut c_void, registered: Out<usize>) {
        registered.set_if_wanted(LOG_READER);
        Ok(())
    }
    fn cuLogsUnregisterCallback(registered: usize) {
        if registered == LOG_READER { Ok(()) } else { Err(INVALID_VALUE.into()) }
    }
    /// Undocumented, and answered by NVIDIA's driver alone: a caller, such as a statically linked runtime, cannot run here.
    fn cuGetExportTable(_table: Out<*const c_void>, _id: *const c_void) {
        crate::journal::record_missing("cuGetExportTable");
        Err(NOT_SUPPORTED.into())
    }
    fn cuProfilerStart() { Ok(()) }
    fn cuProfilerStop() { Ok(()) }
}

/// `wanted` is the version of CUDA whose signature the caller has.
fn find(
    symbol: In<c_char>,
    found: Out<*const c_void>,
    wanted: c_int,
    status: Option<Out<c_int>>,
) -> Result<(), DriverStatus> {
    let name = symbol.text().ok_or(INVALID_VALUE)?;
    let address = match graph::symbol_of_version(&name, wanted) {
        Some(symbol) => resolve::exact_symbol(&symbol),
        None => resolve::own_symbol(&name),
    };
    if let Some(status) = status {
        status.set_if_wanted(c_int::from(address.is_none())); // `CUdriverProcAddressQueryResult`
    }
    found.set::<DriverStatus>(address.unwrap_or(std::ptr::null()))?;
    if address.is_some() { Ok(()) } else { Err(crate::cuda::NOT_FOUND.into()) }
}
