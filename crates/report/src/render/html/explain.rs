//! The page of `explain`: the contents, as the report has them.

use super::contents::{Drawing, Filled, List, Page};
use crate::breakdown::Breakdown;
use crate::check::Site;
use crate::explain::{DeviceHistory, ExplainReport, Extent};
use crate::render::answer::{answer, focus};
use crate::render::figures;
use crate::render::sites::{AT_THE_PEAK, LINES_AT_THE_PEAK};
use crate::render::words::{name_of_input, path_of_input, words_of_error, words_of_input};

/// The contents of the page.
pub(super) fn page(report: &ExplainReport) -> Page<'_> {
    Page {
        headline: answer(report),
        facts: figures::explain(report),
        memory: report.memory.as_ref(),
        findings: &report.findings,
        run: String::new(),
        devices: report.devices.iter().map(|device| drawing(report, device)).collect(),
        fillings: report.breakdown.iter().map(|breakdown| at_the_peak(breakdown, &report.sites)).collect(),
        comparison: report.comparison.as_ref(),
        upper_lists: vec![("Errors", errors(report))],
        lower_lists: lists(report),
        version: &report.version,
        folder: &report.folder,
    }
}

fn at_the_peak<'a>(breakdown: &'a Breakdown, sites: &'a [Site]) -> Filled<'a> {
    let headings = [AT_THE_PEAK, LINES_AT_THE_PEAK];
    Filled { ids: ["breakdown", "sites"], headings, breakdown, sites }
}

fn drawing<'a>(report: &ExplainReport, device: &'a DeviceHistory) -> Drawing<'a> {
    let is_main = focus(report).is_some_and(|focus| std::ptr::eq(focus, device));
    // The memory of the device is known for the main device alone.
    let memory = report.memory.as_ref().filter(|memory| is_main && memory.extent() == Extent::Device);
    Drawing {
        name: name(report, device),
        is_main,
        events: device.events,
        peak: &device.peak,
        oom_event: device.oom.as_ref().map(|oom| oom.event),
        limit: memory.map(|memory| ("the device has", memory.total())),
        picture: &device.picture,
    }
}

/// `rank 0, cuda:1`; the file's name without a known rank.
fn name(report: &ExplainReport, device: &DeviceHistory) -> String {
    let input = report.inputs.get(device.input);
    format!("{}, cuda:{}", input.map(name_of_input).unwrap_or_default(), device.device.0)
}

fn errors(report: &ExplainReport) -> Vec<String> {
    report.ooms.iter().enumerate().map(|(index, oom)| words_of_error(report, index, oom)).collect()
}

fn lists(report: &ExplainReport) -> Vec<List> {
    let inputs = report.inputs.iter().map(|input| format!("{}: {}", path_of_input(input), words_of_input(input)));
    vec![("Read", inputs.collect()), ("Notes", report.notes.clone())]
}
