//! `nvidia-smi --query-gpu=… --format=csv` and `--query-compute-apps=…`.

use super::super::line::CleanLines;
use super::{NvidiaSmi, SmiGpu, SmiProcess, available, mib};

/// Reads the list whose head is the line at `start`; returns its end.
pub(in super::super) fn read(text: &[u8], start: usize, line: u32) -> Option<(NvidiaSmi, usize)> {
    let mut lines = CleanLines::new(text, start);
    let (head, mut end) = lines.next()?;
    let columns: Vec<String> = fields(&head).map(|name| name.trim_matches('"').to_lowercase()).collect();
    let is_of_processes = columns.iter().any(|column| column == "pid" || column.starts_with("process_name"));
    let mut smi = NvidiaSmi { line, processes: is_of_processes.then(Vec::new), ..NvidiaSmi::default() };
    for (content, line_end) in lines {
        let values: Vec<&str> = fields(&content).collect();
        if values.len() != columns.len() || values.iter().all(|value| value.is_empty()) {
            break;
        }
        let row = columns.iter().map(String::as_str).zip(values);
        match &mut smi.processes {
            Some(processes) => processes.push(process(row)),
            None => smi.gpus.push(gpu(row, &mut smi.driver)),
        }
        end = line_end;
    }
    Some((smi, end))
}

fn fields(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(str::trim)
}

fn gpu<'a>(row: impl Iterator<Item = (&'a str, &'a str)>, driver: &mut Option<String>) -> SmiGpu {
    let mut gpu = SmiGpu::default();
    for (column, value) in row {
        match column {
            "index" => gpu.index = value.parse().ok(),
            "name" | "gpu_name" => gpu.name = available(value),
            "pci.bus_id" | "gpu_bus_id" => gpu.bus_id = available(value),
            "driver_version" => *driver = available(value),
            _ if column.starts_with("memory.total") => gpu.total_bytes = mib(value),
            _ if column.starts_with("memory.used") => gpu.used_bytes = mib(value),
            _ if column.starts_with("memory.free") => gpu.free_bytes = mib(value),
            _ if column.starts_with("memory.reserved") => gpu.reserved_bytes = mib(value),
            _ => {}
        }
    }
    gpu
}

fn process<'a>(row: impl Iterator<Item = (&'a str, &'a str)>) -> SmiProcess {
    let mut process = SmiProcess::default();
    for (column, value) in row {
        match column {
            "pid" => process.pid = value.parse().ok(),
            "name" | "process_name" => value.clone_into(&mut process.name),
            "gpu_uuid" | "gpu_bus_id" => process.gpu_id = available(value),
            _ if column.starts_with("used_") => process.used_bytes = mib(value),
            _ => {}
        }
    }
    process
}

/// Reads a text that is such a list without its head (`noheader`), as far as the values can be identified.
///
/// `1234, python, 2345 MiB` is a process. The largest size of a GPU is its total memory; the order of the others is
/// unknown.
pub(in super::super) fn read_bare(text: &[u8]) -> Option<NvidiaSmi> {
    const LONGEST: usize = 64 << 10;
    if text.len() > LONGEST {
        return None;
    }
    let mut smi = NvidiaSmi { line: 1, ..NvidiaSmi::default() };
    for (content, _) in CleanLines::new(text, 0).filter(|(content, _)| !content.trim().is_empty()) {
        let values: Vec<&str> = fields(&content).collect();
        match bare_process(&values) {
            Some(process) => smi.processes.get_or_insert_default().push(process),
            None => smi.gpus.push(bare_gpu(&values)?),
        }
    }
    (!smi.gpus.is_empty() || smi.processes.is_some()).then_some(smi)
}

fn bare_process(values: &[&str]) -> Option<SmiProcess> {
    let (gpu_id, rest) = match values {
        [id, rest @ ..] if id.starts_with("GPU-") => (available(id), rest),
        _ => (None, values),
    };
    let [pid, name, used] = rest else { return None };
    let is_process = mib(name).is_none() && (used.ends_with(" MiB") || used.starts_with("[N/A"));
    let pid = pid.parse().ok().filter(|_| is_process)?;
    Some(SmiProcess {
        pid: Some(pid),
        gpu_id,
        name: (*name).to_owned(),
        used_bytes: mib(used),
        ..SmiProcess::default()
    })
}

fn bare_gpu(values: &[&str]) -> Option<SmiGpu> {
    let sizes: Vec<_> = values.iter().filter(|value| value.ends_with(" MiB")).filter_map(|value| mib(value)).collect();
    let name =
        values.iter().find(|value| value.contains(|character: char| character.is_alphabetic()) && mib(value).is_none());
    let index = values.first().and_then(|value| value.parse().ok());
    let total_bytes = sizes.iter().copied().max().filter(|_| sizes.len() > 1)?;
    Some(SmiGpu {
        index,
        name: name.map(|name| (*name).to_owned()),
        total_bytes: Some(total_bytes),
        ..SmiGpu::default()
    })
}
