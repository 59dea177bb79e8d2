//! `oomph tune`: replays recorded programs under many settings of the allocator, and recommends one.

mod record;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Instant;

use base::{interrupt, run_dir};
use diagnose::{Gpu, Surroundings, TuneCase};
use drive::run_folder;
use report::render::Format;
use report::render::terminal::Detail;
use report::tune::TuneReport;

use crate::args::{Tune, help_of};
use crate::effects::search_progress::SearchProgress;
use crate::environment::current_folder;
use crate::error::{Error, InputError};
use crate::exit::ExitStatus;
use crate::{artifacts, gpu_choice, output};

/// Records a program or reads recordings, searches, and prints.
pub(crate) fn run(arguments: &Tune) -> Result<ExitStatus, Error> {
    let started = Instant::now();
    if let Some(program) = arguments.program_words() {
        return record::run(arguments, &program, started);
    }
    if arguments.files.is_empty() && std::io::stdin().is_terminal() {
        if arguments.format.chosen() == Format::Json {
            return Err(Error::from(InputError::NothingNamed));
        }
        output::help(&mut help_of("tune"));
        return Ok(ExitStatus::Failed);
    }
    let inputs = artifacts::read(&recordings(&arguments.files))?;
    let case = TuneCase { inputs, ..case(arguments)? };
    interrupt::begin_examination();
    let progress = SearchProgress::of_replays();
    let tuning = diagnose::tune(&case, &progress)?;
    drop(progress);
    show(arguments, &tuning.report(None, started.elapsed().as_secs_f64()))
}

/// Returns the input that recorded files and programs share.
fn case(arguments: &Tune) -> Result<TuneCase, Error> {
    Ok(TuneCase {
        inputs: Vec::new(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        folder: current_folder(),
        device: device(arguments)?,
        torch: arguments.torch,
        empty_cache_at: arguments.empty_cache_at.clone(),
        surroundings: Surroundings::default(),
    })
}

/// Returns the named device. There is no default: a snapshot rarely comes from this machine's GPU.
fn device(arguments: &Tune) -> Result<Option<Gpu>, Error> {
    match (&arguments.gpu.gpu, arguments.gpu.vram) {
        (None, None) => Ok(None),
        (None, Some(total)) => Ok(Some(Gpu { name: "a device".to_owned(), total, context: trace::Bytes::ZERO })),
        (Some(_), _) => {
            let profile = gpu_choice::choose(&arguments.gpu)?.profile;
            Ok(Some(Gpu { name: profile.name, total: profile.total_bytes, context: profile.context_bytes }))
        }
    }
}

/// Replaces the folder of a run that ran out by the folder of the run without a limit, which has the whole program.
fn recordings(files: &[PathBuf]) -> Vec<PathBuf> {
    files.iter().map(|file| whole_run(file).unwrap_or_else(|| file.clone())).collect()
}

fn whole_run(folder: &Path) -> Option<PathBuf> {
    let second = folder.join(run_folder::UNLIMITED);
    (run_dir::is_run(folder) && run_dir::is_run(&second)).then_some(second)
}

fn show(arguments: &Tune, report: &TuneReport) -> Result<ExitStatus, Error> {
    output::show(report, arguments.format.chosen(), Detail::Full)?;
    Ok(if report.findings.is_empty() { ExitStatus::Fits } else { ExitStatus::Found })
}
