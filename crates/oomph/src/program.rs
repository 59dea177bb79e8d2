//! The program of a command line, for dry runs.

use std::ffi::OsString;
use std::path::Path;

use base::Words;
use diagnose::Surroundings;
use drive::environment::describe_hidden_gpus;
use drive::guard::outside::Network;
use drive::{Program, ProgramRequest, RunDir, record};
use report::{Remark, effects};
use run::{Conditions, Limit};

use crate::args::{GpuOptions, JobOptions, RunArguments};
use crate::error::Error;
use crate::gpu_choice::GpuChoice;

/// Prepares a program for the chosen GPU. `job` names the job of which single ranks run.
pub(crate) fn prepare(
    (gpu, choice): (&GpuOptions, &GpuChoice),
    job: Option<&JobOptions>,
    run: &RunArguments,
    words: &Words,
) -> Result<Program, Error> {
    let network = match (run.offline, run.online) {
        (true, _) => Network::None,
        (_, true) => Network::All,
        _ => Network::First,
    };
    Ok(drive::dry_run::program::prepare(ProgramRequest {
        words: words.clone(),
        python: run.python.clone(),
        profile: choice.profile.clone(),
        options: run.options(gpu.gpus, job.map_or(Ok(None), JobOptions::job)?),
        timeout: run.timeout,
        keeps_files: run.keep_files,
        network,
    })?)
}

/// The surroundings of the runs of `program` until now, for a report. Terminals leave descriptors to every program: that one was closed is
/// said with `-v`.
pub(crate) fn find_surroundings(program: &Program) -> Surroundings {
    let outside = &program.outside;
    let folder = std::env::current_dir().unwrap_or_default().display().to_string();
    let effects = outside.effects();
    let of_effects = effects.iter().flat_map(|effects| {
        let described = effects::describe(effects, outside.connects_once());
        let spared = effects::describe_spared(effects, &folder);
        let caveats = [described, spared, effects::describe_kept_values(effects), effects::describe_gaps(effects)];
        let caveats = caveats.into_iter().flatten().map(Remark::caveat);
        caveats.chain(effects::describe_closed(effects).map(Remark::note))
    });
    let remarks = describe_hidden_gpus().map(Remark::caveat).into_iter().chain(of_effects).collect();
    Surroundings { remarks, effects }
}

/// Explains why the unchanged program failed as a child of the fork server with `message`: as `check` would, after a run of its own.
pub(crate) fn explain_failure(program: &Program, message: String) -> Error {
    let check = |folder: &Path| {
        let conditions = Conditions::on_device(Vec::new()).with_limit(Limit::Unlimited);
        record(program, &conditions, folder)?.check_end()
    };
    let alone = RunDir::make(None).and_then(|folder| check(folder.path()));
    alone.err().map_or(Error::OnlyForked(message), Error::from)
}

/// The words that start a program, as a user types them: `python` before a script.
pub(crate) fn words_as_typed(words: &[OsString]) -> Vec<String> {
    let is_script = words.first().is_some_and(|word| Path::new(word).extension() == Some("py".as_ref()));
    let python = is_script.then(|| "python".to_owned());
    python.into_iter().chain(words.iter().map(|word| word.to_string_lossy().into_owned())).collect()
}
