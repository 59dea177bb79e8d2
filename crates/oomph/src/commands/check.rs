//! `oomph check`: runs the program on a phantom GPU and reports whether it fits.

use std::time::Instant;

use diagnose::Case;
use report::render::{concise, github, html, json, terminal};
use report::{CheckReport, Verdict};
use run::Conditions;

use crate::args::{Check, Format, OutputOptions};
use crate::effects::publish;
use crate::effects::record::record_to_end;
use crate::effects::run_dir::RunDir;
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::program::{self, Program};
use crate::words::Words;
use crate::{gpu_choice, lint_links, output};

/// Runs the check and prints its report. `after_dashes`: the program was written after a `--`.
pub(crate) fn run(arguments: &Check, after_dashes: bool) -> Result<ExitStatus, Error> {
    let started = Instant::now();
    if let Some(path) = &arguments.output.html {
        publish::check_writable(path)?;
    }
    let words = Words::new(arguments.program.clone(), after_dashes);
    let program = prepare(arguments, &words)?;
    let place = RunDir::make(arguments.save.as_deref())?;
    let conditions = Conditions::on_device(arguments.changes.clone());
    let recordings = record_to_end(&program, conditions, place.path(), |recording| {
        diagnose::others_of_shared(&recording.launch, &recording.run)
    })?;
    let case = Case {
        launch: recordings.limited.launch,
        limited: recordings.limited.run,
        unlimited: recordings.unlimited.map(|recording| recording.run),
        gpu_assumed: program.gpu_assumed,
        folder: std::env::current_dir().unwrap_or_default().display().to_string(),
        seconds: started.elapsed().as_secs_f64(),
    };
    let mut report = diagnose::check(&case);
    lint_links::link(&mut report.findings, &case.folder, words.script());
    report.assumptions.extend(gpu_choice::list_assumptions(&program.profile));
    show(&arguments.output, &report)
}

fn prepare(arguments: &Check, words: &Words) -> Result<Program, Error> {
    let mut program = program::prepare(&arguments.gpu, Some(&arguments.job), &arguments.run, words)?;
    program.spec.verbose = arguments.verbose;
    Ok(program)
}

fn show(options: &OutputOptions, report: &CheckReport) -> Result<ExitStatus, Error> {
    if let Some(path) = &options.html {
        publish::write_whole(path, &html::check(report))?;
    }
    output::answer(&written(options.format.chosen(), report)?)?;
    Ok(match report.verdict {
        Verdict::Fits => ExitStatus::Fits,
        Verdict::Oom => ExitStatus::Found,
        Verdict::Incomplete { .. } => ExitStatus::Failed,
    })
}

fn written(format: Format, report: &CheckReport) -> Result<String, Error> {
    Ok(match format {
        Format::Terminal => terminal::check(report, &output::look()),
        Format::Concise => concise::check(report),
        Format::Github => github::check(report),
        Format::Json => json::check(report)?,
    })
}
