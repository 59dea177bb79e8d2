//! `oomph lint --prove`: keeps a finding whose fix changes the need of the program, by dry runs.

mod runner;

use base::interrupt;
use report::lint::{LintFinding, LintReport};
use report::words::count;

use self::runner::{ProofRunner, Proved};
use super::files::{File, Text};
use super::{Plan, is_in};
use crate::args::Lint;
use crate::error::Error;

/// Proves the findings in named files by dry runs, and drops those whose fix changes nothing.
pub(super) fn prove_findings(arguments: &Lint, files: &[File], plan: &Plan, report: &mut LintReport) {
    let with_findings = files.iter().filter(|file| report.findings.iter().any(|found| is_in(found, file)));
    let (named, others): (Vec<&File>, Vec<&File>) =
        with_findings.partition(|file| file.is_named && !file.is_standard_input);
    if let Some(first) = others.first() {
        let files = count(others.len(), "file is", "files are");
        let next = format!("name a script that runs by itself, as `oomph lint --prove {}`", first.name);
        report.notes.push(format!("{files} not dry-run as part of a folder: {next}"));
    }
    if !named.is_empty() {
        interrupt::begin_examination();
    }
    for file in named {
        if let Err(error) = prove_file(arguments, file, plan, report) {
            report.notes.push(format!("`{}` was not dry-run, so nothing is proved: {error}", file.name));
        }
    }
}

fn prove_file(arguments: &Lint, file: &File, plan: &Plan, report: &mut LintReport) -> Result<(), Error> {
    let Ok(Text { source, .. }) = file.read() else { return Ok(()) };
    let Ok(findings) = lint::check_in(&source, &plan.options, &file.path, &plan.project) else { return Ok(()) };
    let prover = ProofRunner::new(&file.path, arguments.python.as_deref())?;
    let before = prover.measure()?;
    for finding in findings {
        let reported = finding.report(&source, &file.name);
        let is_same = |it: &LintFinding| it.finding == reported.finding && it.end == reported.end;
        let Some(index) = report.findings.iter().position(is_same) else { continue };
        match prover.prove(&finding, &file.path, &source, &before) {
            Proved::Changes(proof) => report.findings[index].proof = Some(proof),
            Proved::ChangesNothing => {
                let (rule, line) = (finding.rule, finding.start.line);
                report.notes.push(format!(
                    "line {line}: {rule} is dropped: its fix changes no byte of GPU memory in the dry run"
                ));
                report.findings.remove(index);
            }
            Proved::Unknown(reason) => {
                report.notes.push(format!("line {}: {} is not proved: {reason}", finding.start.line, finding.rule));
            }
        }
    }
    Ok(())
}
