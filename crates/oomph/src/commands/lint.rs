//! `oomph lint`: memory mistakes, from the source alone.

mod arguments;
mod baseline;
mod files;
mod mend;
mod settings;
mod watch;

use std::path::Path;

use lint::{Finding, Options, SourceFile};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use report::lint::{LintFinding, LintReport, LintRule, UnreadableFile};
use report::render::terminal::Look;
use report::render::{concise, github, json, sarif, terminal};

pub(crate) use self::arguments::{EXAMPLES, Lint};
use self::arguments::{LintFormat, Mends};
use self::baseline::Baseline;
use self::files::{File, Files, Text};
use self::mend::{Mended, mend};
use self::settings::Settings;
use crate::commands::rule::lint_page;
use crate::error::Error;
use crate::{ExitStatus, interrupt, output, publish};

/// What is done with every file.
struct Plan {
    options: Options,
    mends: Mends,
    baseline: Option<Baseline>,
    folder: String,
}

/// What came of a file.
#[derive(Default)]
struct Outcome {
    findings: Vec<LintFinding>,
    unreadable: Option<UnreadableFile>,
    mending: Option<Mending>,
    notes: Vec<String>,
}

/// A file as it becomes.
struct Mending {
    rewrite: patch::Rewrite,
    /// Its byte order mark.
    mark: &'static str,
    fixed: usize,
    /// What is found then.
    left: Vec<LintFinding>,
}

/// Lints what was named, prints, and with `--watch` does it again whenever a file changes.
pub(crate) fn run(arguments: &Lint) -> Result<ExitStatus, Error> {
    interrupt::ends_the_process()?;
    let folder = std::env::current_dir().unwrap_or_default();
    let settings = Settings::find(arguments, &folder)?;
    let look = || files::find(arguments, &settings, &folder);
    if arguments.watch {
        watch::run(look, |found| round(arguments, &settings, &folder, found));
    }
    round(arguments, &settings, &folder, &look()?)
}

/// Lints everything once.
fn round(arguments: &Lint, settings: &Settings, folder: &Path, found: &Files) -> Result<ExitStatus, Error> {
    let files = &found.files;
    if let Some(path) = &arguments.write_baseline {
        baseline::may_write(path)?;
    }
    let plan = Plan {
        options: settings.options(arguments),
        mends: settings.mends(arguments),
        baseline: settings.baseline_to_use(arguments).map(Baseline::read).transpose()?,
        folder: folder.display().to_string(),
    };
    let mut outcomes: Vec<Outcome> = files.par_iter().map(|file| lint_file(file, &plan)).collect();
    let Output { text, fixed, are_unwritten } = output_of(files, &mut outcomes, &plan);
    let mut report = gathered(files, outcomes, &plan);
    report.fixed = fixed;
    report.notes.extend(found.notes.iter().cloned());
    let is_incomplete = are_unwritten || files.iter().any(|file| file.is_named && is_unreadable(&report, file));
    if let Some(path) = &arguments.write_baseline {
        return write_baseline(path, &report, is_incomplete);
    }
    show(arguments, &report, text.as_deref())?;
    Ok(status(&report, is_incomplete))
}

/// Writes what was found as a baseline, and says what could not be looked at.
fn write_baseline(path: &Path, report: &LintReport, is_incomplete: bool) -> Result<ExitStatus, Error> {
    let count = baseline::write(path, &report.findings)?;
    for file in &report.unreadable {
        output::say(&format!("`{}` was left out: {}", file.file, file.reason));
    }
    let words = if count == 1 { "finding is" } else { "findings are" };
    output::say(&format!("{count} {words} in the baseline `{}` now", path.display()));
    Ok(if is_incomplete { ExitStatus::Failed } else { ExitStatus::Fits })
}

/// Reads, lints and mends one file. What is wrong with it is part of the outcome.
fn lint_file(file: &File, plan: &Plan) -> Outcome {
    let Text { source, mark } = match file.read() {
        Ok(text) => text,
        Err(reason) => return Outcome::unreadable(file, reason),
    };
    let found = match lint::check(&source, &plan.options) {
        Ok(found) => found,
        Err(error) => return Outcome::unreadable(file, error.to_string()),
    };
    let outcome = Outcome { findings: reported(file, &source, &found), ..Outcome::default() };
    match plan.mends.allowed() {
        Some(_) if source.is_notebook() => Outcome { notes: notebook_note(file, &found), ..outcome },
        Some(allowed) => {
            let spared = |source: &SourceFile, found: &[Finding]| plan.spared(&reported(file, source, found));
            outcome.with(file, mark, mend(&source, &plan.options, allowed, &spared))
        }
        None => outcome,
    }
}

/// Findings as others read them.
fn reported(file: &File, source: &SourceFile, found: &[Finding]) -> Vec<LintFinding> {
    found.iter().map(|finding| finding.report(source, &file.name)).collect()
}

