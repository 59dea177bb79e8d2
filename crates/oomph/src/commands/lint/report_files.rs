//! The files of `lint --report`, and the formats of a report as text.

use std::path::PathBuf;

use report::lint::LintReport;
use report::render::terminal::Look;
use report::render::{Rendered, gitlab, junit, render, sarif};

use crate::args::{Lint, LintFormat};
use crate::effects::publish;
use crate::error::Error;

/// Checks before the work that each file is writable and that no two are one file.
pub(super) fn check(arguments: &Lint) -> Result<(), Error> {
    arguments.report.iter().try_for_each(|path| publish::check_writable(path))?;
    publish::check_apart(&arguments.report.iter().map(PathBuf::as_path).collect::<Vec<_>>())
}

/// Writes each file in the format of its name.
pub(super) fn write(arguments: &Lint, report: &LintReport) -> Result<(), Error> {
    arguments
        .report
        .iter()
        .try_for_each(|path| publish::write_whole(path, &render_as(report, LintFormat::of_file(path))?))
}

/// Writes the report in a format that is not for a terminal.
pub(super) fn render_as(report: &LintReport, format: LintFormat) -> Rendered {
    match format {
        LintFormat::Common(common) => render(report, common, Look::default()),
        LintFormat::Gitlab => gitlab::lint(report),
        LintFormat::Junit => Ok(junit::lint(report)),
        LintFormat::Sarif => sarif::lint(report),
    }
}
