//! Devices and contexts.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::DriverStatus;
use crate::boundary::{In, Out, export, write_text};
use crate::cuda::{INVALID_DEVICE, INVALID_VALUE, PEER_ACCESS_ALREADY_ENABLED, attribute, context, event, stream};
use crate::{device, ledger};

/// `CUcontext`.
type Context = *mut c_void;

export! { DriverStatus;
    fn cuDeviceGet(which: Out<c_int>, ordinal: c_int) { which.set(context::checked(ordinal)? as c_int) }
    fn cuDeviceGetCount(count: Out<c_int>) { count.set(device::count() as c_int) }
    fn cuDeviceGetName(text: Out<c_char>, length: c_int, which: c_int) {
        context::checked(which)?;
        write_text(text, usize::try_from(length).unwrap_or(0), &device::profile().name)
    }
    fn cuDeviceGetUuid(uuid: Out<[u8; 16]>, which: c_int) { uuid.set(context::uuid(device::physical(context::checked(which)?))) }
    fn cuDeviceGetUuid_v2(uuid: Out<[u8; 16]>, which: c_int) { uuid.set(context::uuid(device::physical(context::checked(which)?))) }
    fn cuDeviceTotalMem_v2(bytes: Out<usize>, which: c_int) {
        context::checked(which)?;
        bytes.set(device::profile().total_bytes as usize)
    }
    fn cuDeviceGetAttribute(value: Out<c_int>, number: c_int, which: c_int) {
        let which = context::checked(which)?;
        value.set(attribute::value(device::profile(), which, number).ok_or(INVALID_VALUE)?)
    }
    fn cuDeviceComputeCapability(major: Out<c_int>, minor: Out<c_int>, which: c_int) {
        context::checked(which)?;
        let (high, low) = device::profile().compute_capability;
        major.set::<DriverStatus>(high as c_int)?;
        minor.set(low as c_int)
    }
    fn cuDeviceGetPCIBusId(text: Out<c_char>, length: c_int, which: c_int) {
        let which = context::checked(which)?;
        write_text(text, usize::try_from(length).unwrap_or(0), &context::pci_bus_id(device::physical(which)))
    }
    fn cuDeviceGetByPCIBusId(which: Out<c_int>, text: In<c_char>) {
        let text = text.text().ok_or(INVALID_VALUE)?;
        let found = context::from_pci_bus_id(&text).and_then(device::number_of);
        which.set(found.ok_or(INVALID_VALUE)? as c_int)
    }
    fn cuDeviceCanAccessPeer(can: Out<c_int>, which: c_int, peer: c_int) {
        let (which, peer) = (context::checked(which)?, context::checked(peer)?);
        can.set(c_int::from(which != peer))
    }
    fn cuDevicePrimaryCtxRetain(found: Out<Context>, which: c_int) {
        let which = context::checked(which)?;
        ledger::ensure_context(which);
        found.set(context::primary(which))
    }
    fn cuDevicePrimaryCtxRelease_v2(which: c_int) { context::checked(which)?; Ok(()) }
    fn cuDevicePrimaryCtxReset_v2(which: c_int) { context::checked(which)?; Ok(()) }
    fn cuDevicePrimaryCtxSetFlags_v2(which: c_int, _flags: c_uint) { context::checked(which)?; Ok(()) }
    fn cuDevicePrimaryCtxGetState(which: c_int, flags: Out<c_uint>, active: Out<c_int>) {
        let which = context::checked(which)?;
        flags.set::<DriverStatus>(0)?;
        active.set(c_int::from(context::is_active(which)))
    }
    fn cuCtxGetCurrent(found: Out<Context>) {
        let current = context::current();
        found.set(if context::is_active(current) { context::primary(current) } else { std::ptr::null_mut() })
    }
    fn cuCtxSetCurrent(wanted: Context) { select(wanted) }
    fn cuCtxPushCurrent_v2(wanted: Context) { select(wanted) }
    fn cuCtxPopCurrent_v2(found: Out<Context>) {
        found.set_if_wanted(context::primary(context::current()));
        Ok(())
    }
    fn cuCtxCreate_v2(found: Out<Context>, _flags: c_uint, which: c_int) {
        let which = context::checked(which)?;
        ledger::ensure_context(which);
        found.set::<DriverStatus>(context::primary(which))?;
        // The created context is current to the calling thread ("Context Management" of the driver API).
        select(context::primary(which))
    }
    fn cuCtxDestroy_v2(_which: Context) { Ok(()) }
    fn cuCtxGetDevice(which: Out<c_int>) { which.set(context::current() as c_int) }
    fn cuCtxGetId(_which: Context, id: Out<u64>) { id.set(u64::from(context::current()) + 1) }
    fn cuCtxGetFlags(flags: Out<c_uint>) { flags.set(0) }
    fn cuCtxGetApiVersion(_which: Context, version: Out<c_uint>) { version.set(3020) }
    fn cuCtxSynchronize() { Ok(event::synchronize_device()?) }
    fn cuCtxGetLimit(bytes: Out<usize>, _limit: c_int) { bytes.set(1024) }
    fn cuCtxSetLimit(_limit: c_int, _bytes: usize) { Ok(()) }
    fn cuCtxGetStreamPriorityRange(least: Out<c_int>, greatest: Out<c_int>) {
        least.set_if_wanted(stream::PRIORITIES.0);
        greatest.set_if_wanted(stream::PRIORITIES.1);
        Ok(())
    }
    fn cuCtxEnablePeerAccess(peer: Context, _flags: c_uint) {
        let peer = context::device_of(peer).ok_or(INVALID_DEVICE)?;
        if context::enable_peer(context::current(), peer) { Ok(()) } else { Err(PEER_ACCESS_ALREADY_ENABLED.into()) }
    }
}

/// Makes a context current; null leaves the thread's device unchanged.
fn select(wanted: Context) -> Result<(), DriverStatus> {
    if wanted.is_null() {
        return Ok(());
    }
    let device = context::device_of(wanted).ok_or(INVALID_VALUE)?;
    Ok(context::set_current(device as c_int)?)
}
