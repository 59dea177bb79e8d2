//! The library itself: handles, streams, versions, error texts.

use std::ffi::{CStr, c_char};

use super::{Answer, CudnnStatus, Opaque, create, destroy, known};
use crate::api::captured::note_for_library;
use crate::boundary::{Out, Status, export, inert, literal, write_text};
use crate::handle::{Handle, Table};
use crate::version::{self, Library};

/// See Note [Version answers] in `version.rs`; without the library, the version of torch 2.11.0's wheel.
static VERSION: Library = Library::new("libcudnn.so.", c"cudnnGetProperty", [9, 19, 0]);

/// `CUDNN_MAX_DEVICE_VERSION` of `cudnn_version.h`.
const MAX_DEVICE_VERSION: usize = 1210;

/// The state of a `cudnnHandle_t`: its stream, as a number, which is only returned.
struct Context {
    stream: usize,
}

static CONTEXTS: Table<Context> = Table::new();

export! { CudnnStatus;
    fn cudnnCreate(handle: Out<Handle>) {
        create(&CONTEXTS, Context { stream: 0 }, handle)
    }

    fn cudnnDestroy(handle: Handle) {
        destroy(&CONTEXTS, handle)
    }

    fn cudnnSetStream(handle: Handle, stream: Opaque) {
        known(&CONTEXTS, handle, |context| context.stream = stream as usize)
    }

    fn cudnnGetStream(handle: Handle, stream: Out<Opaque>) {
        stream.set(known(&CONTEXTS, handle, |context| context.stream)? as Opaque)
    }

    fn cudnnGetProperty(property: i32, value: Out<i32>) {
        // `libraryPropertyType`: MAJOR_VERSION 0, MINOR_VERSION 1, PATCH_LEVEL 2.
        let part = usize::try_from(property).ok().and_then(|index| VERSION.version().get(index).copied());
        value.set(part.ok_or(CudnnStatus::INVALID)?)
    }
}

inert! { CudnnStatus;
    cudnnAdvVersionCheck
    cudnnCnnVersionCheck
    cudnnGraphVersionCheck
    cudnnOpsVersionCheck
}

/// The major version of the program's cuDNN.
pub(crate) fn major_version() -> i32 {
    VERSION.version()[0]
}

/// The stream of a handle; the legacy stream for an unknown one.
pub(crate) fn stream_of(handle: Handle) -> usize {
    known(&CONTEXTS, handle, |context| context.stream).unwrap_or_default()
}

/// Notes work on the stream of a handle: in a capture, it is a node.
pub(crate) fn note_work(handle: Handle) -> Answer {
    note_for_library(|| stream_of(handle))
}

/// Fails unless `handle` is a live `cudnnHandle_t`.
pub(crate) fn check(handle: Handle) -> Answer {
    known(&CONTEXTS, handle, |_| ())
}

/// `cudnnGetVersion`: `CUDNN_VERSION`, folded as `cudnn_version.h` does.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetVersion() -> usize {
    VERSION.number(10_000) as usize
}

/// `cudnnGetCudartVersion`: the wheels of cuDNN are built for a major version of CUDA.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetCudartVersion() -> usize {
    version::runtime() as usize
}

/// `cudnnGetMaxDeviceVersion`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetMaxDeviceVersion() -> usize {
    MAX_DEVICE_VERSION
}

/// `cudnnGetErrorString`: the name of the status, as cuDNN does.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetErrorString(status: CudnnStatus) -> *const c_char {
    literal(name(status))
}

/// `cudnnGetLastErrorString`: the phantom's messages go to standard error, so the text is empty.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetLastErrorString(message: Out<c_char>, length: usize) {
    // The function returns nothing, so a missing buffer is nobody's error.
    let _ = write_text::<CudnnStatus>(message, length, "");
}

/// The statuses that the phantom returns, and a fallback for any other number of a caller.
fn name(status: CudnnStatus) -> &'static CStr {
    match status {
        CudnnStatus::SUCCESS => c"CUDNN_STATUS_SUCCESS",
        CudnnStatus::INVALID => c"CUDNN_STATUS_BAD_PARAM",
        CudnnStatus::UNSUPPORTED => c"CUDNN_STATUS_NOT_SUPPORTED",
        CudnnStatus::INTERNAL => c"CUDNN_STATUS_INTERNAL_ERROR",
        _ => c"CUDNN_UNKNOWN_STATUS",
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "test")]

    use std::ffi::CStr;

    use super::*;

    fn context() -> Handle {
        let mut handle = std::ptr::null_mut();
        assert_eq!(cudnnCreate(Out::to(&mut handle)), CudnnStatus::SUCCESS);
        handle
    }

    #[test]
    fn the_version_is_that_of_the_properties() {
        let mut parts = [0; 3];
        for (property, part) in (0..).zip(&mut parts) {
            assert_eq!(cudnnGetProperty(property, Out::to(part)), CudnnStatus::SUCCESS);
        }
        assert_eq!(parts, [9, 19, 0]);
        assert_eq!(cudnnGetVersion(), 91_900);
        assert_eq!(cudnnGetProperty(3, Out::to(&mut parts[0])), CudnnStatus::INVALID);
    }

    #[test]
    fn a_stream_is_given_back() {
        let handle = context();
        let mut stream = 0x7 as Opaque;
        assert_eq!(cudnnGetStream(handle, Out::to(&mut stream)), CudnnStatus::SUCCESS);
        assert!(stream.is_null());
        assert_eq!(cudnnSetStream(handle, 0x10 as Opaque), CudnnStatus::SUCCESS);
        assert_eq!(cudnnGetStream(handle, Out::to(&mut stream)), CudnnStatus::SUCCESS);
        assert_eq!(stream as usize, 0x10);
        assert_eq!(cudnnDestroy(handle), CudnnStatus::SUCCESS);
        assert_eq!(cudnnSetStream(handle, stream), CudnnStatus::INVALID);
    }

    #[test]
    fn statuses_have_names() {
        let cases =
            [(0, c"CUDNN_STATUS_SUCCESS"), (2000, c"CUDNN_STATUS_BAD_PARAM"), (3000, c"CUDNN_STATUS_NOT_SUPPORTED")];
        for (code, expected) in cases {
            assert_eq!(name(CudnnStatus(code)), expected);
        }
        let unknown: &CStr = name(CudnnStatus(-1));
        assert!(unknown.to_str().unwrap().contains("UNKNOWN"));
    }
}
