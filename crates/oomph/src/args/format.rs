//! The formats of answers, as arguments.

use std::ffi::OsStr;
use std::path::Path;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use report::render::Format;
use report::render::resources::RequestFormat;

const GITLAB: &str = "gitlab";
const JUNIT: &str = "junit";
const SARIF: &str = "sarif";
/// Ruff's name for the terminal format.
const FULL: &str = "full";

/// A format of the answers of `lint`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LintFormat {
    /// A format that every command has.
    Common(Format),
    /// A code quality report of GitLab.
    Gitlab,
    /// JUnit XML.
    Junit,
    /// SARIF 2.1.0.
    Sarif,
}

impl LintFormat {
    /// The format of a file, by the ending of its name.
    pub(crate) fn of_file(path: &Path) -> LintFormat {
        let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        match ending.to_ascii_lowercase().as_str() {
            "md" => LintFormat::Common(Format::Markdown),
            "sarif" => LintFormat::Sarif,
            "xml" => LintFormat::Junit,
            _ => LintFormat::Common(Format::Json),
        }
    }
}

/// A format of the answers of `sweep`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SweepFormat {
    /// A format that every command has.
    Common(Format),
    /// A request for resources.
    Request(RequestFormat),
}

/// Reads the name of a format of `sweep`.
pub(super) fn sweep_parser() -> impl TypedValueParser<Value = SweepFormat> {
    let requests = RequestFormat::ALL.map(|format| {
        let (name, summary) = format.describe();
        PossibleValue::new(name).help(summary)
    });
    PossibleValuesParser::new(Format::ALL.map(possible).into_iter().chain(requests)).map(|name| {
        let request = RequestFormat::ALL.into_iter().find(|format| format.describe().0 == name);
        request.map_or_else(|| SweepFormat::Common(named(&name).unwrap_or_default()), SweepFormat::Request)
    })
}

/// Reads the name of a format that every command has.
pub(super) fn parser() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(possible)).map(|name| named(&name).unwrap_or_default())
}

/// Reads the name of a format of `lint`.
pub(super) fn lint_parser() -> impl TypedValueParser<Value = LintFormat> {
    let own = [
        PossibleValue::new(GITLAB).help("A code quality report for GitLab's merge requests"),
        PossibleValue::new(JUNIT).help("JUnit XML, for CI systems: a failed test for each finding"),
        PossibleValue::new(SARIF).help("SARIF 2.1.0, for code hosts and editors"),
    ];
    let common = Format::ALL.map(|format| match format {
        Format::Terminal => possible(format).alias(FULL),
        format => possible(format),
    });
    PossibleValuesParser::new(common.into_iter().chain(own)).map(|name| match name.as_str() {
        GITLAB => LintFormat::Gitlab,
        JUNIT => LintFormat::Junit,
        SARIF => LintFormat::Sarif,
        name => LintFormat::Common(named(name).unwrap_or_default()),
    })
}

/// The name of the format for the reader of the output.
pub(super) fn usual() -> &'static str {
    let usual = if crate::audience::is_agent() { Format::Agent } else { Format::Terminal };
    usual.describe().0
}

fn possible(format: Format) -> PossibleValue {
    let (name, summary) = format.describe();
    PossibleValue::new(name).help(summary)
}

/// The format of a name; `None` for [`FULL`].
pub(super) fn named(name: &str) -> Option<Format> {
    Format::ALL.into_iter().find(|format| format.describe().0 == name)
}
