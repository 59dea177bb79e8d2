//! The default table of `nvidia-smi`, in its layouts up to 2018, up to 2023 and since.

use super::super::line::CleanLines;
use super::{MigDevice, NvidiaSmi, SmiGpu, SmiProcess, mib};

/// The part of the table that holds a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TablePart {
    Gpus,
    MigDevices,
    Processes,
}

/// Reads the table whose line of versions starts at `start`; returns its end.
pub(in super::super) fn read(text: &[u8], start: usize, line: u32) -> Option<(NvidiaSmi, usize)> {
    let mut smi = NvidiaSmi { line, ..NvidiaSmi::default() };
    let mut part = TablePart::Gpus;
    let mut end = start;
    for (number, (content, line_end)) in CleanLines::of_table(text, start, b"NVIDIA-SMI").enumerate() {
        let is_head = content.contains("NVIDIA-SMI");
        if is_head != (number == 0) || !belongs(&content) {
            break;
        }
        if is_head {
            smi.driver = version(&content, "Driver Version:");
            smi.cuda = version(&content, "CUDA Version:");
        }
        end = line_end;
        if part == TablePart::Processes
            && content.contains("---+")
            && smi.processes.as_ref().is_some_and(|all| !all.is_empty())
        {
            break;
        }
        part = take(&mut smi, part, &content);
    }
    (smi.driver.is_some() && (!smi.gpus.is_empty() || smi.processes.is_some())).then_some((smi, end))
}

fn belongs(content: &str) -> bool {
    content.trim().is_empty() || content.contains(['|', '+'])
}

fn version(content: &str, word: &str) -> Option<String> {
    let (_, rest) = content.split_once(word)?;
    rest.split_whitespace().next().map(str::to_owned)
}

/// Reads a line of a part; returns the part of the next line.
fn take(smi: &mut NvidiaSmi, part: TablePart, content: &str) -> TablePart {
    let cells: Vec<&str> = content.split('|').map(str::trim).collect();
    let Some(cells) = cells.get(1..).filter(|cells| !cells.is_empty()) else { return part };
    if cells[0].starts_with("MIG devices:") {
        return TablePart::MigDevices;
    }
    if cells[0].starts_with("Processes:") || content.contains("GPU Memory |") {
        return TablePart::Processes;
    }
    match part {
        TablePart::Gpus => gpu(&mut smi.gpus, cells),
        TablePart::MigDevices => mig_device(&mut smi.gpus, cells),
        TablePart::Processes if cells[0].contains("No running processes found") => smi.processes = Some(Vec::new()),
        TablePart::Processes => {
            if let Some(process) = process(cells[0]) {
                smi.processes.get_or_insert_default().push(process);
            }
        }
    }
    part
}

/// The first line of a GPU has its name, the second its memory.
fn gpu(gpus: &mut Vec<SmiGpu>, cells: &[&str]) {
    let Some(middle) = cells.get(1) else { return };
    if let Some((used, total)) = pair(middle) {
        if let Some(gpu) = gpus.last_mut().filter(|gpu| gpu.total_bytes.is_none()) {
            (gpu.used_bytes, gpu.total_bytes) = (mib(used), mib(total));
        }
        return;
    }
    let bus_id = middle.split_whitespace().next().filter(|id| id.contains(':') && id.contains('.'));
    let (index, name) = cells[0].split_once(' ').unwrap_or((cells[0], ""));
    if let (Ok(index), Some(bus_id)) = (index.parse(), bus_id) {
        // The last word is the persistence mode, or on Windows the driver model.
        let name = name.trim().rsplit_once("  ").map_or(name, |(name, _)| name).trim();
        let (name, bus_id) = (Some(name.to_owned()).filter(|name| !name.is_empty()), Some(bus_id.to_owned()));
        gpus.push(SmiGpu { index: Some(index), name, bus_id, ..SmiGpu::default() });
    }
}

fn mig_device(gpus: &mut [SmiGpu], cells: &[&str]) {
    let numbers: Vec<u32> = cells[0].split_whitespace().map_while(|word| word.parse().ok()).collect();
    let (&[gpu, gpu_instance, compute_instance, index], Some((used, total))) =
        (numbers.as_slice(), cells.get(1).and_then(|cell| pair(cell)))
    else {
        return;
    };
    let device = MigDevice { gpu_instance, compute_instance, index, total_bytes: mib(total), used_bytes: mib(used) };
    if let Some(gpu) = gpus.iter_mut().find(|candidate| candidate.index == Some(gpu)) {
        gpu.mig_devices.push(device);
    }
}

/// `1024MiB / 24564MiB`.
fn pair(cell: &str) -> Option<(&str, &str)> {
    cell.split_once('/').filter(|(_, total)| total.contains("MiB"))
}

/// `0   N/A  N/A      1234      C   python train.py      2345MiB`; before 2020 without the two instances.
fn process(row: &str) -> Option<SmiProcess> {
    let words: Vec<&str> = row.split_whitespace().collect();
    let gpu_index = words.first()?.parse().ok()?;
    let kind = words.iter().take(5).position(|word| matches!(*word, "C" | "G" | "C+G" | "M+C" | "M"))?;
    let (instances, pid) = (words.get(1..kind - 1)?, words.get(kind - 1)?);
    let (used, name) = words.get(kind + 1..)?.split_last()?;
    Some(SmiProcess {
        gpu_index: Some(gpu_index),
        gpu_instance: instances.first().and_then(|word| word.parse().ok()),
        compute_instance: instances.get(1).and_then(|word| word.parse().ok()),
        pid: pid.parse().ok(),
        kind: Some(words[kind].to_owned()),
        name: name.join(" "),
        used_bytes: mib(used),
        ..SmiProcess::default()
    })
}
