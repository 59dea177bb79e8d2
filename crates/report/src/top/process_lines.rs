//! The lines of the processes: a row of figures, and for a recorded process the view of PyTorch's allocator below it.

use std::collections::BTreeSet;

use trace::Phase;

use super::columns::{Column, align, choose};
use super::machine_report::{TopProcess, TopRecorded, TopReport, TopUse};
use super::screen_line::{ScreenLine, Tone};
use super::words::{UNKNOWN, cut, duration, percent, size, width_of};
use crate::words::grouped;

const COLUMNS: [Column; 6] = [
    Column { title: "PID", width: 7, rank: 0, is_right: true },
    Column { title: "USER", width: 8, rank: 2, is_right: false },
    Column { title: "GPU", width: 4, rank: 1, is_right: true },
    Column { title: "MEMORY", width: 8, rank: 0, is_right: true },
    Column { title: "BUSY", width: 5, rank: 3, is_right: true },
    Column { title: "CPU", width: 6, rank: 4, is_right: true },
];
const COMMAND: &str = "COMMAND";
const LEAST_COMMAND: usize = 14;
/// The blanks before the lines below a row.
const INDENT: usize = 4;
/// The share of waiting from which it is named.
const WAITS: f64 = 0.1;

pub(super) fn head(report: &TopReport, width: usize) -> Vec<ScreenLine> {
    let columns = fit_numbers(report);
    let (chosen, _) = choose(&columns, LEAST_COMMAND, width);
    let titles: String = chosen.iter().map(|&at| align(&columns[at], columns[at].title)).collect();
    // A process on two GPUs has two rows.
    let count = report.processes.iter().map(|process| process.pid).collect::<BTreeSet<u32>>().len();
    let command = format!("{COMMAND} ({count} {})", if count == 1 { "process" } else { "processes" });
    vec![ScreenLine::default(), ScreenLine::new(Tone::Title, cut(&(titles + &command), width))]
}

pub(super) fn write(report: &TopReport, width: usize) -> Vec<Vec<ScreenLine>> {
    let columns = fit_numbers(report);
    let (chosen, command) = choose(&columns, LEAST_COMMAND, width);
    let shown: Vec<Column> = chosen.iter().map(|&at| columns[at]).collect();
    let write = |process: &TopProcess| {
        let mut lines = vec![write_row(process, &shown, command, width)];
        lines.extend(process.recorded.iter().flat_map(|recorded| write_recorded(recorded, width)));
        lines
    };
    report.processes.iter().map(write).collect()
}

/// The columns, the first as wide as the longest number: the numbers of guests on a vGPU host have ten digits.
fn fit_numbers(report: &TopReport) -> [Column; 6] {
    let mut columns = COLUMNS;
    let longest = report.processes.iter().map(|process| process.pid.to_string().len()).max();
    columns[0].width = columns[0].width.max(longest.unwrap_or_default());
    columns
}

fn write_row(process: &TopProcess, shown: &[Column], command: usize, width: usize) -> ScreenLine {
    let figures: String = shown.iter().map(|column| align(column, &figure(process, column.title))).collect();
    let figures = cut(&figures, width);
    let mut line = ScreenLine::new(Tone::Plain, figures);
    let tone = if process.command.is_some() { Tone::Plain } else { Tone::Quiet };
    line.push(tone, cut(&name(process, command), command));
    line
}

fn name(process: &TopProcess, cells: usize) -> String {
    let command = process.command.as_deref().unwrap_or("(not visible from here)");
    let command = if width_of(command) > cells { shorten(command) } else { command.to_owned() };
    let kind = if process.kind == TopUse::Graphics { " (graphics)" } else { "" };
    let container = process.container.as_ref().map(|container| format!(" [{container}]")).unwrap_or_default();
    format!("{command}{kind}{container}")
}

/// A command line with file names in place of whole paths: the script matters more than the folder of the interpreter.
fn shorten(command: &str) -> String {
    let words = command
        .split(' ')
        .map(|word| if word.starts_with('/') { word.rsplit('/').next().unwrap_or(word) } else { word });
    words.collect::<Vec<_>>().join(" ")
}

