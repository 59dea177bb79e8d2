//! The processes of a machine's GPUs, joined with the recordings of the programs among them.

mod remarks;

use std::collections::{BTreeMap, HashMap};

use report::metrics::{DeviceMetrics, ProcessMetrics};
use report::top::{TopGpu, TopMig, TopProcess, TopRecorded, TopReport, TopUse};
use trace::Bytes;
use trace::machine::{GpuProcess, GpuSample, GpuUse, HostProcess, MachineSample};

use self::remarks::{count_hidden, list_remarks};
use crate::meter::Meter;

/// A machine at one instant.
#[derive(Clone, Debug, Default)]
pub struct MachineView {
    /// True for the machine of this process; false for a file of another machine.
    pub is_live: bool,
    /// The GPUs.
    pub gpus: MachineSample,
    /// The processes on the GPUs, by number, as far as proc(5) has them.
    pub host: BTreeMap<u32, HostProcess>,
    /// The running processes under `oomph run`.
    pub recorded: Vec<Meter>,
    /// The time, by the common clock of all processes of the machine.
    pub monotonic_ns: u64,
}

/// Makes reports of a machine, one after the other.
#[derive(Debug, Default)]
pub struct Top {
    version: String,
    /// By process number and start: the processor time at the last look.
    cpu_millis: HashMap<(u32, u64), u64>,
    last_ns: u64,
}

impl Top {
    /// Starts. `version`: oomph's own.
    pub fn new(version: &str) -> Top {
        Top { version: version.to_owned(), ..Top::default() }
    }

    /// Makes the report of now.
    pub fn report(&mut self, machine: &MachineView) -> TopReport {
        let recorded: Vec<Known> = machine.recorded.iter().map(|meter| Known::of(meter, machine)).collect();
        let on_gpus =
            machine.gpus.gpus.iter().flat_map(|gpu| gpu.processes.iter().map(move |process| (gpu.index, process)));
        let mut processes: Vec<TopProcess> =
            on_gpus.map(|(gpu, process)| self.describe(gpu, process, machine, &recorded)).collect();
        for known in &recorded {
            processes.extend(self.describe_unlisted(known, machine));
        }
        processes.sort_by_key(|process| {
            (process.gpu.unwrap_or(u32::MAX), std::cmp::Reverse(process.used_bytes), process.pid)
        });
        self.note_times(machine);
        let gpus: Vec<TopGpu> = machine.gpus.gpus.iter().map(describe_gpu).collect();
        let mut remarks = list_remarks(&gpus, &processes, &recorded);
        remarks.extend(count_hidden(&processes).filter(|_| machine.is_live));
        TopReport { version: self.version.clone(), driver: machine.gpus.driver.clone(), gpus, processes, remarks }
    }

    fn describe(&self, gpu: u32, process: &GpuProcess, machine: &MachineView, recorded: &[Known]) -> TopProcess {
        let known = recorded.iter().find(|known| known.metrics.pid == process.pid);
        let program = process.program.clone();
        TopProcess {
            gpu: Some(gpu),
            gpu_instance: process.gpu_instance,
            kind: match process.kind {
                GpuUse::Compute => TopUse::Compute,
                GpuUse::Graphics => TopUse::Graphics,
                GpuUse::Both => TopUse::Both,
            },
            used_bytes: process.used,
            utilization_percent: process.utilization_percent,
            recorded: known.and_then(|known| known.on_gpu(gpu, machine)),
            ..self.describe_host(process.pid, program, machine)
        }
    }

    /// The row of a recorded process without a row in the driver's lists.
    fn describe_unlisted(&self, known: &Known, machine: &MachineView) -> Option<TopProcess> {
        let pid = known.metrics.pid;
        let is_listed = machine.gpus.gpus.iter().any(|gpu| gpu.processes.iter().any(|process| process.pid == pid));
        let device = known.metrics.devices.first().filter(|_| !is_listed)?;
        Some(TopProcess {
            gpu: known.find_gpu(device.device, machine),
            recorded: Some(known.describe(device)),
            ..self.describe_host(pid, None, machine)
        })
    }

    fn describe_host(&self, pid: u32, program: Option<String>, machine: &MachineView) -> TopProcess {
        let host = machine.host.get(&pid);
        TopProcess {
            pid,
            user: host.and_then(|host| host.user.clone()),
            command: host.map(|host| host.command.join(" ")).or(program),
            container: host.and_then(|host| host.container.clone()),
            cpu_percent: host.and_then(|host| self.measure_cpu(pid, host, machine.monotonic_ns)),
            ..TopProcess::default()
        }
    }

