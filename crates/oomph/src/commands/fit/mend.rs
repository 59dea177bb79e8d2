//! The mend of a mistake: the file with lint's fix, and the report of a search of the mended program.

use std::path::{PathBuf, absolute};

use lint::{Applicability, Fix};
use patch::Rewrite;
use report::fit::{FitCause, FitReport, FitVerdict, Mend, MendEdit};
/// A file with lint's fix made in it.
pub(super) struct Fixed {
    pub(super) path: PathBuf,
    pub(super) text: String,
    edits: Vec<MendEdit>,
    is_safe: bool,
}

impl Fixed {
    /// Makes a fix in the text of a file; `None` if the file would not parse after it.
    pub(super) fn make((path, before, fix): (PathBuf, String, Fix)) -> Option<Fixed> {
        let mut rewrite = Rewrite::new(&before);
        rewrite.make(fix.edits.iter().map(|edit| (edit.span.start..edit.span.end, edit.text.as_str()))).ok()?;
        let is_safe = fix.applicability == Applicability::Safe;
        let text = rewrite.text().to_owned();
        let (mut written, mut at, mut edits) = (0, 0, Vec::new());
        for edit in fix.edits {
            let span = edit.span;
            written += span.start - at;
            let mended_line = line_at(&text, written + edit.text.trim_end().len());
            let is_deleted = edit.text.is_empty() && before.get(span.start..span.end)?.contains('\n');
            let mended_line = if is_deleted { String::new() } else { mended_line };
            let line = u32::try_from(before.get(..span.start)?.matches('\n').count() + 1).ok()?;
            (written, at) = (written + edit.text.len(), span.end);
            edits.push(MendEdit { start: span.start, end: span.end, text: edit.text, line, mended_line });
        }
        Some(Fixed { path: absolute(path).ok()?, text, edits, is_safe })
    }
}

/// The line around an offset, without its indentation.
fn line_at(text: &str, offset: usize) -> String {
    let start = text.get(..offset).and_then(|head| head.rfind('\n')).map_or(0, |at| at + 1);
    text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default().trim().to_owned()
}

/// The result of the search for a mistake.
#[derive(Default)]
pub(super) struct MistakeSearch {
    /// The mistake that decides.
    pub(super) cause: Option<FitCause>,
    /// The search of the mended program.
    pub(super) mended: Option<FitReport>,
    /// The number of dry runs.
    pub(super) runs: u32,
    /// A sentence about a failure.
    pub(super) note: Option<String>,
}

impl MistakeSearch {
    /// The result of a search of the mended program. A mistake that is not known to decide is named only if the program fits after the mend.
    pub(super) fn of(cause: FitCause, is_decisive: bool, fixed: &Fixed, after: FitReport) -> MistakeSearch {
        let runs = after.runs;
        let is_enough = after.verdict == FitVerdict::Fits;
        if !(is_enough || after.verdict == FitVerdict::FitsWithPlan) {
            return MistakeSearch { cause: is_decisive.then_some(cause), runs, ..MistakeSearch::default() };
        }
        let mend = Mend { edits: fixed.edits.clone(), is_safe: fixed.is_safe, peak: after.before, is_enough };
        let file = fixed.path.display().to_string();
        let line = if cause.line > 0 { cause.line } else { fixed.edits.first().map_or(0, |edit| edit.line) };
        let cause = FitCause { file, line, mend: Some(mend), ..cause };
        MistakeSearch { cause: Some(cause), mended: Some(after), runs, note: None }
    }

    /// Adds the mistake to a report; the plans of the mended program replace those of the program with the mistake. `emit` prints the patch.
    pub(super) fn add_to(self, report: FitReport, emit: Vec<String>) -> FitReport {
        let notes = report.notes.iter().cloned().chain(self.note).collect();
        let cause = self.cause.filter(|cause| cause.mend.is_some() || !is_mended_by_plan(&report));
        let report = FitReport { cause, runs: report.runs + self.runs, notes, ..report };
        let Some(mended) = self.mended else { return report };
        let verdict = FitVerdict::FitsWithPlan;
        let interrupted = report.interrupted || mended.interrupted;
        FitReport { verdict, plans: mended.plans, next: Some(emit), interrupted, ..report }
    }
}

/// True if the first plan is the mend of a mistake.
fn is_mended_by_plan(report: &FitReport) -> bool {
    let first = report.plans.first();
    first.is_some_and(|plan| plan.changes.iter().all(|change| change.remedy == remedies::NO_GRAD_IN_EVAL))
}
