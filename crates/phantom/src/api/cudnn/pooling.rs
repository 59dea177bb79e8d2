//! Pooling: the caller states the output's shape, so a descriptor stores nothing.

use super::{CudnnStatus, create, destroy, known, library};
use crate::api::captured::inert_on_stream;
use crate::boundary::{Out, export};
use crate::handle::{Handle, Table};

static POOLINGS: Table<()> = Table::new();

export! { CudnnStatus;
    fn cudnnCreatePoolingDescriptor(out: Out<Handle>) {
        create(&POOLINGS, (), out)
    }

    fn cudnnDestroyPoolingDescriptor(handle: Handle) {
        destroy(&POOLINGS, handle)
    }

    fn cudnnSetPooling2dDescriptor(
        handle: Handle, _mode: i32, _nan_propagation: i32, _height: i32, _width: i32, _vertical_padding: i32,
        _horizontal_padding: i32, _vertical_stride: i32, _horizontal_stride: i32,
    ) {
        known(&POOLINGS, handle, |()| ())
    }
}

inert_on_stream! { CudnnStatus, library::stream_of;
    cudnnPoolingForward
}
