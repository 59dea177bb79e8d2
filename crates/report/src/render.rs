//! The renderers: one file per format. Each turns a report into text and prints nothing.
//!
//! A format is a file with a [`Renderer`], and its line in [`Format`] and in `Format::renderer`: commands and arguments read both from here.

mod against;
pub mod agent;
mod answer;
mod blame;
mod concise;
mod conditions;
mod figures;
mod fit;
mod github;
pub mod gitlab;
pub mod html;
pub mod json;
pub mod junit;
mod layout;
mod lint;
mod markdown;
mod now;
pub mod phrases;
mod real_run;
mod report;
pub mod resources;
pub mod sarif;
mod sites;
mod size_search;
mod stages;
mod sweep;
pub mod terminal;
mod tune;
mod verdict;
mod words;

pub use crate::sanitize::clean;
pub use crate::words::grouped;
pub use fit::{exactness, named};
pub use real_run::words_of_failure;
pub use report::Report;
pub use stages::describe_shortage;

use crate::against::AgainstReport;
use crate::check::CheckReport;
use crate::explain::ExplainReport;
use crate::fit::FitReport;
use crate::lint::LintReport;
use crate::now::NowReport;
use crate::real_run::RunReport;
use crate::sweep::SweepReport;
use crate::top::TopReport;
use crate::tune::TuneReport;
use terminal::Look;

/// A report as text. Only the formats of JSON can fail, where a number has no form.
pub type Rendered = Result<String, serde_json::Error>;

/// A format in which every report can be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people.
    #[default]
    Terminal,
    /// For logs, chats and editors.
    Concise,
    /// For GitHub's pull requests.
    Github,
    /// For pull requests, issues and summaries of jobs.
    Markdown,
    /// For programs.
    Json,
    /// For coding agents.
    Agent,
}

impl Format {
    /// All formats, in the order of the help pages.
    pub const ALL: [Format; 6] =
        [Format::Terminal, Format::Concise, Format::Github, Format::Markdown, Format::Json, Format::Agent];

    /// The name on the command line, and a summary for the help page.
    pub const fn describe(self) -> (&'static str, &'static str) {
        match self {
            Format::Terminal => ("terminal", "For people: at most 80 columns"),
            Format::Concise => ("concise", "One line per finding"),
            Format::Github => ("github", "Annotations in the log of a GitHub workflow"),
            Format::Markdown => ("markdown", "A heading and a list, for a pull request or a job's summary"),
            Format::Json => ("json", "One JSON object"),
            Format::Agent => (
                "agent",
                "A compact JSON object for coding agents: the answer, its cause, the changes, the next command",
            ),
        }
    }

    /// `look` matters to the format for people alone.
    fn renderer(self, look: Look) -> Box<dyn Renderer> {
        match self {
            Format::Terminal => Box::new(terminal::Terminal(look)),
            Format::Concise => Box::new(concise::Concise),
            Format::Github => Box::new(github::Github),
            Format::Markdown => Box::new(markdown::Markdown),
            Format::Json => Box::new(json::Json),
            Format::Agent => Box::new(agent::Agent),
        }
    }
}

/// A format: how it writes the report of each command.
pub trait Renderer {
    /// Writes the report of `oomph explain` about two recorded runs.
    fn against(&self, report: &AgainstReport) -> Rendered;
    /// Writes the report of `oomph check`.
    fn check(&self, report: &CheckReport) -> Rendered;
    /// Writes the report of `oomph explain`.
    fn explain(&self, report: &ExplainReport) -> Rendered;
    /// Writes the report of `oomph fit`.
    fn fit(&self, report: &FitReport) -> Rendered;
    /// Writes the report of `oomph lint`.
    fn lint(&self, report: &LintReport) -> Rendered;
    /// Writes the report of `oomph explain` about a running program.
    fn now(&self, report: &NowReport) -> Rendered;
    /// Writes the report of `oomph run`, and of `oomph explain` about a real run.
    fn run(&self, report: &RunReport) -> Rendered;
    /// Writes the report of `oomph sweep`.
    fn sweep(&self, report: &SweepReport) -> Rendered;
    /// Writes the report of `oomph top`.
    fn top(&self, report: &TopReport) -> Rendered;
    /// Writes the report of `oomph tune`.
    fn tune(&self, report: &TuneReport) -> Rendered;
}

/// Writes a report in a format. `look` is that of the terminal.
pub fn render(report: &dyn Report, format: Format, look: Look) -> Rendered {
    report.render_with(&*format.renderer(look))
}
