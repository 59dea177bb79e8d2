//! The lines of the GPUs: name, memory with a bar, utilization, temperature, power.

use trace::Bytes;

use super::columns::{Column, align, choose};
use super::machine_report::{TopGpu, TopReport};
use super::screen_line::{ScreenLine, Tone};
use super::words::{UNKNOWN, percent, share};

const COLUMNS: [Column; 6] = [
    Column { title: "GPU", width: 3, rank: 0, is_right: true },
    Column { title: "NAME", width: 23, rank: 2, is_right: false },
    Column { title: "MEMORY", width: 20, rank: 0, is_right: true },
    Column { title: "BUSY", width: 5, rank: 1, is_right: true },
    Column { title: "TEMP", width: 5, rank: 4, is_right: true },
    Column { title: "POWER", width: 6, rank: 3, is_right: true },
];
/// The columns of a narrower terminal.
const NARROW: [Column; 4] = [
    Column { title: "GPU", width: 3, rank: 0, is_right: true },
    Column { title: "NAME", width: 14, rank: 1, is_right: false },
    Column { title: "MEMORY", width: 16, rank: 0, is_right: true },
    Column { title: "BUSY", width: 5, rank: 0, is_right: true },
];
const NARROW_CELLS: usize = 70;
/// The least cells of a bar, and the most.
const BAR: (usize, usize) = (6, 40);
/// The share of the memory from which a bar is an alert.
const FULL: f64 = 0.95;

pub(super) fn write(report: &TopReport, width: usize) -> Vec<ScreenLine> {
    let columns: &[Column] = if width < NARROW_CELLS { &NARROW } else { &COLUMNS };
    let (chosen, bar) = choose(columns, BAR.0, width);
    let shown: Vec<&Column> = chosen.iter().map(|&at| &columns[at]).collect();
    let title: String = shown.iter().map(|column| align(column, column.title)).collect();
    let mut lines = vec![ScreenLine::new(Tone::Title, super::words::cut(title.trim_end(), width))];
    if report.gpus.is_empty() {
        lines.push(ScreenLine::new(Tone::Quiet, super::words::cut("the driver lists no GPU", width)));
    }
    for gpu in &report.gpus {
        lines.push(write_gpu(gpu, &shown, bar.min(BAR.1), width));
        lines.extend(gpu.mig.iter().map(|mig| {
            let instance = mig.gpu_instance.map(|number| format!(" (instance {number})")).unwrap_or_default();
            let name = mig.name.as_deref().unwrap_or("MIG device");
            let memory = share(mig.used_bytes, mig.total_bytes);
            ScreenLine::new(Tone::Quiet, super::words::cut(&format!("     {name}{instance}: {memory}"), width))
        }));
    }
    lines
}

fn write_gpu(gpu: &TopGpu, shown: &[&Column], bar: usize, width: usize) -> ScreenLine {
    if let Some(problem) = &gpu.problem {
        return ScreenLine::new(Tone::Alert, super::words::cut(&format!("{:>3}  {problem}", gpu.index), width));
    }
    let mut line = ScreenLine::default();
    for column in shown {
        line.push(Tone::Plain, align(column, &figure(gpu, column.title)));
    }
    if let (Some(used), Some(total)) = (gpu.used_bytes, gpu.total_bytes)
        && bar >= BAR.0
    {
        push_bar(&mut line, used, total, bar);
    }
    line.cut(width)
}

fn figure(gpu: &TopGpu, title: &str) -> String {
    match title {
        "GPU" => gpu.index.to_string(),
        "NAME" => gpu.name.trim_start_matches("NVIDIA ").to_owned(),
        "MEMORY" => share(gpu.used_bytes, gpu.total_bytes),
        "BUSY" => percent(gpu.utilization_percent),
        "TEMP" => gpu.temperature_celsius.map_or_else(|| UNKNOWN.to_owned(), |degrees| format!("{degrees} °C")),
        _ => gpu.power_watts.map_or_else(|| UNKNOWN.to_owned(), |watts| format!("{watts} W")),
    }
}

fn push_bar(line: &mut ScreenLine, used: Bytes, total: Bytes, cells: usize) {
    let ratio = if total == Bytes::ZERO { 0.0 } else { (used.0 as f64 / total.0 as f64).min(1.0) };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of `cells`")]
    let filled = (ratio * cells as f64).round() as usize;
    line.push(if ratio >= FULL { Tone::Alert } else { Tone::Bar }, "█".repeat(filled));
    line.push(Tone::Quiet, "░".repeat(cells - filled));
}
