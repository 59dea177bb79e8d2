//! The mend of a mistake, made in a copy that the program reads in place of its file, and the search for a plan after it.

use std::fs;
use std::path::{PathBuf, absolute};

use drive::run_dir::RunDir;
use lint::{Applicability, Fix};
use patch::Rewrite;
use report::fit::{FitCause, FitReport, FitVerdict, Mend, MendEdit};
use trace::Bytes;

use super::cause::FoundMistake;
use super::search::{Overlay, SearchTask};
use crate::error::Error;

/// A file with lint's fix made in it.
pub(super) struct Fixed {
    path: PathBuf,
    text: String,
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

/// Runs the program with its mistake mended, and searches for sizes where it does not fit yet. A mistake that is not known to decide is
/// named only if its mend lowers the need.
pub(super) fn search_mended(
    task: &SearchTask,
    need: Bytes,
    (cause, is_decisive): (FitCause, bool),
    fixed: &Fixed,
) -> FoundMistake {
    let after = match search_copy(task, need, fixed) {
        Ok(after) => after,
        Err(error) => {
            let found = FoundMistake::unknown("the program with its mistake mended was not run", &error, 0);
            return FoundMistake { cause: is_decisive.then_some(cause), ..found };
        }
    };
    let runs = after.runs;
    let is_enough = after.verdict == FitVerdict::Fits;
    if !(is_enough || after.verdict == FitVerdict::FitsWithPlan) {
        return FoundMistake { cause: is_decisive.then_some(cause), runs, ..FoundMistake::default() };
    }
    let mend = Mend { edits: fixed.edits.clone(), is_safe: fixed.is_safe, peak: after.before, is_enough };
    let file = fixed.path.display().to_string();
    let line = if cause.line > 0 { cause.line } else { fixed.edits.first().map_or(0, |edit| edit.line) };
    let cause = FitCause { file, line, mend: Some(mend), ..cause };
    FoundMistake { cause: Some(cause), mended: Some(after), runs, note: None }
}

/// Searches while the program reads the mended copy.
fn search_copy(task: &SearchTask, need: Bytes, fixed: &Fixed) -> Result<FitReport, Error> {
    let folder = RunDir::make(None)?;
    let name = fixed.path.file_name().unwrap_or_default();
    let copy = folder.path().join(name);
    fs::write(&copy, &fixed.text).map_err(|source| Error::Unwritable { path: copy.clone(), source })?;
    let overlay = Overlay::from([(fixed.path.clone(), copy)]);
    task.of_mended(overlay, need).search().map(|(report, _)| report)
}
