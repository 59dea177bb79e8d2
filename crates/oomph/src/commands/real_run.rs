//! The end of a recorded real run: for `oomph run` itself, and for `oomph explain FOLDER`.

use std::path::Path;

use base::run_dir;
use diagnose::Real;
use report::real_run::RunReport;
use report::{Change, RunPicture};
use trace::Launch;

use crate::environment::current_folder;
use crate::error::Error;
use crate::lint_links;

/// True if nobody knows the end of a run: its program goes on, or oomph was killed before the program ended.
pub(super) fn is_open(folder: &Path, launched: &Launch) -> Result<bool, Error> {
    if launched.ended.is_some() {
        return Ok(false);
    }
    Ok(!Real::of(&run_dir::read(folder)?, launched, &[], "").is_explained())
}

/// Explains the end of the run in `folder`. `changes`: the remedies that were asked for. `draws`: a page needs the picture, else it is empty.
pub(super) fn explain(
    folder: &Path,
    launched: &Launch,
    changes: &[Change],
    draws: bool,
) -> Result<(RunReport, RunPicture), Error> {
    let (recorded, here) = (run_dir::read(folder)?, current_folder());
    let end = Real::of(&recorded, launched, changes, &here);
    if !end.is_explained() {
        let picture = if draws { Real::draw(&recorded) } else { RunPicture::default() };
        return Ok((end.report(None), picture));
    }
    let next = suggest_fit(&recorded, launched);
    let case = Real::make_case(recorded, launched, &here, next);
    let diagnosis = diagnose::check(&case);
    let links = lint_links::find(diagnosis.findings(), &here, None);
    let picture = if draws { diagnosis.draw() } else { RunPicture::default() };
    Ok((end.report(Some(diagnosis.report(links))), picture))
}

/// The command that searches for the smallest change with which the program fits this GPU.
fn suggest_fit(recorded: &trace::Run, launched: &Launch) -> Option<Vec<String>> {
    let (name, total) = Real::gpu(recorded)?;
    let profile = gpus::find(name).ok()?;
    let memory = (profile.total_bytes != total).then(|| ["--vram".to_owned(), gpus::write_size(total)]);
    let command = ["oomph", "fit", "--gpu", &profile.name].map(str::to_owned).into_iter();
    Some(command.chain(memory.into_iter().flatten()).chain(["--".to_owned()]).chain(launched.command.clone()).collect())
}
