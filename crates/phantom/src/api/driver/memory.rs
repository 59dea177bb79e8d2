//! Memory through the driver interface.

use std::ffi::{c_int, c_uint, c_void};

use wire::limit::KEPT_BYTES;

use super::DriverStatus;
use crate::boundary::{In, Out, export, inert};
use crate::cuda::graph::Work;
use crate::cuda::memory::{self, PointerKind};
use crate::cuda::{INVALID_VALUE, capture, context, pool};
use crate::handle::Handle;
use crate::ledger;
use crate::space::{self, RangeKind};

inert! { DriverStatus;
    cuMemAdvise
    cuMemAdvise_v2
    cuMemPrefetchAsync
    cuMemPrefetchAsync_v2
    cuMemPoolSetAccess
    cuMemsetD2D8_v2
    cuMemsetD2D16_v2
    cuMemsetD2D32_v2
    cuPointerSetAttribute
    cuStreamWriteValue32_v2
    cuStreamWriteValue64_v2
    cuStreamWaitValue32_v2
    cuStreamWaitValue64_v2
}

export! { DriverStatus;
    fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) {
        let (free_bytes, total_bytes) = ledger::free_and_total(context::current());
        free.set::<DriverStatus>(free_bytes as usize)?;
        total.set(total_bytes as usize)
    }
    fn cuMemAlloc_v2(address: Out<usize>, bytes: usize) { address.set_with(|| Ok(memory::allocate(bytes)?)) }
    fn cuMemFree_v2(address: usize) { Ok(memory::free(address)?) }
    fn cuMemAllocManaged(address: Out<usize>, bytes: usize, _flags: c_uint) {
        address.set_with(|| Ok(memory::allocate_host(RangeKind::Managed, bytes)?))
    }
    fn cuMemAllocHost_v2(address: Out<usize>, bytes: usize) { address.set_with(|| Ok(memory::allocate_host(RangeKind::Host, bytes)?)) }
    fn cuMemHostAlloc(address: Out<usize>, bytes: usize, _flags: c_uint) {
        address.set_with(|| Ok(memory::allocate_host(RangeKind::Host, bytes)?))
    }
    fn cuMemFreeHost(address: usize) { Ok(memory::free_host(address)?) }
    fn cuMemHostRegister_v2(address: usize, bytes: usize, _flags: c_uint) { Ok(memory::register(address, bytes)?) }
    fn cuMemHostUnregister(address: usize) { Ok(memory::unregister(address)?) }
    fn cuMemHostGetDevicePointer_v2(device_pointer: Out<usize>, host: usize, _flags: c_uint) { device_pointer.set(host) }
    fn cuMemAllocAsync(address: Out<usize>, bytes: usize, stream: Handle) {
        address.set_with(|| Ok(pool::allocate_on(stream, bytes)?))
    }
    fn cuMemFreeAsync(address: usize, stream: Handle) { Ok(memory::free_on(stream, address)?) }
    fn cuDeviceGetDefaultMemPool(found: Out<usize>, which: c_int) { found.set(pool::of_device(context::checked(which)?)) }
    fn cuDeviceGetMemPool(found: Out<usize>, which: c_int) { found.set(pool::of_device(context::checked(which)?)) }
    fn cuMemPoolTrimTo(which: usize, keep_bytes: usize) { Ok(pool::trim(which, keep_bytes as u64)?) }

    fn cuMemcpy(dst: usize, src: usize, bytes: usize) { copy(dst, src, bytes) }
    fn cuMemcpyAsync(dst: usize, src: usize, bytes: usize, stream: Handle) { copy_on(stream, dst, src, bytes) }
    fn cuMemcpyHtoD_v2(dst: usize, src: usize, bytes: usize) { copy(dst, src, bytes) }
    fn cuMemcpyHtoDAsync_v2(dst: usize, src: usize, bytes: usize, stream: Handle) { copy_on(stream, dst, src, bytes) }
    fn cuMemcpyDtoH_v2(dst: usize, src: usize, bytes: usize) { copy(dst, src, bytes) }
    fn cuMemcpyDtoHAsync_v2(dst: usize, src: usize, bytes: usize, stream: Handle) { copy_on(stream, dst, src, bytes) }
    fn cuMemcpyDtoD_v2(dst: usize, src: usize, bytes: usize) { copy(dst, src, bytes) }
    fn cuMemcpyDtoDAsync_v2(dst: usize, src: usize, bytes: usize, stream: Handle) { copy_on(stream, dst, src, bytes) }
    fn cuMemsetD8_v2(dst: usize, value: u8, count: usize) { fill(dst, &[value], count) }
    fn cuMemsetD8Async(dst: usize, value: u8, count: usize, stream: Handle) { fill_on(stream, dst, &[value], count) }
    fn cuMemsetD16_v2(dst: usize, value: u16, count: usize) { fill(dst, &value.to_le_bytes(), count) }
    fn cuMemsetD16Async(dst: usize, value: u16, count: usize, stream: Handle) { fill_on(stream, dst, &value.to_le_bytes(), count) }
    fn cuMemsetD32_v2(dst: usize, value: u32, count: usize) { fill(dst, &value.to_le_bytes(), count) }
    fn cuMemsetD32Async(dst: usize, value: u32, count: usize, stream: Handle) { fill_on(stream, dst, &value.to_le_bytes(), count) }

    fn cuMemGetAddressRange_v2(base: Out<usize>, bytes: Out<usize>, address: usize) {
        let extent = space::find(address).ok_or(INVALID_VALUE)?;
        base.set_if_wanted(extent.address);
        bytes.set_if_wanted(extent.bytes);
        Ok(())
    }
    fn cuPointerGetAttribute(value: Out<c_void>, number: c_int, address: usize) {
        if pointer_attribute(value, number, address) { Ok(()) } else { Err(INVALID_VALUE.into()) }
    }
    fn cuPointerGetAttributes(count: c_uint, numbers: In<c_int>, values: In<Out<c_void>>, address: usize) {
        let numbers = numbers.array(count as usize).to_vec::<DriverStatus>()?;
        let values = values.array(count as usize).to_vec::<DriverStatus>()?;
        for (number, value) in numbers.into_iter().zip(values) {
            // As the driver does, an attribute that does not apply reads as zero.
            if !pointer_attribute(value, number, address) {
                value.typed::<u8>().set_if_wanted(0);
            }
        }
        Ok(())
    }
}

