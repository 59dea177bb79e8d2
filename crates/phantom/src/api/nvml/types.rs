//! The structures of nvml.h.

use std::ffi::c_uint;

/// `NVML_VALUE_NOT_AVAILABLE` of 32 bits.
const NOT_AVAILABLE: c_uint = c_uint::MAX;

/// `nvmlMemory_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    pub(crate) total: u64,
    pub(crate) free: u64,
    pub(crate) used: u64,
}

/// `nvmlMemory_v2_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryV2 {
    pub(crate) version: c_uint,
    pub(crate) total: u64,
    pub(crate) reserved: u64,
    pub(crate) free: u64,
    pub(crate) used: u64,
}

/// `nvmlProcessInfo_v1_t`: the struct of the function without a version in its name, which PyTorch's allocator calls.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessInfoV1 {
    pub(crate) pid: c_uint,
    pub(crate) used_gpu_memory: u64,
}

/// `nvmlProcessInfo_t` (version 2 and later).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessInfo {
    pub(crate) pid: c_uint,
    pub(crate) used_gpu_memory: u64,
    pub(crate) gpu_instance_id: c_uint,
    pub(crate) compute_instance_id: c_uint,
}

/// `nvmlPciInfo_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct PciInfo {
    pub(crate) bus_id_legacy: [u8; 16],
    pub(crate) domain: c_uint,
    pub(crate) bus: c_uint,
    pub(crate) device: c_uint,
    pub(crate) pci_device_id: c_uint,
    pub(crate) pci_subsystem_id: c_uint,
    pub(crate) bus_id: [u8; 32],
}

/// `nvmlUtilization_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Utilization {
    pub(crate) gpu: c_uint,
    pub(crate) memory: c_uint,
}

impl ProcessInfoV1 {
    pub(super) fn new(pid: c_uint, used_gpu_memory: u64) -> ProcessInfoV1 {
        ProcessInfoV1 { pid, used_gpu_memory }
    }
}

impl ProcessInfo {
    /// A process on a device without instances.
    pub(super) fn new(pid: c_uint, used_gpu_memory: u64) -> ProcessInfo {
        ProcessInfo { pid, used_gpu_memory, gpu_instance_id: NOT_AVAILABLE, compute_instance_id: NOT_AVAILABLE }
    }
}
