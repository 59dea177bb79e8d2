//! Stream-ordered allocation (`cudaMallocAsync`) and its pools.

use std::ffi::{c_int, c_void};

use super::CudaStatus;
use crate::boundary::{Out, export, inert};
use crate::cuda::{context, memory, pool};
use crate::handle::Handle;

inert! { CudaStatus;
    cudaMemPoolSetAccess
}

export! { CudaStatus;
    fn cudaMallocAsync(address: Out<usize>, bytes: usize, stream: Handle) {
        address.set_with(|| Ok(pool::allocate_on(stream, bytes)?))
    }
    fn cudaMallocFromPoolAsync(address: Out<usize>, bytes: usize, _pool: usize, stream: Handle) {
        address.set_with(|| Ok(pool::allocate_on(stream, bytes)?))
    }
    fn cudaFreeAsync(address: usize, stream: Handle) { Ok(memory::free_on(stream, address)?) }
    fn cudaDeviceGetDefaultMemPool(found: Out<usize>, which: c_int) { found.set(pool::of_device(context::checked(which)?)) }
    fn cudaDeviceGetMemPool(found: Out<usize>, which: c_int) { found.set(pool::of_device(context::checked(which)?)) }
    fn cudaDeviceSetMemPool(which: c_int, _pool: usize) { context::checked(which)?; Ok(()) }
    fn cudaMemPoolTrimTo(which: usize, keep_bytes: usize) { Ok(pool::trim(which, keep_bytes as u64)?) }
    fn cudaMemPoolGetAttribute(which: usize, number: c_int, value: Out<c_void>) {
        let found = pool::attribute(which, number)?;
        // The reuse attributes are ints, the others are 64 bits wide.
        if number <= 3 { value.typed::<c_int>().set(found as c_int) } else { value.typed::<u64>().set(found) }
    }
    fn cudaMemPoolSetAttribute(which: usize, number: c_int, value: Out<c_void>) {
        let wanted = if number <= 3 { 0 } else { value.typed::<u64>().get::<CudaStatus>()? };
        Ok(pool::set_attribute(which, number, wanted)?)
    }
}
