//! The nouns of CUDA, shared by the runtime and the driver interface: both are thin doors to these.

pub(crate) mod attribute;
pub(crate) mod context;
pub(crate) mod event;
pub(crate) mod graph;
pub(crate) mod kernel;
pub(crate) mod memory;
pub(crate) mod pool;
pub(crate) mod properties;
pub(crate) mod stream;
pub(crate) mod virtual_memory;

/// An error code; the runtime (`cudaError_t`) and the driver (`CUresult`) number these alike (CUDA 13.0 headers).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code(pub i32);

/// A parameter is out of range or null.
pub(crate) const INVALID_VALUE: Code = Code(1);
/// There is not enough memory.
pub(crate) const OUT_OF_MEMORY: Code = Code(2);
/// No such device.
pub(crate) const INVALID_DEVICE: Code = Code(101);
/// A handle that is not, or no longer, one of ours.
pub(crate) const INVALID_HANDLE: Code = Code(400);
/// No such symbol.
pub(crate) const NOT_FOUND: Code = Code(500);
/// What was asked about is not done yet.
pub(crate) const NOT_READY: Code = Code(600);
/// Peer access is on already.
pub(crate) const PEER_ACCESS_ALREADY_ENABLED: Code = Code(704);
/// Host memory that was not registered.
pub(crate) const HOST_MEMORY_NOT_REGISTERED: Code = Code(713);
/// The phantom cannot do this.
pub(crate) const NOT_SUPPORTED: Code = Code(801);
/// A capture was ended that had not begun.
pub(crate) const CAPTURE_UNMATCHED: Code = Code(903);

/// The name and the sentence of an error code, as CUDA 13.0 words them.
pub(crate) fn describe(code: Code) -> (&'static std::ffi::CStr, &'static std::ffi::CStr) {
    match code.0 {
        0 => (c"cudaSuccess", c"no error"),
        1 => (c"cudaErrorInvalidValue", c"invalid argument"),
        2 => (c"cudaErrorMemoryAllocation", c"out of memory"),
        100 => (c"cudaErrorNoDevice", c"no CUDA-capable device is detected"),
        101 => (c"cudaErrorInvalidDevice", c"invalid device ordinal"),
        400 => (c"cudaErrorInvalidResourceHandle", c"invalid resource handle"),
        500 => (c"cudaErrorSymbolNotFound", c"named symbol not found"),
        600 => (c"cudaErrorNotReady", c"device not ready"),
        704 => (c"cudaErrorPeerAccessAlreadyEnabled", c"peer access is already enabled"),
        713 => (c"cudaErrorHostMemoryNotRegistered", c"pointer does not correspond to a registered memory region"),
        801 => (c"cudaErrorNotSupported", c"operation not supported"),
        903 => (c"cudaErrorStreamCaptureUnmatched", c"the capture was not initiated in this stream"),
        _ => (c"cudaErrorUnknown", c"unknown error"),
    }
}
