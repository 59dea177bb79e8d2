//! The program of a command line, for dry runs.

use drive::guard::outside::{Network, Outside};
use drive::{Program, ProgramRequest, Words};
use report::effects;
use run::StopAt;

use crate::args::{GpuOptions, JobOptions, RunOptions};
use crate::error::Error;
use crate::gpu_choice::GpuChoice;

/// Prepares a program for the chosen GPU. `job` names the job of which single ranks run.
pub(crate) fn prepare(
    (gpu, choice): (&GpuOptions, &GpuChoice),
    job: Option<&JobOptions>,
    run: &RunOptions,
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
        devices: gpu.gpus,
        job: job.map_or(Ok(None), JobOptions::job)?,
        stop_at: StopAt::step(run.steps()),
        fraction: run.fraction(),
        fakes_data: run.fake_data,
        timeout: run.timeout,
        keeps_files: run.keep_files,
        network,
    })?)
}

/// Sentences on the effects of the first run.
pub(crate) fn describe_effects(outside: &Outside) -> impl Iterator<Item = String> {
    let effects = outside.effects();
    let sentences = effects.iter().flat_map(|effects| {
        let described = effects::describe(effects, outside.connects_once());
        [described, effects::describe_closed(effects), effects::describe_gaps(effects)]
    });
    sentences.flatten().collect::<Vec<_>>().into_iter()
}
