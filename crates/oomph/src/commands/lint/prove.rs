//! `oomph lint --prove`: dry runs of a program with and without the fix of each finding. A finding whose fix changes no byte is dropped.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use diagnose::CheckCase;
use drive::Program;
use drive::cleanup::interrupt;
use drive::dry_run::record::record_to_end;
use drive::run_dir::RunDir;
use drive::words::Words;
use lint::{Finding, Fix};
use patch::Rewrite;
use report::lint::{LintProof, ProvedNeed};
use run::Conditions;
use run::rerun::Aim;

use crate::args::{Check, Command, parse_line};
use crate::environment::current_folder;
use crate::error::Error;
use crate::{gpu_choice, program};

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
    /// The finding has no fix, or the program with the fix did not run.
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

    /// Proves a finding: `before` is the need of the program as it is, `text` the text of `file`.
    pub(super) fn prove(&self, finding: &Finding, file: &Path, text: &str, before: &ProvedNeed) -> Proved {
        let Some(fix) = &finding.fix else {
            return Proved::Unknown("lint has no fix to run".to_owned());
        };
        match self.measure_fixed(fix, file, text) {
            Ok(after) if after == *before => Proved::ChangesNothing,
            Ok(after) => Proved::Changes(LintProof { before: before.clone(), after }),
            Err(error) => Proved::Unknown(format!("the program with the fix was not run: {error}")),
        }
    }

    fn measure_fixed(&self, fix: &Fix, file: &Path, text: &str) -> Result<ProvedNeed, Error> {
        let mut rewrite = Rewrite::new(text);
        let edits = fix.edits.iter().map(|edit| (edit.span.start..edit.span.end, edit.text.as_str()));
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
