//! The page of a real run: of a run that memory ended the page of `check`, else the end and the drawings of the run.

use super::check;
use super::contents::{Drawing, Page};
use crate::real_run::RunReport;
use crate::render::figures::Figure;
use crate::render::real_run::{headline, list_remarks};
use crate::run_picture::{DevicePicture, RunPicture};
use crate::words::quote_all;

/// The contents of the page.
pub(super) fn page<'a>(report: &'a RunReport, run: &'a RunPicture) -> Page<'a> {
    let Some(error) = &report.out_of_memory else { return page_of_end(report, run) };
    let mut page = check::page(error, run);
    page.upper_lists.push(("End", list_remarks(report)));
    page
}

fn page_of_end<'a>(report: &'a RunReport, run: &'a RunPicture) -> Page<'a> {
    Page {
        facts: list_figures(report),
        devices: run.devices.iter().enumerate().map(|(index, device)| drawing(report, device, index == 0)).collect(),
        upper_lists: vec![("End", list_remarks(report))],
        folder: &report.folder,
        ..Page::of_answer(headline(report), &report.version, &report.folder)
    }
}

fn list_figures(report: &RunReport) -> Vec<Figure> {
    let program = (!report.command.is_empty()).then(|| ("program", quote_all(&report.command)));
    let gpu = report.memory.as_ref().map(|memory| ("GPU", memory.gpu.clone()));
    program.into_iter().chain(gpu).collect()
}

fn drawing<'a>(report: &RunReport, device: &'a DevicePicture, is_main: bool) -> Drawing<'a> {
    let total = report.memory.as_ref().and_then(|memory| memory.total_bytes).filter(|_| is_main);
    Drawing {
        name: format!("rank {}, cuda:{}", device.rank, device.device.0),
        is_main,
        events: device.events,
        peak: &device.peak,
        oom_event: device.oom_event,
        limit: total.map(|total| ("the device has", total)),
        picture: &device.picture,
    }
}
