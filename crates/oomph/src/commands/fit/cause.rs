//! The mistake behind a program that does not fit: it is mended before any change of sizes. Judged as `oomph check` does.

use std::path::Path;

use causes::{CauseId, Role};
use diagnose::CheckCase;
use drive::Program;
use drive::dry_run::record::record_to_end;
use drive::run_folder::RunDir;
use report::Finding;
use report::fit::FitCause;
use run::Conditions;
use run::rerun::Aim;

use super::mend::Fixed;
use crate::args::Fit;
use crate::environment::current_folder;
use crate::error::Error;
use crate::{lint_links, program};

/// A mistake in the program.
pub(super) struct Mistake {
    pub(super) cause: FitCause,
    /// Lint's fix.
    pub(super) fixed: Option<Fixed>,
    /// True if the check proved that the program fits without the mistake.
    pub(super) is_decisive: bool,
}

/// Finds the mistake without which the program fits, or else a mistake with a fix of lint's, by a check of the unchanged program; with the
/// number of dry runs.
pub(super) fn find(arguments: &Fit, program: &Program) -> Result<(Option<Mistake>, u32), Error> {
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
        larger: None,
        folder: current_folder(),
        surroundings: program::find_surroundings(program),
        seconds: 0.0,
    };
    let diagnosis = diagnose::check(&case);
    let decides = |finding: &&Finding| diagnosis.mistake() == Some(finding.rule) && is_of_source(finding.rule);
    if let Some(first) = diagnosis.findings().first().filter(decides) {
        return Ok((Some(describe(first, arguments, true)), count));
    }
    let others = diagnosis.findings().iter().map(|finding| describe(finding, arguments, false));
    let seen = others.into_iter().find(|mistake| mistake.fixed.is_some());
    Ok((seen.or_else(|| arguments.script().and_then(of_lint)), count))
}

/// True for a mistake that only a change of its line mends. Logits of a whole vocabulary and eager attention have remedies.
fn is_of_source(cause: CauseId) -> bool {
    cause.role() == Role::Growth || [CauseId::GradRecordedInEval, CauseId::ExceptionHoldsFrames].contains(&cause)
}

/// A mistake that lint finds in the script, and no run has shown: a program that runs out in its first step does not grow.
fn of_lint(script: &Path) -> Option<Mistake> {
    let (text, found) = lint_links::find_growth(script)?;
    let cause = FitCause {
        rule: found.cause.map_or_else(|| found.rule.to_string(), |cause| cause.to_string()),
        what: found.message.clone(),
        how: found.help.to_owned(),
        file: script.display().to_string(),
        line: found.start.line,
        is_mended_by_lint: true,
        ..FitCause::default()
    };
    let fixed = Fixed::make((script.to_owned(), text, found.fix?))?;
    Some(Mistake { cause, fixed: Some(fixed), is_decisive: false })
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
