//! `oomph fit`: the smallest change that makes a program fit. `diagnose` chooses the runs, and `trial_runner` performs
//! them.

mod apply;
mod cause;
mod input;
mod kept;
mod mend;
mod runner;
mod search;

use std::time::Instant;

use base::{Words, interrupt};
use report::fit::{FitReport, FitVerdict};
use report::render::terminal::{self, Detail};

use crate::args::{Emit, Fit};
use crate::effects::search_progress::SearchProgress;
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::{gpu_choice, output, program};

/// Searches and prints. `after_dashes`: the program was written after a `--`.
pub(crate) fn run(arguments: &Fit, after_dashes: bool) -> Result<ExitStatus, Error> {
    let started = Instant::now();
    let words = Words::new(arguments.program.clone(), after_dashes);
    let choice = gpu_choice::choose(&arguments.gpu)?;
    let mut program = program::prepare((&arguments.gpu, &choice), None, &arguments.run, &words)?;
    program.set_others(arguments.others.others.unwrap_or_default())?;
    program.is_quiet = true;
    if arguments.run.steps.is_none() && arguments.largest().is_none() {
        // A plan is judged by the stage that decides.
        program.spec.options.stop_at = program.spec.options.stop_at.with_life();
    }
    if let Some(report) = asks_for_plan(arguments).then(|| kept::find(arguments, &program)).flatten() {
        return show(arguments, &report);
    }
    interrupt::begin_examination();
    let progress = SearchProgress::of_runs();
    let report = search::run(arguments, &program, &progress, started)?;
    drop(progress);
    show(arguments, &report)
}

/// True if the command is about the plan of a search that may be kept.
fn asks_for_plan(arguments: &Fit) -> bool {
    (arguments.emit.is_some() || arguments.apply) && !arguments.no_cache
}

fn show(arguments: &Fit, report: &FitReport) -> Result<ExitStatus, Error> {
    if arguments.emit.is_some() || arguments.apply {
        output::say(&terminal::fit_headline(report));
        report.kept_seconds.into_iter().for_each(kept::say_age);
    }
    match arguments.emit {
        Some(Emit::Diff) => apply::emit_diff(report, arguments)?,
        Some(Emit::Command) => apply::emit_command(report, &input::command(arguments))?,
        None if arguments.apply => apply::apply(report, arguments)?,
        None => return show_report(arguments, report),
    }
    Ok(status(report))
}

fn show_report(arguments: &Fit, report: &FitReport) -> Result<ExitStatus, Error> {
    let detail = if arguments.verbose { Detail::Full } else { Detail::Brief };
    output::show(report, arguments.format.chosen(), detail)?;
    Ok(status(report))
}

fn status(report: &FitReport) -> ExitStatus {
    let is_mended = report.cause.is_some();
    let fits = match &report.max_batch {
        Some(most) => most.size > 0 || report.verdict == FitVerdict::Fits,
        None => is_mended || report.verdict != FitVerdict::DoesNotFit,
    };
    if fits { ExitStatus::Fits } else { ExitStatus::Found }
}
