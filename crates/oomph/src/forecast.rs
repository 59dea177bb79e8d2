//! What `check` keeps for `run`, and the warning of `run` before the program starts: Note [Forecasts] in `crates/run/src/forecast.rs`.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use drive::environment::first_visible_gpu;
use drive::forecasts;
use drive::machine::Monitor;
use report::render::describe_shortage;
use report::{Change, CheckReport, Location};
use run::{Forecast, forecast_key};
use trace::Bytes;

use crate::environment::current_folder;
use crate::output;

/// Keeps the stages of a report for a real run of `command`. A forecast that cannot be written is a remark. Made-up data tells nothing of a real run.
pub(crate) fn keep(report: &CheckReport, command: &[OsString], changes: &[Change], script: Option<&Path>) {
    if report.life.stages.is_empty() || !report.made_up_data.is_empty() {
        return;
    }
    let folder = PathBuf::from(current_folder());
    let key = forecast_key(&folder, command, changes);
    let forecast = Forecast {
        format: Forecast::FORMAT,
        available_bytes: report.gpu.usable_bytes + report.gpu.context_bytes,
        sources: list_sources(report, script, &folder),
        stages: report.life.stages.clone(),
    };
    if let Err(error) = forecasts::keep(&key, &forecast) {
        output::say(&format!("warning: `oomph run` will not know of this check: {error}"));
    }
}

/// The script and the files of the stages, with the hash of each.
fn list_sources(report: &CheckReport, script: Option<&Path>, folder: &Path) -> Vec<(PathBuf, String)> {
    let stages = report.life.stages.iter();
    let places = stages.flat_map(|stage| [&stage.location, &stage.only_there_location, &stage.begins_at]);
    let named = places.flatten().map(|Location { file, .. }| folder.join(file));
    let files: BTreeSet<PathBuf> = named.chain(script.map(|script| folder.join(script))).collect();
    files.into_iter().filter_map(|file| Some((file.clone(), forecasts::digest(&file)?))).collect()
}

/// Warns if the last check of `command` counted more than the GPU has free.
pub(crate) fn warn(command: &[OsString], changes: &[Change]) {
    let folder = current_folder();
    let Some(forecast) = forecasts::find(&forecast_key(Path::new(&folder), command, changes)) else { return };
    let Some(free) = read_free() else { return };
    if let Some(found) = forecast.find_shortage(free) {
        output::say(&format!("oomph: {}", describe_shortage(found.stage, found.need, free, &folder)));
    }
}

/// The free memory of the program's first GPU; `None` where no driver states it, or no GPU is known to be the first.
fn read_free() -> Option<Bytes> {
    let view = Monitor::open().ok()?.read().ok()?;
    let first = first_visible_gpu();
    let gpu = view.gpus.gpus.into_iter().find(|gpu| gpu.index.to_string() == first || gpu.uuid == first)?;
    Some(gpu.total? - gpu.used?)
}