    fn measure_cpu(&self, pid: u32, host: &HostProcess, now_ns: u64) -> Option<f64> {
        let before = self.cpu_millis.get(&(pid, host.started_ticks))?;
        let passed_ns = now_ns.checked_sub(self.last_ns).filter(|passed| *passed > 0)?;
        Some(host.cpu_millis.saturating_sub(*before) as f64 * 1e6 / passed_ns as f64 * 100.0)
    }

    fn note_times(&mut self, machine: &MachineView) {
        self.last_ns = machine.monotonic_ns;
        self.cpu_millis =
            machine.host.iter().map(|(&pid, host)| ((pid, host.started_ticks), host.cpu_millis)).collect();
    }
}

/// A process under `oomph run`.
pub(crate) struct Known {
    metrics: ProcessMetrics,
    since_step_seconds: Option<f64>,
    visible_devices: Option<String>,
}

impl Known {
    fn of(meter: &Meter, machine: &MachineView) -> Known {
        let since_ns = meter.last_step_ns().map(|last| machine.monotonic_ns.saturating_sub(last));
        let visible_devices = machine.host.get(&meter.pid()).and_then(|host| host.visible_devices.clone());
        Known {
            metrics: meter.measure(),
            since_step_seconds: since_ns.map(|passed| passed as f64 / 1e9),
            visible_devices,
        }
    }

    /// The figures of the device behind the number of a GPU.
    fn on_gpu(&self, gpu: u32, machine: &MachineView) -> Option<TopRecorded> {
        let device = self.metrics.devices.iter().find(|device| self.find_gpu(device.device, machine) == Some(gpu))?;
        Some(self.describe(device))
    }

    /// The GPU of a device: by `CUDA_VISIBLE_DEVICES`, else the only GPU on which the driver lists the process, else the GPU of the same
    /// number.
    fn find_gpu(&self, device: u32, machine: &MachineView) -> Option<u32> {
        let all = &machine.gpus.gpus;
        if let Some(visible) = &self.visible_devices {
            let name = visible.split(',').nth(device as usize)?.trim();
            return match name.parse::<u32>() {
                Ok(number) => Some(number),
                Err(_) => all.iter().find(|gpu| gpu.uuid.starts_with(name)).map(|gpu| gpu.index),
            };
        }
        let pid = self.metrics.pid;
        let mut listed = all.iter().filter(|gpu| gpu.processes.iter().any(|process| process.pid == pid));
        match (listed.next(), listed.next()) {
            (Some(only), None) => Some(only.index),
            _ => all.get(device as usize).map(|gpu| gpu.index),
        }
    }

    fn describe(&self, device: &DeviceMetrics) -> TopRecorded {
        let metrics = &self.metrics;
        let growth = device.growth;
        let (allocated, reserved) = (Bytes(device.allocated_bytes), Bytes(device.reserved_bytes));
        TopRecorded {
            rank: metrics.rank,
            device: device.device,
            allocated_bytes: allocated,
            reserved_bytes: reserved,
            cached_bytes: reserved.saturating_sub(allocated),
            inactive_split_bytes: device.inactive_split_bytes.map(Bytes),
            reserved_peak_bytes: Bytes(device.reserved_peak_bytes),
            phase: metrics.phase.and_then(trace::Phase::from_name),
            steps: metrics.steps,
            step_seconds: metrics.step_seconds,
            since_step_seconds: self.since_step_seconds,
            loader_wait_share: metrics.loader.map(|loader| loader.wait_share),
            growth_per_step_bytes: growth.map(|growth| Bytes(growth.per_step_bytes)),
            steps_to_error: growth.map(|growth| growth.steps_to_error),
            seconds_to_error: growth
                .zip(metrics.step_seconds)
                .map(|(growth, seconds)| growth.steps_to_error as f64 * seconds),
        }
    }
}

fn describe_gpu(gpu: &GpuSample) -> TopGpu {
    let mig = gpu.mig.iter().map(|mig| TopMig {
        name: mig.name.clone(),
        gpu_instance: mig.gpu_instance,
        total_bytes: mig.total,
        used_bytes: mig.used,
    });
    TopGpu {
        index: gpu.index,
        name: gpu.name.clone(),
        uuid: gpu.uuid.clone(),
        total_bytes: gpu.total,
        used_bytes: gpu.used,
        utilization_percent: gpu.utilization_percent,
        temperature_celsius: gpu.temperature_celsius,
        power_watts: gpu.power_watts,
        mig: mig.collect(),
        problem: gpu.problem.clone(),
    }
}

#[cfg(test)]
mod tests;
