//! The words for the memory of a running program.

use trace::Bytes;

use super::layout::{grouped, line_of};
use crate::breakdown::Breakdown;
use crate::finding::Location;
use crate::metrics::{DeviceMetrics, StepGrowth};
use crate::now::{DeviceNow, HeldLine, NowReport};
use crate::words::count;

/// The most lines with a name; further lines are counted.
const LINES: usize = 8;
const NO_LINE: &str = "no line of the program, as in a backward pass";

/// The answer in one sentence. No full stop.
pub(super) fn headline(report: &NowReport) -> String {
    let unused = || "no process of the program has used a GPU through PyTorch yet".to_owned();
    report.focused().map_or_else(unused, |device| summarize(device, &report.folder))
}

/// The lines about one device, the first of which stands alone.
pub(super) fn list_lines(device: &DeviceNow, folder: &str) -> Vec<String> {
    let mut lines = vec![summarize(device, folder), "  ".to_owned() + &words_of_figures(&device.figures)];
    lines.extend(device.contents.as_ref().map(|contents| "  ".to_owned() + &words_of_contents(contents)));
    lines.extend(list_rows(device, folder).iter().map(|row| write_row(device, row)));
    lines
}

/// A row of the table of lines.
struct Row {
    bytes: Bytes,
    place: String,
    blocks: u64,
}

/// The lines with most memory, and the sum of the others.
fn list_rows(device: &DeviceNow, folder: &str) -> Vec<Row> {
    let place = |line: &HeldLine| line.location.as_ref().map_or_else(|| NO_LINE.to_owned(), |at| line_of(at, folder));
    let named = device.lines.iter().take(LINES);
    let mut rows: Vec<Row> =
        named.map(|line| Row { bytes: line.bytes, place: place(line), blocks: line.blocks }).collect();
    let others = device.lines.get(LINES..).unwrap_or_default();
    if !others.is_empty() {
        rows.push(Row {
            bytes: others.iter().map(|line| line.bytes).sum(),
            place: count(others.len(), "further line", "further lines"),
            blocks: others.iter().map(|line| line.blocks).sum(),
        });
    }
    rows
}

/// The lines of the program, a sentence each: `train.py:31 has 64.00 MiB (8 blocks)`.
pub(super) fn list_holders(device: &DeviceNow, folder: &str) -> Vec<String> {
    let rows = list_rows(device, folder);
    let words = |row: Row| format!("{}: {} ({})", row.place, row.bytes, count(row.blocks, "block", "blocks"));
    rows.into_iter().map(words).collect()
}

/// `parameters 1.20 GiB, gradients 1.20 GiB, activations 512.00 MiB`.
pub(super) fn words_of_contents(contents: &Breakdown) -> String {
    let parts = contents.parts().iter().map(|part| format!("{} {}", part.category.words(), part.bytes));
    parts.collect::<Vec<_>>().join(", ")
}

/// `step 120: 5.13 GiB of 11.76 GiB allocated; 1.20 MiB stay of each step (train.py:31): full in 5,400 steps`.
pub(super) fn summarize(device: &DeviceNow, folder: &str) -> String {
    let figures = &device.figures;
    let rank = device.rank.map(|rank| format!("rank {rank}, ")).unwrap_or_default();
    let gpu = if figures.device > 0 { format!(", device {}", figures.device) } else { String::new() };
    let used = format!("{} of {} allocated", Bytes(figures.allocated_bytes), Bytes(figures.total_bytes));
    let growth = figures.growth.map(|growth| words_of_growth(growth, device.grows_at.as_ref(), folder));
    let step = match device.steps {
        0 => "no optimizer step yet".to_owned(),
        steps => format!("step {}", grouped(steps.into())),
    };
    format!("{rank}{step}{gpu}: {used}{}", growth.unwrap_or_default())
}

fn words_of_growth(growth: StepGrowth, at: Option<&Location>, folder: &str) -> String {
    let at = at.map(|at| format!(" ({})", line_of(at, folder))).unwrap_or_default();
    let unit = if growth.steps_to_error == 1 { "step" } else { "steps" };
    format!(
        "; {} stay of each step{at}: full in {} {unit}",
        Bytes(growth.per_step_bytes),
        grouped(growth.steps_to_error)
    )
}

/// `5.00 GiB reserved; at most 6.00 GiB allocated, 7.00 GiB reserved so far (NVIDIA T4)`.
pub(super) fn words_of_figures(figures: &DeviceMetrics) -> String {
    let retries = figures.alloc_retries.filter(|retries| *retries > 0);
    let retries = retries.map(|retries| format!("; {}", count(retries, "retry", "retries")));
    format!(
        "{} reserved; at most {} allocated, {} reserved so far{} ({})",
        Bytes(figures.reserved_bytes),
        Bytes(figures.allocated_peak_bytes),
        Bytes(figures.reserved_peak_bytes),
        retries.unwrap_or_default(),
        figures.name
    )
}

fn write_row(device: &DeviceNow, row: &Row) -> String {
    let percent = 100.0 * row.bytes.0 as f64 / device.figures.allocated_bytes.max(1) as f64;
    format!("  {:>10}  {percent:>3.0} %  {} ({})", row.bytes, row.place, count(row.blocks, "block", "blocks"))
}

#[cfg(test)]
mod tests;
