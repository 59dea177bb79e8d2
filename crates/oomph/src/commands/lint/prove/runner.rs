//! Dry runs of a program with and without the fix of a finding.
//!
//! # Note [Reach]
//! A fix changes nothing, too, where the dry run never reaches the mended statement: evaluation behind an option, a branch for resumed runs. A
//! third run with an allocation larger than any GPU before the statement tells: if the need stays as it was, the statement did not run.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use base::{Words, interrupt};
use diagnose::CheckCase;
use drive::Program;
use drive::dry_run::record::record_to_end;
use drive::run_folder::RunDir;
use lint::{Edit, Finding, Fix, SourceFile, TextSpan};
use patch::Rewrite;
use report::lint::{LintProof, ProvedNeed};
use run::Conditions;
use run::rerun::Aim;

use crate::args::{Check, Command, parse_line};
use crate::environment::current_folder;
use crate::error::Error;
use crate::{gpu_choice, program};

/// A statement that no program survives without a change of its need: it allocates 1 PiB of GPU memory.
const PROBE: &str = r#"__import__("torch").empty(1 << 50, dtype=__import__("torch").uint8, device="cuda")"#;

/// A program that is dry-run to prove findings.
pub(super) struct ProofRunner {
    arguments: Box<Check>,
    program: Program,
}

/// What the dry runs say of a finding.
pub(super) enum Proved {
    /// The fix changes the need.
    Changes(LintProof),
    /// The fix changes no byte.
    ChangesNothing,
    /// The finding has no fix, the program with the fix did not run, or the dry run does not reach the line.
    Unknown(String),
}

impl ProofRunner {
    /// Prepares the dry runs of a script, as `oomph check SCRIPT` would.
    pub(super) fn new(script: &Path, python: Option<&Path>) -> Result<ProofRunner, Error> {
        let mut line: Vec<OsString> = vec!["oomph".into(), "check".into()];
        if let Some(python) = python {
            line.extend([OsString::from("--python"), python.into()]);
        }
        line.push(script.into());
        let Ok((Command::Check(arguments), after_dashes)) = parse_line(&line) else {
            return Err(Error::Stopped(format!("`{}` cannot be the name of a program", script.display())));
        };
        let choice = gpu_choice::choose(&arguments.gpu)?;
        let words = Words::new(arguments.program.clone(), after_dashes);
        let mut program = program::prepare((&arguments.gpu, &choice), None, &arguments.run, &words)?;
        program.spec.options.stop_at = program.spec.options.stop_at.with_life();
        program.is_quiet = true;
        Ok(ProofRunner { arguments: Box::new(arguments), program })
    }

    /// Measures the need of the program as it is.
    pub(super) fn measure(&self) -> Result<ProvedNeed, Error> {
        self.run(Conditions::on_device(self.arguments.changes.clone()))
    }

    /// Proves a finding: `before` is the need of the program as it is, `source` the text of `file`.
    pub(super) fn prove(&self, finding: &Finding, file: &Path, source: &SourceFile, before: &ProvedNeed) -> Proved {
        let Some(fix) = &finding.fix else {
            return Proved::Unknown("lint has no fix to run".to_owned());
        };
        match self.measure_changed(&fix.edits, file, source.text()) {
            Ok(after) if after == *before => self.explain_no_change(finding, fix, (file, source), before),
            Ok(after) => Proved::Changes(LintProof { before: before.clone(), after }),
            Err(error) => Proved::Unknown(format!("the program with the fix was not run: {error}")),
        }
    }

    /// Tells a fix that changes nothing from a statement that the dry run does not reach: Note [Reach].
    fn explain_no_change(
        &self,
        finding: &Finding,
        fix: &Fix,
        (file, source): (&Path, &SourceFile),
        before: &ProvedNeed,
    ) -> Proved {
        let line = fix.edits.first().and_then(|edit| source.statement_line(edit.span.start));
        let Some((start, indentation)) = line else {
            return Proved::Unknown("the fix changes no byte, and the line may not have run".to_owned());
        };
        let probe = Edit { span: TextSpan { start, end: start }, text: format!("{indentation}{PROBE}\n") };
        match self.measure_changed(&[probe], file, source.text()) {
            Ok(after) if after == *before => Proved::Unknown("the dry run does not reach the line".to_owned()),
            Err(error) if interrupt::has_come() => {
                Proved::Unknown(format!("the program with the fix was not run: {error}"))
            }
            _ if finding.may_spare_gpu_memory() => Proved::Unknown(
                "its fix changes no byte of GPU memory: it saves host memory, time or an error".to_owned(),
            ),
            _ => Proved::ChangesNothing,
        }
    }

    /// Measures the need of the program with a changed file.
    fn measure_changed(&self, edits: &[Edit], file: &Path, text: &str) -> Result<ProvedNeed, Error> {
        let mut rewrite = Rewrite::new(text);
        let edits = edits.iter().map(|edit| (edit.span.start..edit.span.end, edit.text.as_str()));
        rewrite.make(edits).map_err(Error::Stopped)?;
        let folder = RunDir::make(None)?;
        let copy = folder.path().join(file.file_name().unwrap_or_default());
        fs::write(&copy, rewrite.text()).map_err(|source| Error::Unwritable { path: copy.clone(), source })?;
        let mut conditions = Conditions::on_device(self.arguments.changes.clone());
        conditions.overlay.insert(file.to_owned(), copy);
        self.run(conditions)
    }

    fn run(&self, conditions: Conditions) -> Result<ProvedNeed, Error> {
        if interrupt::has_come() {
            return Err(Error::Stopped("stopped".to_owned()));
        }
        let folder = RunDir::make(None)?;
        let aim = Aim::Verdict { may_change_share: false };
        let runs = record_to_end(&self.program, conditions, folder.path(), aim)?;
        let case = CheckCase {
            runs,
            gpu_assumed: true,
            assumptions: Vec::new(),
            hint: None,
            next: None,
            larger: None,
            folder: current_folder(),
            surroundings: program::find_surroundings(&self.program),
            seconds: 0.0,
        };
        let diagnosis = diagnose::check(&case);
        let links = diagnosis.findings().iter().map(|_| None).collect();
        let report = diagnosis.report(links);
        Ok(ProvedNeed {
            peak_allocated_bytes: report.need.usage.allocated_bytes,
            growth_bytes: report.growth.map(|growth| growth.bytes_per_iteration),
        })
    }
}
