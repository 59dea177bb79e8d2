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
        upper_lists: report.devices.iter().map(|device| ("Memory now", words(device))).collect(),
        folder: &report.folder,
        ..Page::of_answer(headline(report), &report.version, &report.folder)
    }
}
