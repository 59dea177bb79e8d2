//! The memory of a running program, for people.

use trace::Bytes;

use crate::breakdown::Breakdown;
use crate::finding::Location;
use crate::metrics::{DeviceMetrics, StepGrowth};
use crate::render::{clean, grouped};
use crate::words::{count, relative};

/// The most lines with a name; further lines are counted.
const LINES: usize = 8;

/// The memory of a process on one device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceNow {
    /// The rank, if the program has several processes.
    pub rank: Option<u32>,
    /// The completed optimizer steps.
    pub steps: u32,
    /// The figures.
    pub figures: DeviceMetrics,
    /// The line that allocates the growth of a step.
    pub grows_at: Option<Location>,
    /// The allocated memory by category, guessed from stacks; `None` if allocations are not recorded.
    pub contents: Option<Breakdown>,
    /// The lines by their allocated memory, most first; empty if allocations are not recorded.
    pub lines: Vec<HeldLine>,
}

/// The allocated memory of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldLine {
    /// The line; `None` for blocks without a line of the program.
    pub location: Option<Location>,
    /// The memory.
    pub bytes: Bytes,
    /// The number of blocks.
    pub blocks: u64,
}

/// Writes the lines for people, the first of which stands alone. `folder` shortens paths.
pub fn write_now(device: &DeviceNow, folder: &str) -> String {
    let mut lines = vec![summarize(device, folder), describe_figures(&device.figures)];
    lines.extend(device.contents.as_ref().map(describe_contents));
    let place = |line: &HeldLine| line.location.as_ref().map_or_else(|| NO_LINE.to_owned(), |at| name(at, folder));
    let named = device.lines.iter().take(LINES);
    lines.extend(named.map(|line| write_row(device, line.bytes, &place(line), line.blocks)));
    let others = device.lines.get(LINES..).unwrap_or_default();
    if !others.is_empty() {
        let place = count(others.len(), "further line", "further lines");
        lines.push(write_row(
            device,
            others.iter().map(|line| line.bytes).sum(),
            &place,
            others.iter().map(|line| line.blocks).sum(),
        ));
    }
    lines.iter().map(|line| clean(line).into_owned() + "\n").collect()
}

/// `  parameters 1.20 GiB, gradients 1.20 GiB, activations 512.00 MiB`.
fn describe_contents(contents: &Breakdown) -> String {
    let parts = contents.parts().iter().map(|part| format!("{} {}", part.category.words(), part.bytes));
    format!("  {}", parts.collect::<Vec<_>>().join(", "))
}

const NO_LINE: &str = "no line of the program, as in a backward pass";

/// `step 120: 5.13 GiB of 11.76 GiB allocated; 1.20 MiB stay of each step (train.py:31): full in 5,400 steps`.
fn summarize(device: &DeviceNow, folder: &str) -> String {
    let figures = &device.figures;
    let rank = device.rank.map(|rank| format!("rank {rank}, ")).unwrap_or_default();
    let gpu = if figures.device > 0 { format!(", device {}", figures.device) } else { String::new() };
    let used = format!("{} of {} allocated", Bytes(figures.allocated_bytes), Bytes(figures.total_bytes));
    let growth = figures.growth.map(|growth| describe_growth(growth, device.grows_at.as_ref(), folder));
    let step = match device.steps {
        0 => "no optimizer step yet".to_owned(),
        steps => format!("step {}", grouped(steps.into())),
    };
    format!("{rank}{step}{gpu}: {used}{}", growth.unwrap_or_default())
}

fn describe_growth(growth: StepGrowth, at: Option<&Location>, folder: &str) -> String {
    let at = at.map(|at| format!(" ({})", name(at, folder))).unwrap_or_default();
    let unit = if growth.steps_to_error == 1 { "step" } else { "steps" };
    format!(
        "; {} stay of each step{at}: full in {} {unit}",
        Bytes(growth.per_step_bytes),
        grouped(growth.steps_to_error)
    )
}

fn describe_figures(figures: &DeviceMetrics) -> String {
    let retries = figures.alloc_retries.filter(|retries| *retries > 0);
    let retries = retries.map(|retries| format!("; {}", count(retries, "retry", "retries")));
    format!(
        "  {} reserved; at most {} allocated, {} reserved so far{} ({})",
        Bytes(figures.reserved_bytes),
        Bytes(figures.allocated_peak_bytes),
        Bytes(figures.reserved_peak_bytes),
        retries.unwrap_or_default(),
        figures.name
    )
}

fn write_row(device: &DeviceNow, bytes: Bytes, place: &str, blocks: u64) -> String {
    let percent = 100.0 * bytes.0 as f64 / device.figures.allocated_bytes.max(1) as f64;
    format!("  {bytes:>10}  {percent:>3.0} %  {place} ({})", count(blocks, "block", "blocks"))
}

fn name(at: &Location, folder: &str) -> String {
    format!("{}:{}", relative(&at.file, folder), at.line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32) -> Location {
        Location { file: "/work/train.py".to_owned(), line, column: None }
    }

    fn device(growth: Option<StepGrowth>, lines: Vec<HeldLine>) -> DeviceNow {
        let figures = DeviceMetrics {
            name: "NVIDIA T4".to_owned(),
            total_bytes: 16 << 30,
            allocated_bytes: 4 << 30,
            reserved_bytes: 5 << 30,
            allocated_peak_bytes: 6 << 30,
            reserved_peak_bytes: 7 << 30,
            growth,
            ..DeviceMetrics::default()
        };
        DeviceNow { steps: 1200, figures, grows_at: growth.map(|_| at(31)), lines, ..DeviceNow::default() }
    }

    #[test]
    fn the_first_line_stands_alone() {
        let growth = |steps_to_error| Some(StepGrowth { per_step_bytes: 3 << 19, steps_to_error });
        let start = "step 1,200: 4.00 GiB of 16.00 GiB allocated";
        let cases = [
            (device(None, vec![]), start.to_owned()),
            (
                device(growth(5400), vec![]),
                format!("{start}; 1.50 MiB stay of each step (train.py:31): full in 5,400 steps"),
            ),
            (device(growth(1), vec![]), format!("{start}; 1.50 MiB stay of each step (train.py:31): full in 1 step")),
            (DeviceNow { rank: Some(2), ..device(None, vec![]) }, format!("rank 2, {start}")),
            (
                DeviceNow { steps: 0, ..device(None, vec![]) },
                "no optimizer step yet: 4.00 GiB of 16.00 GiB allocated".to_owned(),
            ),
        ];
        for (device, expected) in cases {
            let text = write_now(&device, "/work");
            let second = "  5.00 GiB reserved; at most 6.00 GiB allocated, 7.00 GiB reserved so far (NVIDIA T4)";
            assert_eq!(text.lines().collect::<Vec<_>>(), [expected.as_str(), second]);
        }
    }

    #[test]
    fn lines_stand_by_their_share_and_few_are_named() {
        let line = |number: u32| HeldLine { location: Some(at(number)), bytes: Bytes(256 << 20), blocks: 2 };
        let none = HeldLine { location: None, bytes: Bytes(1 << 30), blocks: 1 };
        let lines: Vec<HeldLine> = [none].into_iter().chain((1..=9).map(line)).collect();
        let text = write_now(&device(None, lines), "/work");
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(rows[0], "    1.00 GiB   25 %  no line of the program, as in a backward pass (1 block)");
        assert_eq!(rows[1], "  256.00 MiB    6 %  train.py:1 (2 blocks)");
        assert_eq!((rows.len(), rows[8]), (9, "  512.00 MiB   12 %  2 further lines (4 blocks)"));
    }
}
