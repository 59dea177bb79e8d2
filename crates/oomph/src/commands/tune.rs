//! `oomph tune`: replays recorded programs under many settings of the allocator, and says which suits them.

mod arguments;
mod record;
mod watching;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Instant;

use diagnose::{Gpu, TuneCase, TuneError};
use report::render::{concise, github, json, terminal};
use report::tune::TuneReport;

pub(crate) use self::arguments::{EXAMPLES, Tune};
use self::watching::Watching;
use crate::args::{Arguments, Format};
use crate::error::Error;
use crate::{ExitStatus, artifacts, card, interrupt, output, rundir};

/// Records where a program was given, searches, and prints.
pub(crate) fn run(arguments: &Tune) -> Result<ExitStatus, Error> {
    let started = Instant::now();
    if let Some(program) = arguments.program() {
        return record::run(arguments, &program, started);
    }
    if arguments.files.is_empty() && std::io::stdin().is_terminal() {
        output::help(&mut Arguments::help_of("tune"));
        return Ok(ExitStatus::Failed);
    }
    end_at_interrupt()?;
    let inputs = artifacts::read(&recordings(&arguments.files))?;
    let case = TuneCase { inputs, ..case(arguments)? };
    let watching = Watching::start();
    let mut report = diagnose::tune(&case, &watching)?;
    drop(watching);
    report.seconds = started.elapsed().as_secs_f64();
    show(arguments, &report)
}

/// Until the search begins, and after it, Ctrl-C ends the process where it is: reading waits for whoever writes.
fn end_at_interrupt() -> Result<(), Error> {
    ctrlc::set_handler(|| {
        if !interrupt::note() {
            interrupt::end();
        }
    })?;
    Ok(())
}

/// What is the same for recorded files and programs.
fn case(arguments: &Tune) -> Result<TuneCase, Error> {
    Ok(TuneCase {
        inputs: Vec::new(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        folder: std::env::current_dir().unwrap_or_default().display().to_string(),
        device: device(arguments)?,
        torch: arguments.torch,
        empty_cache_at: arguments.empty_cache_at.clone(),
    })
}

/// The device that was named. Nobody's snapshot is of this machine's, so nothing is assumed where none was.
fn device(arguments: &Tune) -> Result<Option<Gpu>, Error> {
    match (&arguments.card.gpu, arguments.card.vram) {
        (None, None) => Ok(None),
        (None, Some(total)) => Ok(Some(Gpu { name: "a device".to_owned(), total, context: trace::Bytes::ZERO })),
        (Some(_), _) => {
            let profile = card::choose(&arguments.card)?.profile;
            Ok(Some(Gpu { name: profile.name, total: profile.total_bytes, context: profile.context_bytes }))
        }
    }
}

/// A run that ran out was made a second time without a limit: that one has the whole program.
fn recordings(files: &[PathBuf]) -> Vec<PathBuf> {
    files.iter().map(|file| whole_run(file).unwrap_or_else(|| file.clone())).collect()
}

fn whole_run(folder: &Path) -> Option<PathBuf> {
    let second = folder.join(rundir::UNLIMITED);
    (rundir::is_run(folder) && rundir::is_run(&second)).then_some(second)
}

fn show(arguments: &Tune, report: &TuneReport) -> Result<ExitStatus, Error> {
    let text = match arguments.printed.format() {
        Format::Terminal => terminal::tune(report, &output::look()),
        Format::Concise => concise::tune(report),
        Format::Github => github::tune(report),
        Format::Json => json::tune(report)?,
    };
    output::answer(&text)?;
    Ok(if report.findings.is_empty() { ExitStatus::Fits } else { ExitStatus::Found })
}

/// What to do next, where there was nothing to tune.
pub(crate) fn hints(error: &TuneError) -> Vec<String> {
    let hint = match error {
        TuneError::Text(_) | TuneError::NoHistory(_) => {
            "record one: torch.cuda.memory._record_memory_history() before the first tensor on the GPU, \
             torch.cuda.memory._dump_snapshot(FILE) at the end; or `oomph tune -- python train.py`, which does both"
        }
        TuneError::NotReplayable { .. } => {
            "was the history recorded by one process, and is the file as PyTorch wrote it?"
        }
        TuneError::NoSuchEvent { .. } => "events are counted from 0, as in the snapshot's device_traces",
        TuneError::NoSteps => "name events instead: --empty-cache-at 100,200",
        TuneError::Interrupted => return Vec::new(),
    };
    vec![hint.to_owned()]
}
