//! `oomph check`: runs the program on a phantom GPU and reports whether it fits.

mod report_files;

use std::path::Path;
use std::time::Instant;

use base::{Words, interrupt, run_dir};
use diagnose::CheckCase;
use diagnose::launchers::find_last_line;
use drive::Program;
use drive::dry_run::failure;
use drive::dry_run::record::record_to_end;
use drive::run_folder::RunDir;
use report::Verdict;
use report::render::terminal::Detail;
use run::Conditions;
use run::rerun::Aim;

use crate::args::Check;
use crate::effects::run_progress;
use crate::environment::current_folder;
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::gpu_choice::{self, GpuChoice};
use crate::{forecast, lint_links, output, program};

/// Runs the check and prints its report. `after_dashes`: the program was written after a `--`.
pub(crate) fn run(arguments: &Check, after_dashes: bool) -> Result<ExitStatus, Error> {
    let started = Instant::now();
    let files = report_files::list(arguments)?;
    let words = Words::new(arguments.program.clone(), after_dashes);
    let choice = gpu_choice::choose(&arguments.gpu)?;
    let program = prepare(arguments, &choice, &words)?;
    interrupt::begin_examination();
    let folder = RunDir::make(arguments.save.as_deref())?;
    let conditions = Conditions::on_device(arguments.changes.clone());
    let aim = Aim::Verdict { may_change_share: arguments.run.fraction.is_none() };
    let runs = record_to_end(&program, conditions, folder.path(), aim)?;
    let hint = failure::find_hint(&runs.counted().run).or_else(|| last_words(folder.path()));
    let case = CheckCase {
        runs,
        gpu_assumed: choice.is_assumed,
        assumptions: gpu_choice::list_assumptions(&program.profile).collect(),
        hint,
        next: suggest_fit(arguments, &words, None),
        larger: suggest_fit(arguments, &words, Some("--max-batch")),
        folder: current_folder(),
        surroundings: program::find_surroundings(&program),
        seconds: started.elapsed().as_secs_f64(),
    };
    let diagnosis = diagnose::check(&case);
    let links = lint_links::find(diagnosis.findings(), &case.folder, words.script());
    let report = diagnosis.report(links);
    let detail = if arguments.verbose { Detail::Full } else { Detail::Brief };
    run_progress::clear();
    report_files::write(&files, &diagnosis, &report)?;
    output::show(&report, arguments.output.format.chosen(), detail)?;
    forecast::keep(&report, &program.spec.command, &arguments.changes, words.script());
    Ok(status(&report.verdict, arguments.strict))
}

/// Returns the program's last printed line, such as the message of `sys.exit`.
fn last_words(folder: &Path) -> Option<String> {
    let output = run_dir::output_tail(folder);
    let last = find_last_line(&output)?;
    Some(format!("the last line that it printed: {last}"))
}

/// Returns the command that searches for the smallest change with which the program fits, or with `wanted` for another answer; `None` for a
/// single rank, which `fit` does not run.
fn suggest_fit(arguments: &Check, words: &Words, wanted: Option<&str>) -> Option<Vec<String>> {
    let (gpu, run) = (&arguments.gpu, &arguments.run);
    arguments.job.job().ok().filter(Option::is_none)?;
    let python = run.python.as_ref().map(|python| python.to_string_lossy().into_owned());
    let options = [
        ("--gpu", gpu.gpu.clone()),
        ("--vram", gpu.vram.map(gpus::write_size)),
        ("--others", arguments.others.others.map(gpus::write_size)),
        ("--gpus", (gpu.gpus > 1).then(|| gpu.gpus.to_string())),
        ("--steps", run.steps.map(|steps| steps.to_string())),
        ("--python", python.filter(|_| words.script().is_some())),
    ];
    let options = options.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value?]));
    let command = ["oomph", "fit"].into_iter().chain(wanted).map(str::to_owned);
    Some(command.chain(options.flatten()).chain(words.to_list()).collect())
}

fn prepare(arguments: &Check, choice: &GpuChoice, words: &Words) -> Result<Program, Error> {
    let run = &arguments.run;
    let mut program = program::prepare((&arguments.gpu, choice), Some(&arguments.job), run, words)?;
    program.set_others(arguments.others.others.unwrap_or_default())?;
    program.spec.verbose = arguments.verbose;
    if run.steps.is_none() {
        let options = &mut program.spec.options;
        let is_whole = options.job.is_none();
        options.stop_at = if is_whole { options.stop_at.with_life() } else { options.stop_at.with_more() };
    }
    Ok(program)
}

fn status(verdict: &Verdict, is_strict: bool) -> ExitStatus {
    match verdict {
        Verdict::FitsSoFar { .. } if is_strict => ExitStatus::Found,
        Verdict::Fits { .. } | Verdict::FitsSoFar { .. } => ExitStatus::Fits,
        Verdict::Oom { .. } => ExitStatus::Found,
        Verdict::Incomplete { .. } => ExitStatus::Failed,
    }
}
