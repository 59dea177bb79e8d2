//! `oomph explain`: reads the files of a crash and explains why memory ran out.

use std::io::IsTerminal;

use diagnose::ExplainCase;
use report::Severity;
use report::explain::{ExplainReport, InputKind};
use report::render::html;
use report::render::terminal::Detail;

use crate::args::{Explain, help_of};
use crate::effects::publish;
use crate::environment::current_folder;
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::{artifacts, lint_links, output};

/// Reads, explains and prints.
pub(crate) fn run(arguments: &Explain) -> Result<ExitStatus, Error> {
    if arguments.files.is_empty() && std::io::stdin().is_terminal() {
        output::help(&mut help_of("explain"));
        return Ok(ExitStatus::Failed);
    }
    let case = ExplainCase {
        inputs: artifacts::read(&arguments.files)?,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        folder: current_folder(),
    };
    let explanation = diagnose::explain(&case);
    let links = lint_links::find(explanation.findings(), &case.folder, None);
    let report = explanation.report(links);
    if let Some(path) = &arguments.output.html {
        publish::write_whole(path, &html::explain(&report))?;
    }
    let detail = if arguments.verbose { Detail::Full } else { Detail::Brief };
    output::show(&report, arguments.output.format.chosen(), detail)?;
    Ok(status(&report))
}

/// An out-of-memory error, or a finding above `info`, counts as found. Texts without an error and without a table are not what `explain` reads.
fn status(report: &ExplainReport) -> ExitStatus {
    if is_about_nothing(report) {
        return ExitStatus::Failed;
    }
    let ran_out = !report.ooms.is_empty() || report.devices.iter().any(|device| device.oom.is_some());
    let is_wrong = report.findings.iter().any(|finding| finding.severity != Severity::Info);
    if ran_out || is_wrong { ExitStatus::Found } else { ExitStatus::Fits }
}

fn is_about_nothing(report: &ExplainReport) -> bool {
    let has_tables = !report.counters.is_empty() || !report.cards.is_empty();
    let has_answer = !report.ooms.is_empty() || !report.findings.is_empty();
    report.inputs.iter().all(|input| input.kind == InputKind::Text) && !has_tables && !has_answer
}
