//! The mistake behind a program that does not fit: it is mended before any change of sizes. Judged as `oomph check` does.

use diagnose::CheckCase;
use drive::Program;
use drive::cleanup::interrupt;
use drive::dry_run::record::record_to_end;
use drive::run_dir::RunDir;
use report::Finding;
use report::fit::{FitCause, FitReport, FitVerdict};
use run::Conditions;
use run::rerun::Aim;
use trace::Bytes;

use super::mend::{self, Fixed};
use super::search::SearchTask;
use crate::args::Fit;
use crate::environment::current_folder;
use crate::error::Error;
use crate::{lint_links, program};

/// What the search for a mistake found.
#[derive(Default)]
pub(super) struct FoundMistake {
    /// The mistake that decides.
    pub(super) cause: Option<FitCause>,
    /// The search of the mended program.
    pub(super) mended: Option<FitReport>,
    /// The number of dry runs.
    pub(super) runs: u32,
    /// What is not known, in a sentence.
    pub(super) note: Option<String>,
}

impl FoundMistake {
    /// Adds the mistake to a report; the plans of the mended program replace those of the program that keeps the mistake. `emit` prints
    /// the patch.
    pub(super) fn add_to(self, report: FitReport, emit: Vec<String>) -> FitReport {
        let notes = report.notes.iter().cloned().chain(self.note).collect();
        let cause = self.cause.filter(|cause| cause.mend.is_some() || !is_mended_by_plan(&report));
        let report = FitReport { cause, runs: report.runs + self.runs, notes, ..report };
        let Some(mended) = self.mended else { return report };
        let verdict = FitVerdict::FitsWithPlan;
        let interrupted = report.interrupted || mended.interrupted;
        FitReport { verdict, plans: mended.plans, next: Some(emit), interrupted, ..report }
    }

    /// Nothing is known, for a reason.
    pub(super) fn unknown(what: &str, error: &Error, runs: u32) -> FoundMistake {
        let note = (!interrupt::has_come()).then(|| format!("{what}: {error}"));
        FoundMistake { note, runs, ..FoundMistake::default() }
    }
}

/// True if the first plan is the mend of a mistake itself.
fn is_mended_by_plan(report: &FitReport) -> bool {
    let first = report.plans.first();
    first.is_some_and(|plan| plan.changes.iter().all(|change| change.remedy == remedies::NO_GRAD_IN_EVAL))
}

/// Finds the mistake by a check, mends it where lint has a fix, and searches for plans of the mended program. The search goes on whatever
/// becomes of these.
pub(super) fn find_and_mend(task: &SearchTask, need: Bytes) -> FoundMistake {
    let (found, runs) = match find(task.arguments, task.program) {
        Ok(found) => found,
        Err(error) => return FoundMistake::unknown("whether a mistake is the cause is not known", &error, 0),
    };
    match found {
        Some(Mistake { cause, fixed: Some(fixed), is_decisive }) => {
            let found = mend::search_mended(task, need, (cause, is_decisive), &fixed);
            FoundMistake { runs: found.runs + runs, ..found }
        }
        Some(Mistake { cause, is_decisive: true, .. }) => {
            FoundMistake { cause: Some(cause), runs, ..FoundMistake::default() }
        }
        _ => FoundMistake { runs, ..FoundMistake::default() },
    }
}

/// A mistake in the program.
struct Mistake {
    cause: FitCause,
    /// Lint's fix.
    fixed: Option<Fixed>,
    /// True if the check proved that the program fits without it.
    is_decisive: bool,
}

/// Finds the mistake without which the program fits, or else one that lint mends, by a check of the unchanged program; with the number of
/// its dry runs.
fn find(arguments: &Fit, program: &Program) -> Result<(Option<Mistake>, u32), Error> {
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
    let decides = |finding: &&Finding| diagnosis.mistake() == Some(finding.rule);
    if let Some(first) = diagnosis.findings().first().filter(decides) {
        return Ok((Some(describe(first, arguments, true)), count));
    }
    let others = diagnosis.findings().iter().map(|finding| describe(finding, arguments, false));
    Ok((others.into_iter().find(|mistake| mistake.fixed.is_some()), count))
}

fn describe(finding: &Finding, arguments: &Fit, is_decisive: bool) -> Mistake {
    let remedy = finding.remedies.first();
    let proof = finding.without.as_ref();
    let place = finding.location.as_ref();
    let fixed = lint_links::find_fix(finding, arguments.script()).and_then(Fixed::make);
    let cause = FitCause {
        rule: finding.rule.to_string(),
        what: finding.message.clone(),
        how: remedy.map(|remedy| remedy.how.clone()).unwrap_or_default(),
        before_bytes: proof.map(|proof| proof.before_bytes),
        after_bytes: proof.map(|proof| proof.after_bytes),
        file: place.map(|place| place.file.clone()).unwrap_or_default(),
        line: place.map_or(0, |place| place.line),
        is_mended_by_lint: fixed.is_some(),
        mend: None,
    };
    Mistake { cause, fixed, is_decisive }
}
