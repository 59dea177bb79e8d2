//! The report for people: at most 80 columns, readable without colour and in a log file.

mod check;
mod explain;
mod fit;
mod lint;
mod page;
mod sections;
mod tune;

use anstyle::{AnsiColor, Style};

use crate::check::CheckReport;
use crate::explain::ExplainReport;
use crate::fit::FitReport;
use crate::lint::LintReport;
use crate::tune::TuneReport;
use page::Page;

/// The decorations; the words alone say the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct Styles {
    good: Style,
    bad: Style,
    unsure: Style,
    heading: Style,
    faint: Style,
}

impl Styles {
    /// No decoration at all.
    pub fn plain() -> Styles {
        Styles::default()
    }

    /// Green, red and yellow for verdicts, bold headings.
    pub fn colored() -> Styles {
        let color = |color: AnsiColor| color.on_default().bold();
        Styles {
            good: color(AnsiColor::Green),
            bad: color(AnsiColor::Red),
            unsure: color(AnsiColor::Yellow),
            heading: Style::new().bold(),
            faint: Style::new().dimmed(),
        }
    }
}

/// The characters of bars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bars {
    /// `####`, for terminals and logs of unknown encoding.
    #[default]
    Ascii,
    /// `████▌`, in steps of an eighth.
    Unicode,
}

/// The look of a report.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// The decorations.
    pub styles: Styles,
    /// The bars.
    pub bars: Bars,
}

/// The whole report of `check`.
pub fn check(report: &CheckReport, look: &Look) -> String {
    let mut page = Page::new(*look, &report.folder);
    check::write(&mut page, report);
    page.into_text()
}

/// The whole report of `explain`.
pub fn explain(report: &ExplainReport, look: &Look) -> String {
    let mut page = Page::new(*look, &report.folder);
    explain::write(&mut page, report);
    page.into_text()
}

/// The whole report of `fit`.
pub fn fit(report: &FitReport, look: &Look) -> String {
    let mut page = Page::new(*look, &report.folder);
    fit::write(&mut page, report);
    page.into_text()
}

/// The first line of `fit`'s report.
pub fn fit_headline(report: &FitReport) -> String {
    super::clean(&super::fit::headline(report)).into_owned()
}

/// The whole report of `lint`.
pub fn lint(report: &LintReport, look: &Look) -> String {
    lint::write(report, look)
}

/// The whole report of `tune`.
pub fn tune(report: &TuneReport, look: &Look) -> String {
    let mut page = Page::new(*look, &report.folder);
    tune::write(&mut page, report);
    page.into_text()
}