impl Plan {
    /// What the baseline hides is not mended.
    fn spared(&self, findings: &[LintFinding]) -> Vec<bool> {
        self.baseline.as_ref().map_or_else(|| vec![false; findings.len()], |baseline| baseline.knows(findings))
    }
}

/// What `--fix` does not do.
fn notebook_note(file: &File, found: &[Finding]) -> Vec<String> {
    let count = found.iter().filter(|finding| finding.fix.is_some()).count();
    let note = || format!("`{}` is a notebook, which --fix does not change: {count} to mend by hand", file.name);
    (count > 0).then(note).into_iter().collect()
}

impl Outcome {
    fn unreadable(file: &File, reason: String) -> Outcome {
        Outcome { unreadable: Some(UnreadableFile { file: file.name.clone(), reason }), ..Outcome::default() }
    }

    fn with(self, file: &File, mark: &'static str, mended: Mended) -> Outcome {
        let notes = mended.refused.iter().map(|why| format!("`{}`: {why}", file.name)).collect();
        let left = reported(file, &mended.source, &mended.findings);
        let mending = Mending { rewrite: mended.rewrite, mark, fixed: mended.fixed, left };
        Outcome { mending: Some(mending), notes, ..self }
    }
}

/// What comes out beside the report.
#[derive(Default)]
struct Output {
    /// The diff, or standard input as it becomes.
    text: Option<String>,
    /// How many findings were mended.
    fixed: usize,
    /// Whether a file could not be written.
    are_unwritten: bool,
}

/// Writes the mended files, or gives their diffs. A file that was written has the findings that are left; another keeps its own.
fn output_of(files: &[File], outcomes: &mut [Outcome], plan: &Plan) -> Output {
    let mut output = Output::default();
    for (file, outcome) in files.iter().zip(outcomes) {
        let Some(mending) = outcome.mending.take() else { continue };
        let whole = || format!("{}{}", mending.mark, mending.rewrite.text());
        let written = match plan.mends {
            Mends::Shown(_) => {
                let diff = mending.rewrite.diff(&file.name_in_diff(&plan.folder));
                output.text.get_or_insert_default().push_str(&diff);
                continue;
            }
            Mends::Written(_) if file.is_standard_input => {
                output.text = Some(whole());
                Ok(())
            }
            Mends::Written(_) if mending.fixed > 0 => publish::replace(&file.path, &whole()),
            Mends::Written(_) | Mends::None => Ok(()),
        };
        match written {
            Ok(()) => {
                output.fixed += mending.fixed;
                outcome.findings = mending.left;
            }
            Err(error) => {
                output.are_unwritten = true;
                outcome.notes.push(format!("{error}; it is as it was"));
            }
        }
    }
    output
}

fn gathered(files: &[File], outcomes: Vec<Outcome>, plan: &Plan) -> LintReport {
    let mut report = LintReport {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        findings: Vec::new(),
        unreadable: Vec::new(),
        files: outcomes.len(),
        hidden: 0,
        fixed: 0,
        notes: Vec::new(),
        rules: asked(&plan.options),
        folder: plan.folder.clone(),
    };
    for outcome in outcomes {
        report.findings.extend(outcome.findings);
        report.unreadable.extend(outcome.unreadable);
        report.notes.extend(outcome.notes);
    }
    if let Some(baseline) = &plan.baseline {
        baseline.hide(&mut report, files.iter().map(|file| file.name.as_str()));
    }
    report
}

fn asked(options: &Options) -> Vec<LintRule> {
    let rules = lint::rules().iter().filter(|rule| options.asks(rule));
    let described =
        |rule: &lint::Rule| LintRule { id: rule.id, summary: rule.summary, help: rule.help, page: lint_page(rule) };
    rules.map(described).collect()
}

fn is_unreadable(report: &LintReport, file: &File) -> bool {
    report.unreadable.iter().any(|it| it.file == file.name)
}

/// Prints the answer. Where that is a diff, or standard input as it becomes, the report is talk.
fn show(arguments: &Lint, report: &LintReport, text: Option<&str>) -> Result<(), Error> {
    if arguments.diff || text.is_some() {
        output::verbatim(text.unwrap_or_default())?;
        output::say(terminal::lint(report, &Look::default()).trim_end());
        return Ok(());
    }
    let text = match arguments.format() {
        LintFormat::Terminal => terminal::lint(report, &output::look()),
        LintFormat::Concise => concise::lint(report),
        LintFormat::Github => github::lint(report),
        LintFormat::Json => json::lint(report)?,
        LintFormat::Sarif => sarif::lint(report)?,
    };
    output::answer(&text)
}

/// A file that was named and cannot be read, or written, is work not done; one that cannot be read in a folder is said, and no more.
fn status(report: &LintReport, is_incomplete: bool) -> ExitStatus {
    match () {
        () if is_incomplete => ExitStatus::Failed,
        () if !report.findings.is_empty() => ExitStatus::Found,
        () => ExitStatus::Fits,
    }
}
