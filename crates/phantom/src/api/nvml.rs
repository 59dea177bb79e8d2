//! NVML (`libnvidia-ml.so.1`): what `nvidia-smi`, PyTorch and monitors ask of a device. The numbers are the ledger's.

mod processes;
mod types;

use std::ffi::{c_char, c_int, c_uint, c_void};

use self::processes::{list_none, list_processes, used_bytes};
use self::types::{Memory, MemoryV2, PciInfo, ProcessInfo, ProcessInfoV1, Utilization};
use crate::boundary::{In, Out, Status, export, literal, status, write_text};
use crate::cuda::context;
use crate::device;
use crate::device::PhysicalDevice;

status! {
    /// `nvmlReturn_t`.
    NvmlStatus { success: 0, invalid: 2, internal: 999, unsupported: 3 }
}

/// `NVML_ERROR_NOT_FOUND`.
const NOT_FOUND: NvmlStatus = NvmlStatus(6);
/// Devices are `DEVICE_BASE + device`: pointers to nothing, recognised by value.
const DEVICE_BASE: usize = 0x0A00_0000;
/// `nvmlDevice_t`.
type NvmlDevice = *mut c_void;

/// The sentence for a status.
#[unsafe(no_mangle)]
pub extern "C" fn nvmlErrorString(status: NvmlStatus) -> *const c_char {
    literal(match status.0 {
        0 => c"Success",
        2 => c"Invalid Argument",
        3 => c"Not Supported",
        6 => c"Not Found",
        7 => c"Insufficient Size",
        9 => c"Driver Not Loaded",
        15 => c"GPU is lost",
        _ => c"Unknown Error",
    })
}

/// The clock of a part of a device in MHz, by `nvmlClockType_t`: the phantom is never throttled.
fn clock(which: NvmlDevice, kind: c_int) -> Result<c_uint, NvmlStatus> {
    number(which)?;
    let profile = device::profile();
    match kind {
        0 | 1 | 3 => Ok(profile.clock_khz / 1000),
        2 => Ok(profile.memory_clock_khz / 1000),
        _ => Err(NvmlStatus::INVALID),
    }
}

