//! Memory: allocation, copies, attributes of pointers.

use std::ffi::{c_int, c_uint, c_void};

use super::CudaStatus;
use super::event::IpcHandle;
use crate::boundary::{Out, export, inert};
use crate::cuda::graph::Work;
use crate::cuda::memory::{self, PointerKind};
use crate::cuda::{INVALID_VALUE, capture, context, virtual_memory};
use crate::handle::Handle;
use crate::ledger;
use crate::space::{self, RangeKind};

/// `cudaPointerAttributes` of CUDA 12. CUDA 13 appends 64 reserved bytes, which nobody reads, and for which a program
/// for CUDA 12 has no room. See Note [CUDA 12 and 13] in `version.rs`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are those of the header")]
pub struct PointerAttributes {
    pub kind: c_int,
    pub device: c_int,
    pub device_pointer: usize,
    pub host_pointer: usize,
}

inert! { CudaStatus;
    cudaMemAdvise
    cudaMemPrefetchAsync
}

export! { CudaStatus;
    fn cudaMalloc(address: Out<usize>, bytes: usize) { address.set_with(|| Ok(memory::allocate(bytes)?)) }
    fn cudaFree(address: usize) {
        ledger::ensure_context(context::current()); // `cudaFree(0)` is how programs create the context
        Ok(memory::free(address)?)
    }
    fn cudaMallocPitch(address: Out<usize>, pitch: Out<usize>, width: usize, height: usize) {
        let row = width.checked_next_multiple_of(512).ok_or(INVALID_VALUE)?;
        pitch.set::<CudaStatus>(row)?;
        address.set_with(|| Ok(memory::allocate(row.checked_mul(height).ok_or(INVALID_VALUE)?)?))
    }
    fn cudaMallocManaged(address: Out<usize>, bytes: usize, _flags: c_uint) {
        address.set_with(|| Ok(memory::allocate_host(RangeKind::Managed, bytes)?))
    }
    fn cudaHostAlloc(address: Out<usize>, bytes: usize, _flags: c_uint) {
        address.set_with(|| Ok(memory::allocate_host(RangeKind::Host, bytes)?))
    }
    fn cudaMallocHost(address: Out<usize>, bytes: usize) { address.set_with(|| Ok(memory::allocate_host(RangeKind::Host, bytes)?)) }
    fn cudaFreeHost(address: usize) { Ok(memory::free_host(address)?) }
    fn cudaHostRegister(address: usize, bytes: usize, _flags: c_uint) { Ok(memory::register(address, bytes)?) }
    fn cudaHostUnregister(address: usize) { Ok(memory::unregister(address)?) }
    fn cudaHostGetDevicePointer(device_pointer: Out<usize>, host: usize, _flags: c_uint) { device_pointer.set(host) }
    fn cudaHostGetFlags(flags: Out<c_uint>, _host: usize) { flags.set(0) }
    fn cudaMemGetInfo(free: Out<usize>, total: Out<usize>) {
        let (free_bytes, total_bytes) = ledger::free_and_total(context::current());
        free.set::<CudaStatus>(free_bytes as usize)?;
        total.set(total_bytes as usize)
    }

    fn cudaMemcpy(dst: usize, src: usize, bytes: usize, _kind: c_int) { copy(dst, src, bytes) }
    fn cudaMemcpyAsync(dst: usize, src: usize, bytes: usize, _kind: c_int, stream: Handle) {
        copy_on(stream, dst, src, bytes)
    }
    fn cudaMemcpyPeer(dst: usize, _to: c_int, src: usize, _from: c_int, bytes: usize) { copy(dst, src, bytes) }
    fn cudaMemcpyPeerAsync(dst: usize, _to: c_int, src: usize, _from: c_int, bytes: usize, stream: Handle) {
        copy_on(stream, dst, src, bytes)
    }
    fn cudaMemcpy2D(dst: usize, dpitch: usize, src: usize, spitch: usize, width: usize, height: usize, _kind: c_int) {
        capture::forbid_unsafe()?;
        copy_rows(dst, dpitch, src, spitch, width, height)
    }
    fn cudaMemcpy2DAsync(
        dst: usize, dpitch: usize, src: usize, spitch: usize, width: usize, height: usize, _kind: c_int, stream: Handle,
    ) {
        capture::note(stream, Work::Copy)?;
        copy_rows(dst, dpitch, src, spitch, width, height)
    }
    fn cudaMemset(dst: usize, value: c_int, bytes: usize) { fill(dst, value, bytes) }
    fn cudaMemsetAsync(dst: usize, value: c_int, bytes: usize, stream: Handle) {
        Ok(memory::fill_on(stream, dst, value as u8, bytes)?)
    }

    fn cudaPointerGetAttributes(attributes: Out<PointerAttributes>, pointer: *const c_void) {
        attributes.set(pointer_attributes(pointer as usize))
    }
    fn cudaIpcGetMemHandle(handle: Out<IpcHandle>, address: usize) {
        let extent = space::find(address).ok_or(INVALID_VALUE)?;
        handle.set(ipc_handle(extent.device, extent.bytes))
    }
    fn cudaIpcOpenMemHandle(address: Out<usize>, handle: IpcHandle, _flags: c_uint) {
        let (device, bytes) = opened_handle(&handle);
        address.set_with(|| Ok(virtual_memory::open_foreign(device, bytes)?))
    }
    fn cudaIpcCloseMemHandle(address: usize) {
        space::take_out(address, RangeKind::Mapped).map(|_| ()).ok_or_else(|| INVALID_VALUE.into())
    }
}

