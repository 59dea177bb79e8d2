//! Records a program on the phantom, tunes it, and repeats the run under the best setting.

use std::time::Instant;

use base::{Words, interrupt};
use diagnose::halt::{find_stop, peak_on_device};
use diagnose::{ExplainInput, Gpu, InputContents, RecordedRun, TuneCase, Tuning};
use drive::Program;
use drive::dry_run::record::{Recording, record, record_to_end};
use drive::run_folder::RunDir;

use report::Change;
use report::words::words_of_stop;
use run::Conditions;
use run::rerun::Aim;
use trace::Run;

use crate::args::Tune;
use crate::effects::search_progress::SearchProgress;
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::{gpu_choice, program};

/// Records, tunes, verifies and prints.
pub(super) fn run(arguments: &Tune, words: &Words, started: Instant) -> Result<ExitStatus, Error> {
    let mut program =
        program::prepare((&arguments.gpu, &gpu_choice::choose(&arguments.gpu)?), None, &arguments.run, words)?;
    program.spec.verbose = arguments.verbose;
    interrupt::begin_examination();
    let recorded = recorded(&program)?;
    if let Some(sentence) = describe_stop(&recorded, &program) {
        return Err(Error::Stopped(sentence));
    }
    let surroundings = program::find_surroundings(&program);
    let case = TuneCase { inputs: vec![input_of(recorded)], surroundings, ..super::case(arguments)? };
    let profile = &program.profile;
    let gpu = || Gpu { name: profile.name.clone(), total: profile.total_bytes, context: profile.context_bytes };
    let case = TuneCase { device: case.device.or_else(|| Some(gpu())), ..case };
    let progress = SearchProgress::of_replays();
    let tuning = diagnose::tune(&case, &progress)?;
    drop(progress);
    let run = run_recommended(&program, &tuning)?;
    super::show(arguments, &tuning.report(run.as_ref(), started.elapsed().as_secs_f64()))
}

/// Records the program to its end: without a limit, if the program runs out.
fn recorded(program: &Program) -> Result<RecordedRun, Error> {
    let folder = RunDir::make(None)?;
    let recordings = record_to_end(program, Conditions::on_device(Vec::new()), folder.path(), Aim::Replay)?;
    Ok(recordings.unlimited.unwrap_or(recordings.limited))
}

fn input_of(recorded: RecordedRun) -> ExplainInput {
    let path = recorded.launch.command.join(" ");
    ExplainInput { path, rank: None, contents: InputContents::Run(recorded.run, Some(recorded.launch)) }
}

/// Says what was seen of a recording that the user stopped: settings are compared for whole programs.
fn describe_stop(recorded: &RecordedRun, program: &Program) -> Option<String> {
    let ended = recorded.launch.ended.as_ref()?;
    ended.user_stop()?;
    let stopped = find_stop(&recorded.run, Some(ended), None)?;
    let peak = peak_on_device(&recorded.run, program.profile.context_bytes);
    let line = stopped.location.as_ref().map_or_else(String::new, |at| format!(" ({}:{})", at.file, at.line));
    let stop = words_of_stop(&stopped, None);
    Some(format!("the recording was stopped by {stop}{line}: {peak} so far; no setting was replayed"))
}

/// Runs the program under the recommended setting, if there is one.
fn run_recommended(program: &Program, tuning: &Tuning) -> Result<Option<Run>, Error> {
    let Some(conf) = tuning.recommended_conf().filter(|_| !tuning.is_interrupted()) else {
        return Ok(None);
    };
    let settings = Change::new(remedies::ALLOCATOR_SETTINGS).with(remedies::setting::CONF, conf);
    let folder = RunDir::make(None)?;
    let conditions = Conditions::on_device(vec![settings]);
    let Recording { launch, run, .. } = match record(program, &conditions, folder.path()) {
        Err(base::Error::Interrupted) => return Ok(None),
        recorded => recorded?,
    };
    // What the setting does is known at the end of the run alone.
    Ok(launch.ended.is_none_or(|ended| ended.user_stop().is_none()).then_some(run))
}