export! { NvmlStatus;
    fn nvmlInit() { Ok(()) }
    fn nvmlInit_v2() { Ok(()) }
    fn nvmlInitWithFlags(_flags: c_uint) { Ok(()) }
    fn nvmlShutdown() { Ok(()) }
    fn nvmlSystemGetDriverVersion(text: Out<c_char>, length: c_uint) {
        write_text(text, length as usize, "580.82.07") // the first driver of CUDA 13.0 Update 1
    }
    fn nvmlSystemGetNVMLVersion(text: Out<c_char>, length: c_uint) {
        write_text(text, length as usize, "13.580.82.07")
    }
    fn nvmlSystemGetCudaDriverVersion(version: Out<c_int>) { version.set(crate::version::driver()) }
    fn nvmlSystemGetCudaDriverVersion_v2(version: Out<c_int>) { version.set(crate::version::driver()) }
    fn nvmlDeviceGetCount(count: Out<c_uint>) { count.set(device::physical_count()) }
    fn nvmlDeviceGetCount_v2(count: Out<c_uint>) { count.set(device::physical_count()) }
    fn nvmlDeviceGetHandleByIndex(index: c_uint, found: Out<NvmlDevice>) { by_index(found, index) }
    fn nvmlDeviceGetHandleByIndex_v2(index: c_uint, found: Out<NvmlDevice>) { by_index(found, index) }
    fn nvmlDeviceGetHandleByPciBusId(text: In<c_char>, found: Out<NvmlDevice>) { by_bus(found, text) }
    fn nvmlDeviceGetHandleByPciBusId_v2(text: In<c_char>, found: Out<NvmlDevice>) { by_bus(found, text) }
    fn nvmlDeviceGetHandleByUUID(text: In<c_char>, found: Out<NvmlDevice>) {
        let text = text.text().ok_or(NvmlStatus::INVALID)?;
        let mut devices = (0..device::physical_count()).map(PhysicalDevice);
        let PhysicalDevice(index) = devices.find(|&device| uuid_text(device) == text).ok_or(NOT_FOUND)?;
        by_index(found, index)
    }
    fn nvmlDeviceGetIndex(which: NvmlDevice, index: Out<c_uint>) { index.set(number(which)?.0) }
    fn nvmlDeviceGetMinorNumber(which: NvmlDevice, minor: Out<c_uint>) { minor.set(number(which)?.0) }
    fn nvmlDeviceGetName(which: NvmlDevice, text: Out<c_char>, length: c_uint) {
        number(which)?;
        write_text(text, length as usize, &device::profile().name)
    }
    fn nvmlDeviceGetUUID(which: NvmlDevice, text: Out<c_char>, length: c_uint) {
        write_text(text, length as usize, &uuid_text(number(which)?))
    }
    fn nvmlDeviceGetPciInfo_v3(which: NvmlDevice, info: Out<PciInfo>) { info.set(pci_info(number(which)?)) }
    fn nvmlDeviceGetMemoryInfo(which: NvmlDevice, memory: Out<Memory>) {
        let (total, used) = totals(number(which)?);
        memory.set(Memory { total, free: total - used, used })
    }
    fn nvmlDeviceGetMemoryInfo_v2(which: NvmlDevice, memory: Out<MemoryV2>) {
        let version = memory.first_member::<c_uint>().get::<NvmlStatus>()?;
        let (total, used) = totals(number(which)?);
        memory.set(MemoryV2 { version, total, reserved: 0, free: total - used, used })
    }
    fn nvmlDeviceGetCudaComputeCapability(which: NvmlDevice, major: Out<c_int>, minor: Out<c_int>) {
        number(which)?;
        let (high, low) = device::profile().compute_capability;
        major.set::<NvmlStatus>(high as c_int)?;
        minor.set(low as c_int)
    }
    fn nvmlDeviceGetUtilizationRates(which: NvmlDevice, rates: Out<Utilization>) {
        number(which)?;
        rates.set(Utilization { gpu: 0, memory: 0 })
    }
    fn nvmlDeviceGetClockInfo(which: NvmlDevice, kind: c_int, megahertz: Out<c_uint>) { megahertz.set(clock(which, kind)?) }
    fn nvmlDeviceGetMaxClockInfo(which: NvmlDevice, kind: c_int, megahertz: Out<c_uint>) { megahertz.set(clock(which, kind)?) }
    fn nvmlDeviceGetTemperature(which: NvmlDevice, _sensor: c_int, degrees: Out<c_uint>) { number(which)?; degrees.set(30) }
    fn nvmlDeviceGetPowerUsage(which: NvmlDevice, milliwatts: Out<c_uint>) { number(which)?; milliwatts.set(0) }
    fn nvmlDeviceGetComputeRunningProcesses(which: NvmlDevice, count: Out<c_uint>, infos: Out<ProcessInfoV1>) {
        list_processes(number(which)?, count, infos, ProcessInfoV1::new)
    }
    fn nvmlDeviceGetComputeRunningProcesses_v2(which: NvmlDevice, count: Out<c_uint>, infos: Out<ProcessInfo>) {
        list_processes(number(which)?, count, infos, ProcessInfo::new)
    }
    fn nvmlDeviceGetComputeRunningProcesses_v3(which: NvmlDevice, count: Out<c_uint>, infos: Out<ProcessInfo>) {
        list_processes(number(which)?, count, infos, ProcessInfo::new)
    }
    fn nvmlDeviceGetGraphicsRunningProcesses(which: NvmlDevice, count: Out<c_uint>, _infos: Out<ProcessInfoV1>) {
        list_none(number(which)?, count)
    }
    fn nvmlDeviceGetGraphicsRunningProcesses_v2(which: NvmlDevice, count: Out<c_uint>, _infos: Out<ProcessInfo>) {
        list_none(number(which)?, count)
    }
    fn nvmlDeviceGetGraphicsRunningProcesses_v3(which: NvmlDevice, count: Out<c_uint>, _infos: Out<ProcessInfo>) {
        list_none(number(which)?, count)
    }
    fn nvmlDeviceGetNvLinkRemoteDeviceType(which: NvmlDevice, _link: c_uint, _kind: Out<c_int>) {
        number(which)?;
        Err(NvmlStatus::UNSUPPORTED)
    }
    fn nvmlDeviceGetNvLinkRemotePciInfo_v2(which: NvmlDevice, _link: c_uint, _info: Out<PciInfo>) {
        number(which)?;
        Err(NvmlStatus::UNSUPPORTED)
    }
    fn nvmlDeviceGetNvLinkState(which: NvmlDevice, _link: c_uint, _state: Out<c_int>) {
        number(which)?;
        Err(NvmlStatus::UNSUPPORTED)
    }
    fn nvmlDeviceGetP2PStatus(which: NvmlDevice, peer: NvmlDevice, _index: c_int, status: Out<c_int>) {
        number(which)?;
        number(peer)?;
        status.set(0)
    }
    fn nvmlDeviceGetProcessUtilization(which: NvmlDevice, _samples: *mut c_void, _count: Out<c_uint>, _since: u64) {
        number(which)?;
        Err(NvmlStatus::UNSUPPORTED)
    }
    fn nvmlDeviceGetEnforcedPowerLimit(which: NvmlDevice, _milliwatts: Out<c_uint>) {
        number(which)?;
        Err(NvmlStatus::UNSUPPORTED)
    }
    fn nvmlDeviceGetMaxMigDeviceCount(which: NvmlDevice, count: Out<c_uint>) { number(which)?; count.set(0) }
    fn nvmlDeviceIsMigDeviceHandle(which: NvmlDevice, is_mig: Out<c_uint>) { number(which)?; is_mig.set(0) }
    fn nvmlDeviceGetMigDeviceHandleByIndex(which: NvmlDevice, _index: c_uint, _found: Out<NvmlDevice>) {
        number(which)?;
        Err(NvmlStatus::UNSUPPORTED)
    }
    fn nvmlDeviceGetGpuFabricInfoV(which: NvmlDevice, _info: *mut c_void) {
        number(which)?;
        Err(NvmlStatus::UNSUPPORTED)
    }
    fn nvmlDeviceGetMigMode(which: NvmlDevice, current: Out<c_uint>, pending: Out<c_uint>) {
        number(which)?;
        current.set_if_wanted(0);
        pending.set_if_wanted(0);
        Err(NvmlStatus::UNSUPPORTED)
    }
}

