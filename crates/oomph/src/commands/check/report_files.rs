//! The files that `check` writes beside its answer: `--html`, `--json-file` and `--report`.

use std::path::Path;

use diagnose::Diagnosis;
use report::CheckReport;
use report::render::terminal::Look;
use report::render::{Format, html, junit, render};

use crate::args::{Check, CheckForm, ReportKind};
use crate::effects::publish;
use crate::error::Error;

/// A file, and the form of its report.
pub(super) struct ReportFile<'a> {
    path: &'a Path,
    form: CheckForm,
}

/// Lists the files, and checks before the long work that each is writable and that no two are one file.
pub(super) fn list(arguments: &Check) -> Result<Vec<ReportFile<'_>>, Error> {
    let page = arguments.output.html.iter().map(|path| (path, CheckForm::Common(ReportKind::Page)));
    let json = arguments.json_file.iter().map(|path| (path, CheckForm::Common(ReportKind::Text(Format::Json))));
    let named = arguments.report.iter().map(|path| (path, CheckForm::of(path)));
    let all = page.chain(json).chain(named);
    let files: Vec<ReportFile<'_>> = all.map(|(path, form)| ReportFile { path, form }).collect();
    files.iter().try_for_each(|file| publish::check_writable(file.path))?;
    publish::check_apart(&files.iter().map(|file| file.path).collect::<Vec<_>>())?;
    Ok(files)
}

/// Writes the files. The run is drawn for a page alone.
pub(super) fn write(files: &[ReportFile<'_>], diagnosis: &Diagnosis, report: &CheckReport) -> Result<(), Error> {
    files.iter().try_for_each(|file| {
        let text = match file.form {
            CheckForm::Common(ReportKind::Page) => html::check(report, &diagnosis.draw()),
            CheckForm::Common(ReportKind::Text(format)) => render(report, format, Look::default())?,
            CheckForm::Junit => junit::check(report),
        };
        publish::write_whole(file.path, &text)
    })
}
