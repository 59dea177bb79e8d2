//! cuDNN: descriptors store their settings, sizes are modelled, computations do nothing.
//!
//! Facts of the interface are from the headers of cuDNN 9.19 (`cudnn_graph.h`, `cudnn_ops.h`, `cudnn_cnn.h`,
//! `cudnn_adv.h`). Every figure that cuDNN itself would choose is in `workspace.rs`, and nowhere else.

mod backend;
mod convolution;
mod ctc;
mod dropout;
mod library;
mod norm;
mod pooling;
mod rnn;
mod shape;
mod spatial;
mod tensor;
mod workspace;

use crate::boundary::{Out, Status};
use crate::handle::{Handle, Table};
pub(crate) use crate::status::CudnnStatus;

/// The result of an exported function's body.
type Answer<T = ()> = Result<T, CudnnStatus>;

/// An object of C that we only hand around: device pointers, host scalars, streams.
type Opaque = Handle;

/// Puts a new object into `table` and its handle into `out`.
fn create<T>(table: &Table<T>, value: T, out: Out<Handle>) -> Answer {
    if out.is_null() {
        return Err(CudnnStatus::INVALID);
    }
    out.set(table.insert(value))
}

/// Runs `body` on the object behind `handle`.
fn known<T, R>(table: &Table<T>, handle: Handle, body: impl FnOnce(&mut T) -> R) -> Answer<R> {
    table.with(handle, body).ok_or(CudnnStatus::INVALID)
}

/// Removes the object behind `handle`; destroying null is allowed, as it is in cuDNN.
fn destroy<T>(table: &Table<T>, handle: Handle) -> Answer {
    if handle.is_null() {
        return Ok(());
    }
    table.remove(handle).map(drop).ok_or(CudnnStatus::INVALID)
}

/// A count that C passes as `int`; a negative count is refused.
fn count(number: i32) -> Answer<usize> {
    usize::try_from(number).map_err(|_| CudnnStatus::INVALID)
}
