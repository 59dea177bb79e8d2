//! Builds the report of `explain` from the files that a crash left.

mod case;
mod comparison;
mod devices;
mod ending;
mod evidence;
mod failure;
mod history;
mod memory;
mod notes;
mod ranks;
mod tables;

use report::explain::{ExplainReport, Input};
use trace::text::{Artifact, StatedOom};

pub use self::case::{ExplainCase, ExplainInput, InputContents};
use self::comparison::comparison;
use self::devices::{Seen, focus, list_devices};
use self::evidence::gather_facts;
use self::failure::focus_oom;
use self::memory::memory;
use self::notes::notes;
use crate::rules;

/// Returns the report of `explain` for `case`.
pub fn explain(case: &ExplainCase) -> ExplainReport {
    let seen = list_devices(case);
    let mut report = frame(case);
    report.focus_oom = focus_oom(&report.ooms);
    report.devices = seen.iter().map(Seen::history).collect();
    report.focus = focus(&seen, &report);
    let subject = report.focus.and_then(|focus| seen.get(focus));
    if let (Some(subject), Some(history)) = (subject, report.focus.and_then(|focus| report.devices.get(focus))) {
        report.peak = Some(history.peak.clone());
        report.breakdown = Some(history.breakdown.clone());
        report.sites = subject.sites();
    }
    report.comparison = comparison(&seen, &report);
    let facts = gather_facts(&report, &seen, subject);
    let (findings, memory) = (rules::of_a_crash(&facts), memory(&facts));
    let notes = notes(case, &report, subject.map(|subject| &subject.view));
    ExplainReport { findings, memory, notes, ..report }
}

/// Returns the parts of the report that need no device.
fn frame(case: &ExplainCase) -> ExplainReport {
    let mut report = ExplainReport {
        version: case.version.clone(),
        inputs: case.inputs.iter().map(describe_input).collect(),
        folder: case.folder.clone(),
        ..ExplainReport::default()
    };
    for (index, oom) in stated(case) {
        report.ooms.push(oom.clone());
        report.oom_inputs.push(index);
    }
    (report.counters, report.cards) = (tables::counters(case), tables::cards(case));
    report
}

fn describe_input(input: &ExplainInput) -> Input {
    let torch = input.contents.torch();
    Input { path: input.path.clone(), kind: input.contents.kind(), torch, rank: input.rank }
}

/// Returns the errors of all texts, each with the index of its input.
fn stated(case: &ExplainCase) -> impl Iterator<Item = (usize, &StatedOom)> {
    case.inputs.iter().enumerate().flat_map(|(index, input)| {
        let artifacts = match &input.contents {
            InputContents::Text(artifacts) => artifacts.as_slice(),
            InputContents::Snapshot(_) | InputContents::Run(..) => &[],
        };
        artifacts.iter().filter_map(move |artifact| match artifact {
            Artifact::Oom(oom) => Some((index, oom)),
            _ => None,
        })
    })
}