fn copy(dst: usize, src: usize, bytes: usize) -> Result<(), CudaStatus> {
    Ok(memory::copy(dst, src, bytes)?)
}

fn copy_on(stream: Handle, dst: usize, src: usize, bytes: usize) -> Result<(), CudaStatus> {
    Ok(memory::copy_on(stream, dst, src, bytes)?)
}

fn copy_rows(
    dst: usize,
    dpitch: usize,
    src: usize,
    spitch: usize,
    width: usize,
    height: usize,
) -> Result<(), CudaStatus> {
    if width > dpitch || width > spitch {
        return Err(INVALID_VALUE.into());
    }
    for row in 0..height {
        memory::move_bytes(dst + row * dpitch, src + row * spitch, width)?;
    }
    Ok(())
}

fn fill(dst: usize, value: c_int, bytes: usize) -> Result<(), CudaStatus> {
    Ok(memory::fill(dst, value as u8, bytes)?)
}

fn pointer_attributes(address: usize) -> PointerAttributes {
    let (kind, extent) = memory::classify(address);
    let (number, device_pointer, host_pointer) = match kind {
        PointerKind::Unregistered => (0, 0, address),
        PointerKind::Host => (1, address, address),
        PointerKind::Device => (2, address, 0),
        PointerKind::Managed => (3, address, address),
    };
    let device = extent.map_or(-2, |extent| extent.device as c_int); // -2 = cudaInvalidDeviceId
    PointerAttributes { kind: number, device, device_pointer, host_pointer }
}

/// The handle by which another process opens memory: device and size.
fn ipc_handle(device: u32, bytes: usize) -> IpcHandle {
    let mut handle = [0; 64];
    handle[..4].copy_from_slice(&device.to_le_bytes());
    handle[8..16].copy_from_slice(&(bytes as u64).to_le_bytes());
    IpcHandle(handle)
}

fn opened_handle(IpcHandle(handle): &IpcHandle) -> (u32, usize) {
    let device = handle[..4].iter().rev().fold(0, |n, byte| n << 8 | u32::from(*byte));
    let bytes = handle[8..16].iter().rev().fold(0, |n, byte| n << 8 | usize::from(*byte));
    (device, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_handle_says_device_and_size() {
        assert_eq!(opened_handle(&ipc_handle(3, 0x1234_5678_9abc)), (3, 0x1234_5678_9abc));
    }

    #[test]
    fn the_layout_is_that_of_the_header() {
        assert_eq!(size_of::<PointerAttributes>(), 24);
    }
}
