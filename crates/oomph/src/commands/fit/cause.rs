//! The mistake behind a program that does not fit: it is mended before any change of sizes. Judged as `oomph check` does.

use std::path::Path;

use diagnose::CheckCase;
use drive::Program;
use drive::cleanup::interrupt;
use drive::dry_run::record::record_to_end;
use drive::run_dir::RunDir;
use report::fit::{FitCause, FitReport, FitVerdict};
use run::Conditions;
use run::rerun::Aim;

use super::kept;
use crate::args::Fit;
use crate::environment::current_folder;
use crate::error::Error;
use crate::{lint_links, program};

/// True if a search may have looked past a mistake: its first plan edits the source, or there is none.
pub(super) fn may_hide_one(report: &FitReport) -> bool {
    let edits = report.plans.first().is_none_or(|plan| plan.list_edits().next().is_some());
    matches!(report.verdict, FitVerdict::FitsWithPlan | FitVerdict::DoesNotFit) && edits && !report.interrupted
}

/// Adds the mistake to a report: from the kept search of an unchanged program, else by a check. The plans are worth a report whatever
/// becomes of the check.
pub(super) fn add(report: FitReport, arguments: &Fit, program: &Program) -> FitReport {
    let kept = if report.runs == 0 { kept::find(arguments, program) } else { None };
    if let Some(kept) = kept {
        return FitReport { cause: kept.cause, ..report };
    }
    match find(arguments, program) {
        Ok((cause, runs)) => FitReport { cause, runs: report.runs + runs, ..report },
        Err(error) => {
            let is_stopped = interrupt::has_come();
            let note = format!("whether a mistake is the cause is not known: {error}");
            let notes = report.notes.into_iter().chain((!is_stopped).then_some(note)).collect();
            FitReport { notes, interrupted: report.interrupted || is_stopped, ..report }
        }
    }
}

/// Finds the mistake without which the program fits, by a check of the unchanged program; with the number of its dry runs.
fn find(arguments: &Fit, program: &Program) -> Result<(Option<FitCause>, u32), Error> {
    let folder = RunDir::make(None)?;
    let conditions = Conditions::on_device(arguments.with.clone());
    let aim = Aim::Verdict { may_change_share: false };
    let runs = record_to_end(program, conditions, folder.path(), aim)?;
    let count = 1 + u32::from(runs.unlimited.is_some());
    let case = CheckCase {
        runs,
        gpu_assumed: false,
        assumptions: Vec::new(),
        hint: None,
        next: None,
        folder: current_folder(),
        surroundings: program::find_surroundings(program),
        seconds: 0.0,
    };
    let diagnosis = diagnose::check(&case);
    let first = diagnosis.findings().first().filter(|finding| diagnosis.mistake() == Some(finding.rule));
    let mistake = first.map(|finding| {
        let remedy = finding.remedies.first();
        let proof = finding.without.as_ref();
        let place = finding.location.as_ref();
        FitCause {
            rule: finding.rule.to_string(),
            what: finding.message.clone(),
            how: remedy.map(|remedy| remedy.how.clone()).unwrap_or_default(),
            before_bytes: proof.map(|proof| proof.before_bytes),
            after_bytes: proof.map(|proof| proof.after_bytes),
            file: place.map(|place| place.file.clone()).unwrap_or_default(),
            line: place.map_or(0, |place| place.line),
            is_mended_by_lint: lint_links::has_fix(finding, arguments.script().map(Path::to_path_buf)),
        }
    });
    Ok((mistake, count))
}
