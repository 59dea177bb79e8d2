//! The view of a machine, as lines.

use super::machine_report::TopReport;
use super::screen_line::{ScreenLine, Tone};
use super::{gpu_lines, process_lines, words};

/// The view of a machine, as lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Screen {
    /// The GPUs and their MIG devices.
    pub gpus: Vec<ScreenLine>,
    /// The remarks.
    pub remarks: Vec<ScreenLine>,
    /// The titles above the processes.
    pub heading: Vec<ScreenLine>,
    /// The lines of each process, in the report's order.
    pub processes: Vec<Vec<ScreenLine>>,
}

impl Screen {
    /// Lays a report out, at most `width` columns wide.
    pub fn of(report: &TopReport, width: usize) -> Screen {
        let is_any = !report.processes.is_empty();
        let nothing = ScreenLine::new(Tone::Quiet, words::cut("no process uses a GPU", width));
        Screen {
            gpus: gpu_lines::write(report, width),
            remarks: report.remarks.iter().flat_map(|remark| list_remark(remark, width)).collect(),
            heading: if is_any { process_lines::head(report, width) } else { vec![ScreenLine::default(), nothing] },
            processes: process_lines::write(report, width),
        }
    }
}

fn list_remark(remark: &str, width: usize) -> impl Iterator<Item = ScreenLine> {
    words::wrap(remark, "! ", width).into_iter().map(|line| ScreenLine::new(Tone::Alert, line))
}

/// Writes a report as text, at most `width` columns wide.
pub(crate) fn write_text(report: &TopReport, width: usize) -> String {
    let screen = Screen::of(report, width);
    let processes = screen.processes.iter().flatten();
    let all = screen.gpus.iter().chain(&screen.remarks).chain(&screen.heading).chain(processes);
    let mut lines: Vec<String> = all.map(|line| line.text().trim_end().to_owned()).collect();
    lines.push(String::new());
    lines.join("\n")
}
