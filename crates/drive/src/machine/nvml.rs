//! NVML: the driver's own library, which `nvidia-smi` asks too.

use std::ffi::OsStr;

use base::MachineError;
use nvml_wrapper::enum_wrappers::device::TemperatureSensor;
use nvml_wrapper::enums::device::UsedGpuMemory;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::struct_wrappers::device::ProcessInfo;
use nvml_wrapper::{Device, Nvml};
use trace::Bytes;
use trace::machine::{GpuProcess, GpuSample, GpuUse, MachineSample, MigSample};

/// The library's name in every driver package, containers and WSL included; the name without a version comes with development packages.
const LIBRARY: &str = "libnvidia-ml.so.1";

/// NVML, loaded and initialised.
pub(super) struct Driver {
    library: Nvml,
    version: Option<String>,
    /// By GPU: the time of the driver's last sample of the utilization of processes, in microseconds.
    sampled_micros: Vec<u64>,
}

impl Driver {
    pub(super) fn open() -> Result<Driver, MachineError> {
        let library = Nvml::builder().lib_path(OsStr::new(LIBRARY)).init().map_err(|error| name_failure(&error))?;
        let version = library.sys_driver_version().ok();
        Ok(Driver { library, version, sampled_micros: Vec::new() })
    }

    /// Reads all GPUs. A GPU that fails is in the answer, with its failure.
    pub(super) fn read(&mut self) -> Result<MachineSample, MachineError> {
        let count = self.library.device_count().map_err(|error| name_failure(&error))?;
        self.sampled_micros.resize(count as usize, 0);
        let gpus = (0..count).zip(&mut self.sampled_micros);
        let gpus = gpus.map(|(index, sampled_micros)| read_gpu(&self.library, index, sampled_micros)).collect();
        Ok(MachineSample { driver: self.version.clone(), gpus })
    }
}

fn name_failure(error: &NvmlError) -> MachineError {
    match error {
        NvmlError::LibloadingError(_) | NvmlError::LibraryNotFound => MachineError::NoLibrary,
        NvmlError::DriverNotLoaded => MachineError::NotLoaded,
        NvmlError::LibRmVersionMismatch => MachineError::Mismatch,
        NvmlError::FailedToLoadSymbol(_) | NvmlError::FunctionNotFound => MachineError::TooOld("the list of GPUs"),
        other => MachineError::Driver(other.to_string()),
    }
}

fn read_gpu(library: &Nvml, index: u32, sampled_micros: &mut u64) -> GpuSample {
    match library.device_by_index(index).and_then(|device| describe(&device, index, sampled_micros)) {
        Ok(sample) => sample,
        Err(error) => GpuSample { index, problem: Some(error.to_string()), ..GpuSample::default() },
    }
}

/// Reads a GPU. A figure that the GPU does not have is `None`; a failure of the GPU as a whole is the error.
fn describe(device: &Device, index: u32, sampled_micros: &mut u64) -> Result<GpuSample, NvmlError> {
    let memory = unless_missing(device.memory_info())?;
    let mut processes = list_processes(device)?;
    note_utilization(device, &mut processes, sampled_micros);
    Ok(GpuSample {
        index,
        name: unless_missing(device.name())?.unwrap_or_default(),
        uuid: unless_missing(device.uuid())?.unwrap_or_default(),
        total: memory.as_ref().map(|memory| Bytes(memory.total)),
        used: memory.map(|memory| Bytes(memory.used)),
        utilization_percent: unless_missing(device.utilization_rates())?.map(|rates| rates.gpu),
        temperature_celsius: unless_missing(device.temperature(TemperatureSensor::Gpu))?,
        power_watts: unless_missing(device.power_usage())?.map(|milliwatts| milliwatts / 1000),
        mig: list_mig(device),
        processes,
        problem: None,
    })
}

/// An answer; `None` if the GPU, the driver's version or the rights of the user do not allow one.
fn unless_missing<T>(answer: Result<T, NvmlError>) -> Result<Option<T>, NvmlError> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(error @ (NvmlError::GpuLost | NvmlError::ResetRequired | NvmlError::Uninitialized)) => Err(error),
        Err(_) => Ok(None),
    }
}

/// The processes; those that use a GPU for CUDA and graphics are in both of the driver's lists.
fn list_processes(device: &Device) -> Result<Vec<GpuProcess>, NvmlError> {
    // Drivers before 510 lack the third version of these functions.
    let compute = unless_missing(device.running_compute_processes().or_else(|error| match error {
        NvmlError::FailedToLoadSymbol(_) => device.running_compute_processes_v2(),
        other => Err(other),
    }))?;
    let graphics = unless_missing(device.running_graphics_processes().or_else(|error| match error {
        NvmlError::FailedToLoadSymbol(_) => device.running_graphics_processes_v2(),
        other => Err(other),
    }))?;
    let mut all: Vec<GpuProcess> =
        compute.into_iter().flatten().map(|found| to_process(&found, GpuUse::Compute)).collect();
    for found in graphics.into_iter().flatten() {
        match all.iter_mut().find(|known| known.pid == found.pid && known.gpu_instance == found.gpu_instance_id) {
            Some(known) => known.kind = GpuUse::Both,
            None => all.push(to_process(&found, GpuUse::Graphics)),
        }
    }
    Ok(all)
}

fn to_process(found: &ProcessInfo, kind: GpuUse) -> GpuProcess {
    let used = match found.used_gpu_memory {
        UsedGpuMemory::Used(bytes) => Some(Bytes(bytes)),
        UsedGpuMemory::Unavailable => None,
    };
    let gpu_instance = found.gpu_instance_id;
    GpuProcess { pid: found.pid, kind, program: None, used, utilization_percent: None, gpu_instance }
}

/// Notes the utilization of processes since the last sample, where the GPU counts it.
fn note_utilization(device: &Device, processes: &mut [GpuProcess], sampled_micros: &mut u64) {
    let Ok(samples) = device.process_utilization_stats(*sampled_micros) else { return };
    *sampled_micros = samples.iter().map(|sample| sample.timestamp).max().unwrap_or(*sampled_micros);
    for process in processes {
        // The driver may state several samples of a process; the last is the latest.
        let of_process = samples.iter().filter(|sample| sample.pid == process.pid);
        let latest = of_process.max_by_key(|sample| sample.timestamp);
        process.utilization_percent = latest.map(|sample| sample.sm_util).filter(|percent| *percent <= 100);
    }
}

fn list_mig(device: &Device) -> Vec<MigSample> {
    if !device.mig_mode().is_ok_and(|mode| mode.current != 0) {
        return Vec::new();
    }
    let most = device.mig_device_count().unwrap_or_default();
    let found = (0..most).filter_map(|index| device.mig_device_by_index(index).ok());
    found.map(|device| describe_mig(&device)).collect()
}

fn describe_mig(device: &Device) -> MigSample {
    let memory = device.memory_info().ok();
    let name =
        device.name().ok().and_then(|name| name.split_once(" MIG ").map(|(_, profile)| format!("MIG {profile}")));
    let processes = device.running_compute_processes().unwrap_or_default();
    MigSample {
        name,
        // The wrapper has no function for the instance of a MIG device; its processes state it.
        gpu_instance: processes.first().and_then(|process| process.gpu_instance_id),
        total: memory.as_ref().map(|memory| Bytes(memory.total)),
        used: memory.map(|memory| Bytes(memory.used)),
    }
}
