//! The memory of a running program: a block of lines for each device. No line is broken, so that a watcher can cut columns.

use super::page::Page;
use crate::now::NowReport;
use crate::render::now::{headline, list_lines};

/// Writes each device; without a device, the answer.
pub(super) fn write(page: &mut Page, report: &NowReport) {
    if report.devices.is_empty() {
        return page.copied("", &headline(report));
    }
    for (index, device) in report.devices.iter().enumerate() {
        if index > 0 {
            page.line("");
        }
        for line in list_lines(device, &report.folder) {
            page.copied("", &line);
        }
    }
}
