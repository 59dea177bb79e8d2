//! The files that configure `lint`, as data: the settings and the baseline. The binary reads and writes them.

use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The content of `oomph.toml`, and of `[tool.oomph]` in `pyproject.toml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OomphToml {
    /// The settings of `oomph lint`.
    #[serde(default)]
    pub lint: Option<LintTable>,
}

/// The settings of `oomph lint`. The command line comes before them.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct LintTable {
    /// The only rules to apply; `ALL` stands for every rule.
    pub select: Option<Vec<String>>,
    /// The rules to leave out.
    pub ignore: Vec<String>,
    /// Set to apply every rule, rules of style included, unless `select` names rules.
    pub pedantic: bool,
    /// The patterns of files to lint, as in `.gitignore`; without patterns, Python files and notebooks.
    pub include: Vec<String>,
    /// The patterns of files and folders to leave out, as in `.gitignore`.
    pub exclude: Vec<String>,
    /// Set to let `--fix` make the fixes that may change the program's results, too.
    pub unsafe_fixes: bool,
    /// The baseline whose findings are hidden, relative to the folder of the settings.
    pub baseline: Option<PathBuf>,
}

/// The content of a baseline: the findings that are known.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BaselineJson {
    /// The version of the format: 1.
    pub version: u32,
    /// The known findings.
    pub findings: Vec<KnownFinding>,
}

/// A known finding, recognised by file, rule and line.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct KnownFinding {
    /// The file, relative to the folder of the baseline if the file lies below it.
    pub file: String,
    /// The name of the rule.
    pub rule: String,
    /// The text of the finding's first line, without the blanks around it.
    pub line: String,
    /// The number of such findings.
    pub count: usize,
}

/// `pyproject.toml`. Tables of other tools are ignored.
#[derive(Deserialize)]
struct Project {
    tool: Option<Tool>,
}

#[derive(Deserialize)]
struct Tool {
    oomph: Option<OomphToml>,
}

/// Reads the settings from the text of `oomph.toml`, or of a `pyproject.toml` (`is_project`); `None` if a project has no table for oomph. The
/// error is the problem, with its line.
pub fn parse_settings(text: &str, is_project: bool) -> Result<Option<LintTable>, String> {
    Ok(if is_project {
        parse::<Project>(text)?.tool.and_then(|tool| tool.oomph).map(|own| own.lint.unwrap_or_default())
    } else {
        Some(parse::<OomphToml>(text)?.lint.unwrap_or_default())
    })
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| text.get(..span.start).unwrap_or_default().matches('\n').count() + 1);
        let line = line.map_or_else(String::new, |line| format!("line {line}: "));
        format!("{line}{}", error.message())
    })
}