fn copy(dst: usize, src: usize, bytes: usize) -> Result<(), DriverStatus> {
    Ok(memory::copy(dst, src, bytes)?)
}

fn copy_on(stream: Handle, dst: usize, src: usize, bytes: usize) -> Result<(), DriverStatus> {
    Ok(memory::copy_on(stream, dst, src, bytes)?)
}

fn fill_on(stream: Handle, dst: usize, pattern: &[u8], count: usize) -> Result<(), DriverStatus> {
    capture::note(stream, Work::Fill)?;
    fill(dst, pattern, count)
}

/// Fills with a pattern. A pattern other than a repeated byte is kept only in a small range.
fn fill(dst: usize, pattern: &[u8], count: usize) -> Result<(), DriverStatus> {
    let bytes = pattern.len().checked_mul(count).ok_or(INVALID_VALUE)?;
    if pattern.iter().all(|byte| *byte == pattern[0]) || bytes > KEPT_BYTES {
        Ok(memory::fill(dst, pattern[0], bytes)?)
    } else {
        let whole = pattern.repeat(count);
        Ok(memory::move_bytes(dst, whole.as_ptr() as usize, bytes)?)
    }
}

/// Writes an attribute (`CUpointer_attribute`) in the width of the header; `false` for an attribute that does not
/// apply.
fn pointer_attribute(value: Out<c_void>, number: c_int, address: usize) -> bool {
    let (kind, Some(extent)) = memory::classify(address) else { return false };
    let is_host = kind == PointerKind::Host;
    let integer = |n: c_int| value.typed::<c_int>().set_if_wanted(n);
    let word = |n: usize| value.typed::<usize>().set_if_wanted(n);
    match number {
        1 => word(context::primary(extent.device) as usize),
        2 => integer(if is_host { 1 } else { 2 }),
        3 => word(address),
        4 if is_host || kind == PointerKind::Managed => word(address),
        6 | 8 | 13 => value.typed::<u8>().set_if_wanted(u8::from(number == 13 || kind == PointerKind::Managed)),
        7 | 20 => value.typed::<u64>().set_if_wanted(extent.address as u64),
        9 => integer(extent.device as c_int),
        10 => integer(c_int::from(extent.kind == RangeKind::Device)),
        11 | 19 => word(extent.address),
        12 | 18 => word(extent.bytes),
        14 => value.typed::<u64>().set_if_wanted(0),
        15 | 21 => value.typed::<u8>().set_if_wanted(0),
        16 => integer(3),
        17 => word(0),
        _ => return false,
    }
    true
}
