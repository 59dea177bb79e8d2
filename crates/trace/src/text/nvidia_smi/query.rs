//! `nvidia-smi -q`: names and values, one per line, under headings.

use super::super::line::CleanLines;
use super::{MigDevice, NvidiaSmi, SmiGpu, SmiProcess, available, mib};

/// The current heading.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Heading {
    Gpu,
    MigDevice,
    FrameBuffer,
    Process,
    Other,
}

struct Reading {
    smi: NvidiaSmi,
    heading: Heading,
    /// Set if the heading belongs to a MIG device.
    is_mig: bool,
}

/// Reads the log whose head is the line at `start`; returns its end.
pub(in super::super) fn read(text: &[u8], start: usize, line: u32) -> Option<(NvidiaSmi, usize)> {
    let smi = NvidiaSmi { line, ..NvidiaSmi::default() };
    let mut reading = Reading { smi, heading: Heading::Other, is_mig: false };
    let mut end = start;
    for (content, line_end) in CleanLines::new(text, start).skip(1) {
        if !reading.take(&content) {
            break;
        }
        end = line_end;
    }
    (!reading.smi.gpus.is_empty()).then_some((reading.smi, end))
}

impl Reading {
    /// Reads a line; `false` after the end of the log.
    fn take(&mut self, content: &str) -> bool {
        let trimmed = content.trim();
        if let Some((name, value)) = trimmed.split_once(" : ").or_else(|| Some((trimmed.strip_suffix(" :")?, ""))) {
            self.read_value(name.trim(), value.trim());
            return true;
        }
        let is_gpu = trimmed.starts_with("GPU ") && trimmed.contains(':');
        if is_gpu {
            let bus_id = trimmed.strip_prefix("GPU ").map(str::to_owned);
            let index = u32::try_from(self.smi.gpus.len()).ok();
            self.smi.gpus.push(SmiGpu { index, bus_id, ..SmiGpu::default() });
        }
        let is_indented = content.starts_with([' ', '\t']);
        self.head(trimmed, is_gpu);
        is_gpu || is_indented || trimmed.is_empty()
    }

    fn head(&mut self, heading: &str, is_gpu: bool) {
        self.heading = match heading {
            "" => return,
            "MIG Device" => Heading::MigDevice,
            "FB Memory Usage" => Heading::FrameBuffer,
            "Processes" => Heading::Process,
            _ if is_gpu => Heading::Gpu,
            _ => Heading::Other,
        };
        match self.heading {
            Heading::Gpu | Heading::Process => self.is_mig = false,
            Heading::MigDevice => {
                self.is_mig = true;
                self.smi.gpus.last_mut().into_iter().for_each(|gpu| gpu.mig_devices.push(MigDevice::default()));
            }
            _ => {}
        }
    }

    fn read_value(&mut self, name: &str, value: &str) {
        match (name, self.heading) {
            ("Driver Version", _) => self.smi.driver = available(value),
            ("CUDA Version", _) => self.smi.cuda = available(value),
            ("Processes", _) if value == "None" => self.smi.processes.get_or_insert_default().clear(),
            ("Process ID", _) => {
                self.heading = Heading::Process;
                let (pid, gpu_index) = (value.parse().ok(), self.smi.gpus.last().and_then(|gpu| gpu.index));
                self.smi.processes.get_or_insert_default().push(SmiProcess { gpu_index, pid, ..SmiProcess::default() });
            }
            (_, Heading::Process) => self.process_value(name, value),
            (_, Heading::FrameBuffer) => self.memory(name, value),
            (_, Heading::MigDevice) => self.mig_value(name, value),
            ("Product Name", _) => self.smi.gpus.last_mut().into_iter().for_each(|gpu| gpu.name = available(value)),
            _ => {}
        }
    }

    fn process_value(&mut self, name: &str, value: &str) {
        let Some(process) = self.smi.processes.as_mut().and_then(|all| all.last_mut()) else { return };
        match name {
            "Type" => process.kind = available(value),
            "Name" => value.clone_into(&mut process.name),
            "Used GPU Memory" => process.used_bytes = mib(value),
            _ => {}
        }
    }

    fn mig_value(&mut self, name: &str, value: &str) {
        let device = self.smi.gpus.last_mut().and_then(|gpu| gpu.mig_devices.last_mut());
        let (Some(device), Ok(number)) = (device, value.parse()) else { return };
        match name {
            "Index" => device.index = number,
            "GPU Instance ID" => device.gpu_instance = number,
            "Compute Instance ID" => device.compute_instance = number,
            _ => {}
        }
    }

    fn memory(&mut self, name: &str, value: &str) {
        let Some(gpu) = self.smi.gpus.last_mut() else { return };
        let part = gpu.mig_devices.last_mut().filter(|_| self.is_mig);
        match (name, part) {
            ("Total", Some(device)) => device.total_bytes = mib(value),
            ("Used", Some(device)) => device.used_bytes = mib(value),
            ("Total", None) => gpu.total_bytes = mib(value),
            ("Used", None) => gpu.used_bytes = mib(value),
            ("Free", None) => gpu.free_bytes = mib(value),
            ("Reserved", None) => gpu.reserved_bytes = mib(value),
            _ => {}
        }
    }
}
