//! The nouns of CUDA, shared by the runtime and the driver interface: both are thin doors to these.

pub(crate) mod attribute;
pub(crate) mod capture;
pub(crate) mod context;
pub(crate) mod event;
pub(crate) mod graph;
pub(crate) mod kernel;
pub(crate) mod memory;
pub(crate) mod order;
pub(crate) mod pool;
pub(crate) mod properties;
pub(crate) mod stream;
pub(crate) mod virtual_memory;

/// An error code; the runtime (`cudaError_t`) and the driver (`CUresult`) number these alike (CUDA 13.0 headers).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code(pub i32);

/// A parameter is out of range or null.
pub(crate) const INVALID_VALUE: Code = Code(1);
/// `cuInit` was not called.
pub(crate) const NOT_INITIALIZED: Code = Code(3);
pub(crate) const OUT_OF_MEMORY: Code = Code(2);
/// No such device.
pub(crate) const INVALID_DEVICE: Code = Code(101);
/// A handle that is unknown, or was freed.
pub(crate) const INVALID_HANDLE: Code = Code(400);
/// An object in a state that forbids the call.
pub(crate) const ILLEGAL_STATE: Code = Code(401);
/// No such symbol.
pub(crate) const NOT_FOUND: Code = Code(500);
/// Pending work.
pub(crate) const NOT_READY: Code = Code(600);
/// Peer access is on already.
pub(crate) const PEER_ACCESS_ALREADY_ENABLED: Code = Code(704);
/// Host memory that was not registered.
pub(crate) const HOST_MEMORY_NOT_REGISTERED: Code = Code(713);
/// Unsupported by the phantom.
pub(crate) const NOT_SUPPORTED: Code = Code(801);
/// A stream that is captured cannot be waited for; a call beside a capture is unsafe.
pub(crate) const CAPTURE_UNSUPPORTED: Code = Code(900);
/// The capture was invalidated before.
pub(crate) const CAPTURE_INVALIDATED: Code = Code(901);
/// A stream of one capture would wait for another capture.
pub(crate) const CAPTURE_MERGE: Code = Code(902);
/// The end of a capture on a stream other than the origin.
pub(crate) const CAPTURE_UNMATCHED: Code = Code(903);
/// The end of a capture whose origin does not wait for all captured work.
pub(crate) const CAPTURE_UNJOINED: Code = Code(904);
/// A stream of a capture would wait for work that is not captured.
pub(crate) const CAPTURE_ISOLATION: Code = Code(905);
/// The legacy stream would wait for a capture.
pub(crate) const CAPTURE_IMPLICIT: Code = Code(906);
/// An event that was recorded in a capture cannot be waited for.
pub(crate) const CAPTURED_EVENT: Code = Code(907);
/// The end of a capture in another thread than its beginning.
pub(crate) const CAPTURE_WRONG_THREAD: Code = Code(908);

/// The name and the sentence of an error code, as CUDA 13.0 words them.
pub(crate) fn describe(code: Code) -> (&'static std::ffi::CStr, &'static std::ffi::CStr) {
    match code.0 {
        0 => (c"cudaSuccess", c"no error"),
        1 => (c"cudaErrorInvalidValue", c"invalid argument"),
        2 => (c"cudaErrorMemoryAllocation", c"out of memory"),
        3 => (c"cudaErrorInitializationError", c"initialization error"),
        100 => (c"cudaErrorNoDevice", c"no CUDA-capable device is detected"),
        101 => (c"cudaErrorInvalidDevice", c"invalid device ordinal"),
        400 => (c"cudaErrorInvalidResourceHandle", c"invalid resource handle"),
        401 => (c"cudaErrorIllegalState", c"the operation cannot be performed in the present state"),
        500 => (c"cudaErrorSymbolNotFound", c"named symbol not found"),
        600 => (c"cudaErrorNotReady", c"device not ready"),
        704 => (c"cudaErrorPeerAccessAlreadyEnabled", c"peer access is already enabled"),
        713 => (c"cudaErrorHostMemoryNotRegistered", c"pointer does not correspond to a registered memory region"),
        801 => (c"cudaErrorNotSupported", c"operation not supported"),
        900 => (c"cudaErrorStreamCaptureUnsupported", c"operation not permitted when stream is capturing"),
        901 => (c"cudaErrorStreamCaptureInvalidated", c"operation failed due to a previous error during capture"),
        902 => (c"cudaErrorStreamCaptureMerge", c"operation would result in a merge of separate capture sequences"),
        903 => (c"cudaErrorStreamCaptureUnmatched", c"capture was not ended in the same stream as it began"),
        904 => (c"cudaErrorStreamCaptureUnjoined", c"capturing stream has unjoined work"),
        905 => (c"cudaErrorStreamCaptureIsolation", c"dependency created on uncaptured work in another stream"),
        906 => (
            c"cudaErrorStreamCaptureImplicit",
            c"operation would make the legacy stream depend on a capturing blocking stream",
        ),
        907 => (c"cudaErrorCapturedEvent", c"operation not permitted on an event last recorded in a capturing stream"),
        908 => (
            c"cudaErrorStreamCaptureWrongThread",
            c"attempt to terminate a thread-local capture sequence from another thread",
        ),
        _ => (c"cudaErrorUnknown", c"unknown error"),
    }
}