fn figure(process: &TopProcess, title: &str) -> String {
    let unknown = || UNKNOWN.to_owned();
    match title {
        "PID" => process.pid.to_string(),
        "USER" => process.user.clone().unwrap_or_else(unknown),
        "GPU" => match (process.gpu, process.gpu_instance) {
            (Some(gpu), Some(instance)) => format!("{gpu}/{instance}"),
            (Some(gpu), None) => gpu.to_string(),
            (None, _) => unknown(),
        },
        "MEMORY" => process.used_bytes.map_or_else(unknown, size),
        "BUSY" => percent(process.utilization_percent),
        _ => process.cpu_percent.map_or_else(unknown, |share| format!("{share:.0} %")),
    }
}

/// The lines below a row: facts that follow each other, as many in a line as fit.
fn write_recorded(recorded: &TopRecorded, width: usize) -> Vec<ScreenLine> {
    let indent = INDENT.min(width / 8);
    let room = width.saturating_sub(indent);
    let mut lines: Vec<ScreenLine> = Vec::new();
    let mut used = room + 1;
    for (tone, fact) in list_facts(recorded) {
        let fact = cut(&fact, room);
        if used + 2 + width_of(&fact) > room {
            lines.push(ScreenLine::new(Tone::Plain, " ".repeat(indent)));
            used = 0;
        }
        let separator = if used == 0 { "" } else { ", " };
        used += width_of(&fact) + separator.len();
        if let Some(line) = lines.last_mut() {
            line.push(Tone::Quiet, separator);
            line.push(tone, fact);
        }
    }
    lines
}

fn list_facts(recorded: &TopRecorded) -> Vec<(Tone, String)> {
    let mut facts = vec![
        (Tone::Quiet, format!("{} reserved", size(recorded.reserved_bytes))),
        (Tone::Quiet, format!("{} allocated", size(recorded.allocated_bytes))),
        (Tone::Quiet, describe_cache(recorded)),
        (Tone::Quiet, describe_step(recorded)),
    ];
    if let Some(share) = recorded.loader_wait_share.filter(|share| *share >= WAITS) {
        facts.push((Tone::Quiet, format!("waits for data {:.0} % of the time", share * 100.0)));
    }
    if let (Some(growth), Some(steps)) = (recorded.growth_per_step_bytes, recorded.steps_to_error) {
        let end = match recorded.seconds_to_error {
            Some(seconds) => duration(seconds),
            None => format!("{} steps", grouped(steps)),
        };
        facts.push((Tone::Alert, format!("+{} each step: full in {end}", size(growth))));
    }
    facts
}

fn describe_cache(recorded: &TopRecorded) -> String {
    let cached = size(recorded.cached_bytes);
    // The fragments are of the last recorded step: the cache may be smaller by now.
    let split = recorded.inactive_split_bytes.map(|split| split.min(recorded.cached_bytes));
    match split.filter(|bytes| bytes.0 > 0) {
        Some(split) => format!("{cached} cache ({} in fragments)", size(split)),
        None => format!("{cached} cache"),
    }
}

fn describe_step(recorded: &TopRecorded) -> String {
    let phase = recorded.phase.map(|phase| format!(", {}", describe_phase(phase))).unwrap_or_default();
    let time = recorded.step_seconds.map(|seconds| format!(" at {}", duration(seconds))).unwrap_or_default();
    match recorded.steps {
        0 => format!("no step yet{phase}"),
        steps => format!("step {}{time}{phase}", grouped(steps.into())),
    }
}

fn describe_phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Data => "between steps",
        phase => phase.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_command_loses_its_folders() {
        let command = Some("/opt/venv/bin/python /home/ada/work/train.py --data /mnt/sets/images".to_owned());
        let process = TopProcess { command, ..TopProcess::default() };
        assert_eq!(name(&process, 100), "/opt/venv/bin/python /home/ada/work/train.py --data /mnt/sets/images");
        assert_eq!(name(&process, 40), "python train.py --data images");
    }
}
