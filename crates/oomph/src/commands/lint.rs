//! `oomph lint`: memory mistakes, from the source alone.

mod baseline;
mod files;
mod lsp;
mod mend;
mod project;
#[cfg(target_os = "linux")]
mod prove;
mod report_files;
mod settings;
mod watch;

use std::path::Path;

use lint::{Baseline, Finding, Options, SourceFile};
use rayon::ThreadPoolBuilder;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use report::lint::{LintFinding, LintReport, LintRule, UnreadableFile};
use report::render::terminal::{Detail, Look};
use report::render::{Format, render};
use report::words::count;

use self::files::{File, Files, Text};
use self::mend::{Again, Mended, mend};
use self::project::DiskProject;
use self::settings::LintSettings;
use crate::args::{FixMode, Lint, LintFormat};
use crate::commands::rule::lint_page;
use crate::effects::publish;
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::output;
use crate::system::spell_path;

/// The size of the stack of a thread that lints; pages that are not used take no memory.
const STACK_BYTES: usize = 16 << 20;

/// The treatment of every file.
struct Plan {
    options: Options,
    fix_mode: FixMode,
    baseline: Option<Baseline<'static>>,
    folder: String,
    project: DiskProject,
}

/// The result of a file.
#[derive(Default)]
struct LintedFile {
    findings: Vec<LintFinding>,
    unreadable: Option<UnreadableFile>,
    mending: Option<Mending>,
    notes: Vec<String>,
}

/// A file with its fixes.
struct Mending {
    rewrite: patch::Rewrite,
    /// The byte order mark.
    mark: &'static str,
    fixed: usize,
    /// The findings after the fixes.
    left: Vec<LintFinding>,
}

/// Lints the files and prints; with `--watch`, again whenever a file changes.
pub(crate) fn run(arguments: &Lint) -> Result<ExitStatus, Error> {
    if arguments.lsp {
        return lsp::run(arguments);
    }
    if arguments.prove {
        super::linux::require_linux("lint --prove")?;
    }
    report_files::check(arguments)?;
    let folder = std::env::current_dir().unwrap_or_default();
    let settings = LintSettings::find(arguments, &folder)?;
    let look = || files::find(arguments, &settings, &folder);
    if arguments.watch {
        watch::run(look, |found| round(arguments, &settings, &folder, found));
    }
    round(arguments, &settings, &folder, &look()?)
}

/// Lints everything once.
fn round(arguments: &Lint, settings: &LintSettings, folder: &Path, found: &Files) -> Result<ExitStatus, Error> {
    let files = &found.files;
    if let Some(path) = &arguments.write_baseline {
        baseline::check_replaceable(path)?;
    }
    let plan = Plan {
        options: settings.options(arguments),
        fix_mode: settings.fix_mode(arguments),
        baseline: settings.baseline_to_use(arguments).map(baseline::read).transpose()?,
        folder: spell_path(folder),
        project: DiskProject::of(&files.iter().map(|file| &*file.path).collect::<Vec<_>>()),
    };
    let mut linted_files = lint_all(files, &plan);
    let Output { text, fixed, are_unwritten } = output_of(files, &mut linted_files, &plan);
    let mut report = gather(files, linted_files, &plan);
    report.fixed = fixed;
    if arguments.prove {
        #[cfg(target_os = "linux")]
        prove::prove_findings(arguments, files, &plan, &mut report);
    }
    report.notes.extend(found.notes.iter().cloned());
    let is_incomplete = are_unwritten || files.iter().any(|file| file.is_named && is_unreadable(&report, file));
    if let Some(path) = &arguments.write_baseline {
        return write_baseline(path, &report, is_incomplete);
    }
    report_files::write(arguments, &report)?;
    show(arguments, &report, text.as_deref())?;
    Ok(status(&report, is_incomplete))
}

fn is_in(found: &LintFinding, file: &File) -> bool {
    found.finding.location.as_ref().is_some_and(|location| location.file == file.name)
}

/// Writes the findings as a baseline, and warns of unreadable files.
fn write_baseline(path: &Path, report: &LintReport, is_incomplete: bool) -> Result<ExitStatus, Error> {
    let number = baseline::write(path, &report.findings)?;
    for file in &report.unreadable {
        output::say(&format!("`{}` was left out: {}", file.file, file.reason));
    }
    let findings = count(number, "finding is", "findings are");
    output::say(&format!("{findings} in the baseline `{}` now", path.display()));
    Ok(if is_incomplete { ExitStatus::Failed } else { ExitStatus::Fits })
}

/// Lints all files on all cores. The stacks are those of a main thread: a program is followed through nested calls.
fn lint_all(files: &[File], plan: &Plan) -> Vec<LintedFile> {
    let lint = || files.par_iter().map(|file| lint_file(file, plan)).collect();
    match ThreadPoolBuilder::new().stack_size(STACK_BYTES).build() {
        Ok(pool) => pool.install(lint),
        // Without threads of its own, the command works on those that exist.
        Err(_) => lint(),
    }
}

/// Reads, lints and mends a file. Read errors are part of the result.
fn lint_file(file: &File, plan: &Plan) -> LintedFile {
    let Text { source, mark } = match file.read() {
        Ok(text) => text,
        Err(reason) => return LintedFile::unreadable(file, reason),
    };
    let found = match lint::check_in(&source, &plan.options, &file.path, &plan.project) {
        Ok(found) => found,
        Err(error) => return LintedFile::unreadable(file, error.to_string()),
    };
    let linted = LintedFile { findings: reported(file, &source, &found), ..LintedFile::default() };
    match plan.fix_mode.allowed() {
        Some(_) if source.is_notebook() => LintedFile { notes: notebook_note(file, &found), ..linted },
        Some(allowed) => {
            let spared = |source: &SourceFile, found: &[Finding]| plan.spared(&reported(file, source, found));
            linted.with(file, mark, mend(&source, found, &plan.in_project(file), allowed, &spared))
        }
        None => linted,
    }
}

