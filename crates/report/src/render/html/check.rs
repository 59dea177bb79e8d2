//! The page of `check`: the report, and the run that the report is about.

use super::contents::{Drawing, Filled, List, Page};
use crate::check::CheckReport;
use crate::render::figures::Figure;
use crate::render::sites::{AT_THE_NEED, AT_THE_PEAK, LINES_AT_THE_NEED, LINES_AT_THE_PEAK, words_of_assumption};
use crate::render::stages::{list_rows, words_of_whole_row};
use crate::render::verdict;
use crate::render::words::words_of_rank;
use crate::run_picture::{DevicePicture, RunPicture};
use crate::words::quote_all;

/// The contents of the page.
pub(super) fn page<'a>(report: &'a CheckReport, run: &'a RunPicture) -> Page<'a> {
    Page {
        headline: verdict::sentence(report),
        facts: facts(report),
        memory: run.memory.as_ref(),
        findings: &report.findings,
        run: words_of_run(report, run),
        devices: run.devices.iter().enumerate().map(|(index, device)| drawing(report, device, index == 0)).collect(),
        fillings: fillings(report),
        comparison: None,
        upper_lists: vec![
            ("Stages", list_rows(report).iter().map(|row| words_of_whole_row(row, &report.folder)).collect()),
            ("Ranks", report.ranks.iter().map(words_of_rank).collect()),
        ],
        lower_lists: lists(report),
        version: &report.version,
        folder: &report.folder,
    }
}

fn facts(report: &CheckReport) -> Vec<Figure> {
    let mut facts = verdict::facts(report);
    facts.extend(report.next.as_ref().map(|next| ("next", quote_all(next))));
    facts
}

/// The run that the drawings show.
fn words_of_run(report: &CheckReport, run: &RunPicture) -> String {
    if run.is_unlimited {
        "The run without a limit, whose peak is the need.".to_owned()
    } else {
        format!("The run on {}.", report.gpu.name)
    }
}

fn drawing<'a>(report: &CheckReport, device: &'a DevicePicture, is_main: bool) -> Drawing<'a> {
    Drawing {
        name: format!("rank {}, cuda:{}", device.rank, device.device.0),
        is_main,
        events: device.events,
        peak: &device.peak,
        oom_event: device.oom_event,
        limit: Some(("the CUDA context leaves", report.gpu.usable_bytes)),
        picture: &device.picture,
    }
}

/// The need of a program that does not fit, if it was seen, then the peak under the limit.
fn fillings(report: &CheckReport) -> Vec<Filled<'_>> {
    let filling = report.need.filling.as_ref().filter(|_| report.verdict.is_oom());
    let need = filling.map(|filling| Filled {
        ids: ["need-breakdown", "need-sites"],
        headings: [AT_THE_NEED, LINES_AT_THE_NEED],
        breakdown: &filling.breakdown,
        sites: &filling.sites,
    });
    let peak = Filled {
        ids: ["breakdown", "sites"],
        headings: [AT_THE_PEAK, LINES_AT_THE_PEAK],
        breakdown: &report.breakdown,
        sites: &report.sites,
    };
    need.into_iter().chain([peak]).collect()
}

fn lists(report: &CheckReport) -> Vec<List> {
    let assumptions = report.assumptions.iter().map(words_of_assumption).collect();
    vec![("Assumptions", assumptions), ("Notes", report.notes.iter().map(|remark| remark.text.clone()).collect())]
}
