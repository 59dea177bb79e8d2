//! Devices: count, properties, the current device, peer access.

use std::ffi::{c_char, c_int, c_uint};

use super::CudaStatus;
use crate::boundary::{In, Out, export, write_text};
use crate::cuda::properties::{CUDA_12_BYTES, CUDA_13_BYTES, Layout, properties};
use crate::cuda::{INVALID_VALUE, NOT_SUPPORTED, PEER_ACCESS_ALREADY_ENABLED, attribute, context, event, stream};
use crate::{device, journal, ledger, version};

export! { CudaStatus;
    fn cudaGetDeviceCount(count: Out<c_int>) { count.set(device::count() as c_int) }
    fn cudaGetDevice(current: Out<c_int>) { current.set(context::current() as c_int) }
    fn cudaSetDevice(to: c_int) {
        context::set_current(to)?;
        // Since CUDA 12 this call creates the context, and so the first used bytes.
        ledger::ensure_context(context::current());
        Ok(())
    }
    fn cudaInitDevice(which: c_int, _device_flags: c_uint, _flags: c_uint) {
        ledger::ensure_context(context::checked(which)?);
        Ok(())
    }
    fn cudaSetValidDevices(_devices: In<c_int>, _count: c_int) { Ok(()) }
    fn cudaDeviceSynchronize() { Ok(event::synchronize_device()?) }
    fn cudaDeviceReset() { Ok(()) }
    fn cudaSetDeviceFlags(_flags: c_uint) { Ok(()) }
    fn cudaGetDeviceFlags(flags: Out<c_uint>) { flags.set(0) }
    fn cudaDriverGetVersion(version: Out<c_int>) { version.set(version::driver()) }
    fn cudaRuntimeGetVersion(version: Out<c_int>) { version.set(version::runtime()) }
    fn cudaGetDeviceProperties(all: Out<[u8; CUDA_13_BYTES]>, which: c_int) {
        // In CUDA 12 this name has the layout of CUDA 11: Note [CUDA 12 and 13].
        if !super::is_cuda_13("cudaGetDeviceProperties")? {
            journal::record_missing("cudaGetDeviceProperties");
            return Err(NOT_SUPPORTED.into());
        }
        all.set(properties(Layout::Cuda13, device::profile(), context::checked(which)?))
    }
    fn cudaGetDeviceProperties_v2(all: Out<[u8; CUDA_12_BYTES]>, which: c_int) {
        all.set(properties(Layout::Cuda12, device::profile(), context::checked(which)?))
    }
    fn cudaDeviceGetAttribute(value: Out<c_int>, number: c_int, which: c_int) {
        let which = context::checked(which)?;
        value.set(attribute::value(device::profile(), which, number).ok_or(INVALID_VALUE)?)
    }
    fn cudaDeviceGetPCIBusId(text: Out<c_char>, length: c_int, which: c_int) {
        let which = context::checked(which)?;
        write_text(text, usize::try_from(length).unwrap_or(0), &context::pci_bus_id(device::physical(which)))
    }
    fn cudaDeviceGetByPCIBusId(which: Out<c_int>, text: In<c_char>) {
        let text = text.text().ok_or(INVALID_VALUE)?;
        let found = context::from_pci_bus_id(&text).and_then(device::number_of);
        which.set(found.ok_or(INVALID_VALUE)? as c_int)
    }
    fn cudaDeviceGetStreamPriorityRange(least: Out<c_int>, greatest: Out<c_int>) {
        least.set_if_wanted(stream::PRIORITIES.0);
        greatest.set_if_wanted(stream::PRIORITIES.1);
        Ok(())
    }
    fn cudaDeviceGetLimit(bytes: Out<usize>, _limit: c_int) { bytes.set(1024) }
    fn cudaDeviceSetLimit(_limit: c_int, _bytes: usize) { Ok(()) }
    fn cudaDeviceGetCacheConfig(config: Out<c_int>) { config.set(0) }
    fn cudaDeviceSetCacheConfig(_config: c_int) { Ok(()) }
    fn cudaDeviceCanAccessPeer(can: Out<c_int>, which: c_int, peer: c_int) {
        let (which, peer) = (context::checked(which)?, context::checked(peer)?);
        can.set(c_int::from(which != peer))
    }
    fn cudaDeviceGetP2PAttribute(value: Out<c_int>, number: c_int, which: c_int, peer: c_int) {
        let (which, peer) = (context::checked(which)?, context::checked(peer)?);
        // 2 = access supported, 3 = native atomics, 4 = arrays; 1 is a rank of speed.
        value.set(c_int::from(number != 1 && which != peer))
    }
    fn cudaDeviceEnablePeerAccess(peer: c_int, _flags: c_uint) {
        let peer = context::checked(peer)?;
        if context::enable_peer(context::current(), peer) { Ok(()) } else { Err(PEER_ACCESS_ALREADY_ENABLED.into()) }
    }
    fn cudaDeviceDisablePeerAccess(peer: c_int) {
        context::disable_peer(context::current(), context::checked(peer)?);
        Ok(())
    }
}
