//! The driver's virtual memory interface, on which PyTorch's expandable segments stand.

use std::ffi::{c_int, c_uint, c_void};

use super::DriverStatus;
use crate::boundary::{In, Out, export, inert};
use crate::cuda::{NOT_SUPPORTED, context, virtual_memory};
use crate::handle::Handle;

/// `CUmemAllocationProp`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are those of the header")]
pub struct AllocationProp {
    pub kind: c_int,
    pub requested_handle_types: c_int,
    pub location_kind: c_int,
    pub location_id: c_int,
    pub win32_meta_data: *const c_void,
    pub flags: [u8; 8],
}

/// `CUmemAllocationHandleType`: a POSIX file descriptor.
const FILE_DESCRIPTOR: c_int = 1;

inert! { DriverStatus;
    cuMemSetAccess
}

export! { DriverStatus;
    fn cuMemGetAllocationGranularity(bytes: Out<usize>, _prop: In<AllocationProp>, _option: c_int) {
        bytes.set(virtual_memory::GRANULARITY)
    }
    fn cuMemCreate(created: Out<Handle>, bytes: usize, prop: In<AllocationProp>, _flags: u64) {
        let prop = prop.get::<DriverStatus>()?;
        // Only file descriptors can be exported here; PyTorch tries fabric handles first and takes a refusal well.
        if prop.requested_handle_types > FILE_DESCRIPTOR {
            return Err(NOT_SUPPORTED.into());
        }
        created.set_with(|| Ok(virtual_memory::create(context::checked(prop.location_id)?, bytes)?))
    }
    fn cuMemRelease(handle: Handle) { Ok(virtual_memory::release(handle)?) }
    fn cuMemAddressReserve(address: Out<usize>, bytes: usize, alignment: usize, _wanted: usize, _flags: u64) {
        address.set_with(|| Ok(virtual_memory::reserve(context::current(), bytes, alignment)?))
    }
    fn cuMemAddressFree(address: usize, _bytes: usize) { Ok(virtual_memory::unreserve(address)?) }
    fn cuMemMap(address: usize, bytes: usize, _offset: usize, handle: Handle, _flags: u64) {
        Ok(virtual_memory::map(address, bytes, handle)?)
    }
    fn cuMemUnmap(address: usize, bytes: usize) { Ok(virtual_memory::unmap(address, bytes)?) }
    fn cuMemGetAccess(flags: Out<u64>, _location: In<c_int>, _address: usize) { flags.set(3) }
    fn cuMemRetainAllocationHandle(handle: Out<Handle>, address: usize) { handle.set(virtual_memory::mapped_at(address)?) }
    fn cuMemGetAllocationPropertiesFromHandle(prop: Out<AllocationProp>, handle: Handle) {
        let (device, _) = virtual_memory::describe(handle)?;
        prop.set(AllocationProp {
            kind: 1, // pinned on the device
            requested_handle_types: FILE_DESCRIPTOR,
            location_kind: 1, // a device
            location_id: device as c_int,
            win32_meta_data: std::ptr::null(),
            flags: [0; 8],
        })
    }
    fn cuMemExportToShareableHandle(_shared: Out<c_int>, handle: Handle, _kind: c_int, _flags: u64) {
        virtual_memory::describe(handle)?;
        // Another process would have to share the ledger; no known program needs this on a phantom.
        crate::journal::record_missing("cuMemExportToShareableHandle");
        Err(NOT_SUPPORTED.into())
    }
    fn cuMulticastGetGranularity(bytes: Out<usize>, _prop: *const c_void, _option: c_uint) {
        bytes.set(virtual_memory::GRANULARITY)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_layout_is_that_of_the_header() {
        assert_eq!(size_of::<super::AllocationProp>(), 32);
    }
}
