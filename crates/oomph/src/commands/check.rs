//! `oomph check`: runs the program on a phantom GPU and reports whether it fits.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use diagnose::launchers::find_last_line;
use diagnose::{CheckCase, Diagnosis, Outcome, RecordedRun, Runs};
use drive::Program;
use drive::cleanup::interrupt;
use drive::dry_run::failure;
use drive::dry_run::record::record_to_end;
use drive::environment::describe_hidden_gpus;
use drive::run_dir::{self, RunDir};
use drive::words::Words;
use report::render::terminal::Detail;
use report::render::{Format, html, render};
use report::{CheckReport, Remark, Verdict};
use run::rerun::{LimitSigns, RunFacts, needs_unlimited_run};
use run::{AssumedShare, Conditions};

use crate::args::{Check, OutputOptions};
use crate::effects::{publish, run_progress};
use crate::environment::current_folder;
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::gpu_choice::{self, GpuChoice};
use crate::{lint_links, output, program};

/// The most steps after the third, for a program of short steps: a bound on the size of the recording.
const MORE_STEPS: u32 = 20_000;

/// The longest run that is repeated with another share of selected elements.
const LONGEST_REPEATED: Duration = Duration::from_mins(2);

/// Runs the check and prints its report. `after_dashes`: the program was written after a `--`.
pub(crate) fn run(arguments: &Check, after_dashes: bool) -> Result<ExitStatus, Error> {
    let started = Instant::now();
    for path in arguments.output.html.iter().chain(&arguments.json_file) {
        publish::check_writable(path)?;
    }
    let outputs = [&arguments.output.html, &arguments.json_file];
    publish::check_apart(&outputs.into_iter().flatten().map(PathBuf::as_path).collect::<Vec<_>>())?;
    let words = Words::new(arguments.program.clone(), after_dashes);
    let choice = gpu_choice::choose(&arguments.gpu)?;
    let program = prepare(arguments, &choice, &words)?;
    interrupt::begin_examination();
    let folder = RunDir::make(arguments.save.as_deref())?;
    let conditions = Conditions::on_device(arguments.changes.clone());
    let facts = |runs: &Runs| facts(runs, arguments.run.has_default_fraction());
    let runs = record_to_end(&program, conditions, folder.path(), facts)?;
    let hint = failure::find_hint(&runs.counted().run).or_else(|| last_words(folder.path()));
    let case = CheckCase {
        runs,
        gpu_assumed: choice.is_assumed,
        assumptions: gpu_choice::list_assumptions(&program.profile).collect(),
        hint,
        next: suggest_fit(arguments, &words),
        folder: current_folder(),
        seconds: started.elapsed().as_secs_f64(),
    };
    let diagnosis = diagnose::check(&case);
    let links = lint_links::find(diagnosis.findings(), &case.folder, words.script());
    let mut report = diagnosis.report(links);
    report.notes.extend(describe_hidden_gpus().map(Remark::caveat));
    report.effects = program.outside.effects();
    report.notes.extend(program::describe_effects(&program.outside));
    let detail = if arguments.verbose { Detail::Full } else { Detail::Brief };
    run_progress::clear();
    write_page(&arguments.output, &diagnosis, &report)?;
    if let Some(path) = &arguments.json_file {
        publish::write_whole(path, &render(&report, Format::Json, output::look(detail))?)?;
    }
    output::show(&report, arguments.output.format.chosen(), detail)?;
    Ok(status(&report.verdict, arguments.strict))
}

/// Draws the run and writes the page, if a page was asked for.
fn write_page(options: &OutputOptions, diagnosis: &Diagnosis, report: &CheckReport) -> Result<(), Error> {
    let Some(path) = &options.html else { return Ok(()) };
    publish::write_whole(path, &html::check(report, &diagnosis.draw()))
}

/// Returns the program's last printed line, such as the message of `sys.exit`.
fn last_words(folder: &Path) -> Option<String> {
    let output = run_dir::output_tail(folder);
    let last = find_last_line(&output)?;
    Some(format!("the last line that it printed: {last}"))
}

/// Returns the command that searches for the smallest change with which the program fits; `None` for a single rank,
/// which `fit` does not run.
fn suggest_fit(arguments: &Check, words: &Words) -> Option<Vec<String>> {
    let (gpu, run) = (&arguments.gpu, &arguments.run);
    arguments.job.job().ok().filter(Option::is_none)?;
    let python = run.python.as_ref().map(|python| python.to_string_lossy().into_owned());
    let options = [
        ("--gpu", gpu.gpu.clone()),
        ("--vram", gpu.vram.map(gpus::write_size)),
        ("--others", arguments.others.others.map(gpus::write_size)),
        ("--gpus", (gpu.gpus > 1).then(|| gpu.gpus.to_string())),
        ("--steps", (!run.has_default_steps()).then(|| run.steps().to_string())),
        ("--python", python.filter(|_| words.script().is_some())),
    ];
    let options = options.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value?]));
    let command = ["oomph", "fit"].map(str::to_owned).into_iter();
    Some(command.chain(options.flatten()).chain(words.to_list()).collect())
}

/// The facts of the runs so far. A run without a limit does not show the final size of a program that searches for a size.
fn facts(runs: &Runs, may_change_share: bool) -> RunFacts {
    let recording = runs.counted();
    let is_search = matches!(Outcome::of(&recording.run), Outcome::Searched(_));
    RunFacts {
        needs_unlimited_run: needs_unlimited_run(&LimitSigns::of(&recording.run)) && !is_search,
        has_side_streams: recording.run.has_side_streams(),
        part: diagnose::part_of_shared(&recording.launch, &recording.run),
        other_share: other_share(recording).filter(|_| may_change_share && runs.other_share.is_none()),
    }
}

/// The other end of the share: all elements if the program fits with the assumed share, else one element. `None` if no size depends on values,
/// or the run takes long.
fn other_share(recording: &RecordedRun) -> Option<AssumedShare> {
    let is_assumed = recording.run.processes.iter().any(|process| !process.value_shapes.is_empty());
    let is_short = recording.launch.ended.as_ref().is_some_and(|it| it.seconds < LONGEST_REPEATED.as_secs_f64());
    let ran_out = Outcome::of(&recording.run).ran_out();
    (is_assumed && is_short).then_some(if ran_out { AssumedShare::Least } else { AssumedShare::All })
}

fn prepare(arguments: &Check, choice: &GpuChoice, words: &Words) -> Result<Program, Error> {
    let run = &arguments.run;
    let mut program = program::prepare((&arguments.gpu, choice), Some(&arguments.job), run, words)?;
    program.set_others(arguments.others.others.unwrap_or_default())?;
    program.spec.verbose = arguments.verbose;
    if run.has_default_steps() {
        program.spec.stop_at = program.spec.stop_at.with_more(MORE_STEPS);
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
