//! The page of a running program: the answer, and the lines that hold the memory.

use super::contents::Page;
use crate::now::{DeviceNow, NowReport};
use crate::render::now::{headline, list_holders, summarize, words_of_contents, words_of_figures};

/// The contents of the page.
pub(super) fn page(report: &NowReport) -> Page<'_> {
    let words = |device: &DeviceNow| {
        let figures = words_of_figures(&device.figures);
        let contents = device.contents.as_ref().map(words_of_contents);
        let start = [summarize(device, &report.folder), figures].into_iter().chain(contents);
        start.chain(list_holders(device, &report.folder)).collect::<Vec<_>>()
    };
    Page {
        headline: headline(report),
        facts: Vec::new(),
        memory: None,
        findings: &[],
        run: String::new(),
        devices: Vec::new(),
        fillings: Vec::new(),
        comparison: None,
        upper_lists: report.devices.iter().map(|device| ("Memory now", words(device))).collect(),
        lower_lists: Vec::new(),
        version: &report.version,
        folder: &report.folder,
    }
}
