//! The current device of each thread, and the devices with a context.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{Code, INVALID_DEVICE};
use crate::device::PhysicalDevice;
use crate::{device, ledger};

thread_local! {
    static CURRENT: Cell<u32> = const { Cell::new(0) };
}

/// True after `cuInit`, which the runtime calls too.
static IS_INITIALIZED: AtomicBool = AtomicBool::new(false);

static PEERS: Mutex<BTreeSet<(u32, u32)>> = Mutex::new(BTreeSet::new());

/// Contexts are `CONTEXT_BASE + device`: pointers to nothing, recognised by value.
const CONTEXT_BASE: usize = 0x0C00_0000;

/// Notes that the driver is initialised.
pub(crate) fn initialize() {
    IS_INITIALIZED.store(true, Ordering::Relaxed);
}

/// True if the driver is initialised.
pub(crate) fn is_initialized() -> bool {
    IS_INITIALIZED.load(Ordering::Relaxed)
}

/// The calling thread's device.
pub(crate) fn current() -> u32 {
    CURRENT.get()
}

/// Checks a device number.
pub(crate) fn checked(device: i32) -> Result<u32, Code> {
    u32::try_from(device).ok().filter(|&device| device < device::count()).ok_or(INVALID_DEVICE)
}

/// Makes a device the calling thread's.
pub(crate) fn set_current(device: i32) -> Result<(), Code> {
    CURRENT.set(checked(device)?);
    Ok(())
}

/// The primary context of a device.
pub(crate) fn primary(device: u32) -> *mut c_void {
    (CONTEXT_BASE + device as usize) as *mut c_void
}

/// The device of a context.
pub(crate) fn device_of(context: *mut c_void) -> Option<u32> {
    let device = u32::try_from((context as usize).checked_sub(CONTEXT_BASE)?).ok()?;
    (device < device::count()).then_some(device)
}

/// True if a device's context exists, and so holds memory.
pub(crate) fn is_active(device: u32) -> bool {
    ledger::used_bytes(device) > 0
}

/// Turns peer access on; `false` where it was on already.
pub(crate) fn enable_peer(from: u32, to: u32) -> bool {
    PEERS.lock().unwrap_or_else(PoisonError::into_inner).insert((from, to))
}

/// Turns peer access off; `false` where it was off already.
pub(crate) fn disable_peer(from: u32, to: u32) -> bool {
    PEERS.lock().unwrap_or_else(PoisonError::into_inner).remove(&(from, to))
}

/// `domain:bus:device.function` of a device, as `nvidia-smi` writes it.
pub(crate) fn pci_bus_id(PhysicalDevice(device): PhysicalDevice) -> String {
    format!("0000:{:02X}:00.0", device + 1)
}

/// The device with this PCI address; short and long domains are accepted.
pub(crate) fn from_pci_bus_id(text: &str) -> Option<PhysicalDevice> {
    let mut devices = (0..device::physical_count()).map(PhysicalDevice);
    devices.find(|&device| text.to_uppercase().ends_with(&pci_bus_id(device)[4..]))
}

/// The 16 bytes that identify a device: stable from run to run.
pub(crate) fn uuid(PhysicalDevice(device): PhysicalDevice) -> [u8; 16] {
    let mut bytes = *b"oomph-phantom-\0\0";
    bytes[14..].copy_from_slice(&(device as u16).to_be_bytes());
    bytes
}