/// Converts findings to the form of reports.
fn reported(file: &File, source: &SourceFile, found: &[Finding]) -> Vec<LintFinding> {
    found.iter().map(|finding| finding.report(source, &file.name)).collect()
}

impl Plan {
    /// Returns what is needed to lint a file again.
    fn in_project<'a>(&'a self, file: &'a File) -> Again<'a> {
        Again { options: &self.options, path: &file.path, project: &self.project }
    }

    /// Marks the findings that are not fixed because the baseline hides them.
    fn spared(&self, findings: &[LintFinding]) -> Vec<bool> {
        self.baseline.as_ref().map_or_else(|| vec![false; findings.len()], |baseline| baseline.knows(findings))
    }
}

/// Remarks that `--fix` does not change a notebook.
fn notebook_note(file: &File, found: &[Finding]) -> Vec<String> {
    let count = found.iter().filter(|finding| finding.fix.is_some()).count();
    let note = || format!("`{}` is a notebook, which --fix does not change: {count} to fix by hand", file.name);
    (count > 0).then(note).into_iter().collect()
}

impl LintedFile {
    fn unreadable(file: &File, reason: String) -> LintedFile {
        LintedFile { unreadable: Some(UnreadableFile { file: file.name.clone(), reason }), ..LintedFile::default() }
    }

    fn with(self, file: &File, mark: &'static str, mended: Mended) -> LintedFile {
        let notes = mended.refused.iter().map(|why| format!("`{}`: {why}", file.name)).collect();
        let left = reported(file, &mended.source, &mended.findings);
        let mending = Mending { rewrite: mended.rewrite, mark, fixed: mended.fixed, left };
        LintedFile { mending: Some(mending), notes, ..self }
    }
}

/// The outputs beside the report.
#[derive(Default)]
struct Output {
    /// The diff, or standard input with its fixes.
    text: Option<String>,
    /// The number of fixed findings.
    fixed: usize,
    /// True if a file could not be written.
    are_unwritten: bool,
}

/// Writes the fixed files, or returns their diffs. Written files keep only their remaining findings.
fn output_of(files: &[File], linted_files: &mut [LintedFile], plan: &Plan) -> Output {
    let mut output = Output::default();
    for (file, linted) in files.iter().zip(linted_files) {
        let Some(mending) = linted.mending.take() else { continue };
        let whole = || format!("{}{}", mending.mark, mending.rewrite.text());
        let written = match plan.fix_mode {
            FixMode::Show(_) => {
                let diff = mending.rewrite.diff(&file.name_in_diff(&plan.folder));
                output.text.get_or_insert_default().push_str(&diff);
                continue;
            }
            FixMode::Write(_) if file.is_standard_input => {
                output.text = Some(whole());
                Ok(())
            }
            FixMode::Write(_) if mending.fixed > 0 => publish::replace(&file.path, &whole()),
            FixMode::Write(_) | FixMode::Offer => Ok(()),
        };
        match written {
            Ok(()) => {
                output.fixed += mending.fixed;
                linted.findings = mending.left;
            }
            Err(error) => {
                output.are_unwritten = true;
                linted.notes.push(format!("{error}; it is as it was"));
            }
        }
    }
    output
}

fn gather(files: &[File], linted_files: Vec<LintedFile>, plan: &Plan) -> LintReport {
    let mut report = LintReport {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        findings: Vec::new(),
        unreadable: Vec::new(),
        files: linted_files.len(),
        hidden: 0,
        fixed: 0,
        notes: Vec::new(),
        rules: list_rules(&plan.options),
        folder: plan.folder.clone(),
    };
    for linted in linted_files {
        report.findings.extend(linted.findings);
        report.unreadable.extend(linted.unreadable);
        report.notes.extend(linted.notes);
    }
    if let Some(baseline) = &plan.baseline {
        baseline.hide(&mut report, files.iter().map(|file| file.name.as_str()));
    }
    report
}

fn list_rules(options: &Options) -> Vec<LintRule> {
    let rules = lint::rules().iter().filter(|rule| options.asks(rule));
    let described =
        |rule: &lint::Rule| LintRule { id: rule.id, summary: rule.summary, help: rule.help, page: lint_page(rule) };
    rules.map(described).collect()
}

fn is_unreadable(report: &LintReport, file: &File) -> bool {
    report.unreadable.iter().any(|it| it.file == file.name)
}

/// Prints the answer. Beside a diff or fixed standard input, the report goes to standard error.
fn show(arguments: &Lint, report: &LintReport, text: Option<&str>) -> Result<(), Error> {
    if arguments.diff || text.is_some() {
        output::verbatim(text.unwrap_or_default())?;
        output::say(render(report, Format::Terminal, Look::default())?.trim_end());
        return Ok(());
    }
    match arguments.format() {
        LintFormat::Common(format) => output::show(report, format, Detail::Full),
        other => output::answer(&report_files::render_as(report, other)?),
    }
}

/// A named file that cannot be read or written is a failure; an unreadable file in a folder is only reported.
fn status(report: &LintReport, is_incomplete: bool) -> ExitStatus {
    match () {
        () if is_incomplete => ExitStatus::Failed,
        () if !report.findings.is_empty() => ExitStatus::Found,
        () => ExitStatus::Fits,
    }
}
