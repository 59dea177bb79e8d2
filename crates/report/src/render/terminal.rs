//! The report for people: at most 80 columns, readable without colour and in a log file.

mod against;
mod brief;
mod check;
mod explain;
mod fit;
mod lint;
mod now;
mod page;
mod real_run;
mod sections;
mod sweep;
mod tune;

use anstyle::{AnsiColor, Style};

use self::page::Page;
use super::{Rendered, Renderer};
use crate::against::AgainstReport;
use crate::check::CheckReport;
use crate::explain::ExplainReport;
use crate::fit::FitReport;
use crate::lint::LintReport;
use crate::now::NowReport;
use crate::real_run::RunReport;
use crate::sweep::SweepReport;
use crate::top::{TopReport, write_text};
use crate::tune::TuneReport;

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

/// The amount of detail in a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Some fifteen lines, for the commands that have such a form.
    Brief,
    /// Everything.
    #[default]
    Full,
}

/// The look of a report.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// The decorations.
    pub styles: Styles,
    /// The bars.
    pub bars: Bars,
    /// The detail.
    pub detail: Detail,
    /// The words before each sentence that stands behind the output of a program; empty for an answer.
    pub prefix: &'static str,
    /// The width of a machine's table, in columns; `None` for 120. Text is 80 columns wide at most.
    pub columns: Option<usize>,
}

/// The width of a machine's table where no terminal states one.
const TABLE_COLUMNS: usize = 120;

/// The format for people: the whole report.
pub(super) struct Terminal(pub(super) Look);

impl Renderer for Terminal {
    fn against(&self, report: &AgainstReport) -> Rendered {
        let mut page = Page::new(self.0, &report.folder);
        against::write(&mut page, report, self.0.detail);
        Ok(page.into_text())
    }

    fn check(&self, report: &CheckReport) -> Rendered {
        let mut page = Page::new(self.0, &report.folder);
        match self.0.detail {
            Detail::Brief => brief::write(&mut page, report),
            Detail::Full => check::write(&mut page, report),
        }
        Ok(page.into_text())
    }

    fn explain(&self, report: &ExplainReport) -> Rendered {
        let mut page = Page::new(self.0, &report.folder);
        explain::write(&mut page, report, self.0.detail);
        Ok(page.into_text())
    }

    fn fit(&self, report: &FitReport) -> Rendered {
        let mut page = Page::new(self.0, &report.folder);
        fit::write(&mut page, report, self.0.detail);
        Ok(page.into_text())
    }

    fn lint(&self, report: &LintReport) -> Rendered {
        Ok(lint::write(report, &self.0))
    }

    fn now(&self, report: &NowReport) -> Rendered {
        let mut page = Page::new(self.0, &report.folder);
        now::write(&mut page, report);
        Ok(page.into_text())
    }

    fn run(&self, report: &RunReport) -> Rendered {
        let mut page = Page::new(self.0, &report.folder);
        real_run::write(&mut page, report, self.0);
        Ok(page.into_text())
    }

    fn sweep(&self, report: &SweepReport) -> Rendered {
        let mut page = Page::new(self.0, "");
        sweep::write(&mut page, report);
        Ok(page.into_text())
    }

    fn top(&self, report: &TopReport) -> Rendered {
        Ok(write_text(report, self.0.columns.unwrap_or(TABLE_COLUMNS)))
    }

    fn tune(&self, report: &TuneReport) -> Rendered {
        let mut page = Page::new(self.0, &report.folder);
        tune::write(&mut page, report);
        Ok(page.into_text())
    }
}

/// The first line of `fit`'s report.
pub fn fit_headline(report: &FitReport) -> String {
    super::clean(&super::fit::headline(report)).into_owned()
}
