//! The answer of `explain`, whatever its input was.

use diagnose::{ExplainCase, ExplainInput};
use report::Report;
use report::explain::{ExplainReport, ExplainVerdict};
use report::render::html;
use report::render::terminal::Detail;

use crate::args::Explain;
use crate::effects::publish;
use crate::environment::current_folder;
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::{lint_links, output};

/// Writes the page that was asked for, and prints the report.
pub(super) fn deliver(report: &dyn Report, page: impl FnOnce() -> String, arguments: &Explain) -> Result<(), Error> {
    if let Some(path) = &arguments.output.html {
        publish::write_whole(path, &page())?;
    }
    let detail = if arguments.verbose { Detail::Full } else { Detail::Brief };
    output::show(report, arguments.output.format.chosen(), detail)
}

/// Explains the inputs of one crash. `facts`: those of Slurm about the job.
pub(super) fn explain_inputs(
    inputs: Vec<ExplainInput>,
    facts: Option<String>,
    arguments: &Explain,
) -> Result<ExitStatus, Error> {
    let case = ExplainCase { inputs, version: env!("CARGO_PKG_VERSION").to_owned(), folder: current_folder() };
    let explanation = diagnose::explain(&case);
    let links = lint_links::find(explanation.findings(), &case.folder, None);
    let report = ExplainReport { job: facts, ..explanation.report(links) };
    deliver(&report, || html::explain(&report), arguments)?;
    Ok(status(report.verdict()))
}

/// Texts without an error and without a table are not what `explain` reads.
fn status(verdict: ExplainVerdict) -> ExitStatus {
    match verdict {
        ExplainVerdict::Oom | ExplainVerdict::Found => ExitStatus::Found,
        ExplainVerdict::Clean => ExitStatus::Fits,
        ExplainVerdict::NothingToExplain => ExitStatus::Failed,
    }
}