/// NVML ignores `CUDA_VISIBLE_DEVICES`: it shows all devices.
fn number(which: NvmlDevice) -> Result<PhysicalDevice, NvmlStatus> {
    let index = (which as usize).checked_sub(DEVICE_BASE).ok_or(NvmlStatus::INVALID)? as u32;
    if index < device::physical_count() { Ok(PhysicalDevice(index)) } else { Err(NvmlStatus::INVALID) }
}

fn by_index(found: Out<NvmlDevice>, index: u32) -> Result<(), NvmlStatus> {
    if index >= device::physical_count() {
        return Err(NvmlStatus::INVALID);
    }
    found.set((DEVICE_BASE + index as usize) as NvmlDevice)
}

fn by_bus(found: Out<NvmlDevice>, text: In<c_char>) -> Result<(), NvmlStatus> {
    let text = text.text().ok_or(NvmlStatus::INVALID)?;
    by_index(found, context::from_pci_bus_id(&text).ok_or(NOT_FOUND)?.0)
}

fn totals(which: PhysicalDevice) -> (u64, u64) {
    let total = device::profile().total_bytes;
    (total, used_bytes(which).min(total))
}

fn uuid_text(which: PhysicalDevice) -> String {
    let hex = context::uuid(which).map(|byte| format!("{byte:02x}")).concat();
    format!("GPU-{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

fn pci_info(which: PhysicalDevice) -> PciInfo {
    let text = context::pci_bus_id(which);
    let mut info = PciInfo {
        bus_id_legacy: [0; 16],
        domain: 0,
        bus: which.0 + 1,
        device: 0,
        pci_device_id: 0,
        pci_subsystem_id: 0,
        bus_id: [0; 32],
    };
    info.bus_id_legacy[..text.len()].copy_from_slice(text.as_bytes());
    info.bus_id[..text.len() + 4].copy_from_slice(format!("0000{text}").as_bytes());
    info
}
