//! The arguments of `oomph lint`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use lint::Applicability;
use report::lint::Certainty;
use report::render::Format;

use super::format::{self, LintFormat};

pub(super) const EXAMPLES: &str = "\
Examples:
  oomph lint                                 all Python files and notebooks below this folder
  oomph lint train.py src/
  oomph lint --pedantic train.py             also style findings, which cost no memory today
  oomph lint --certainty possible train.py   also patterns that other code may undo
  oomph lint --prove train.py                what each fix saves, by dry runs of the program
  oomph lint --select graph-in-collection,retain-graph-in-loop src/
  oomph lint --diff train.py | git apply     the changes that --fix would make
  oomph lint --fix src/                      makes the safe fixes
  oomph lint --format gitlab src/ > gl-code-quality-report.json
  oomph lint --report lint.sarif --report lint.xml --report lint.md src/
  oomph lint --write-baseline lint.json      later, only new findings: --baseline lint.json
  git show HEAD:train.py | oomph lint --stdin-filename train.py -
  oomph lint --fix - < train.py > fixed.py
  oomph lint --lsp                           a language server, which an editor starts
  oomph rule graph-in-collection             the page of a rule

`# oomph: ignore[RULE]` on a line silences a rule there. Settings are read from `oomph.toml` or, under
[tool.oomph.lint], from `pyproject.toml`: select, ignore, pedantic, include, exclude, unsafe-fixes, baseline.
Exit status: 0 nothing was found, 1 something was, 2 oomph could not do its work.";

/// The options that name files or print: a client names the files, and standard output belongs to the protocol.
const NOT_OF_A_SERVER: [&str; 13] = [
    "paths",
    "prove",
    "fix",
    "diff",
    "exclude",
    "include",
    "no_gitignore",
    "stdin_filename",
    "watch",
    "write_baseline",
    "report",
    "json",
    "format",
];

/// The name of the command.
pub(super) const LINT: &str = "lint";

/// The word that selects every rule.
pub(crate) const ALL: &str = "ALL";

/// The levels of `--certainty`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LeastCertainty {
    /// Patterns that stand in the file
    Certain,
    /// Also patterns that show when the program is followed through its calls
    Likely,
    /// Also those that other code may undo
    Possible,
}

impl From<LeastCertainty> for Certainty {
    fn from(level: LeastCertainty) -> Certainty {
        match level {
            LeastCertainty::Certain => Certainty::Certain,
            LeastCertainty::Likely => Certainty::Likely,
            LeastCertainty::Possible => Certainty::Possible,
        }
    }
}

#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line, and any may go with any")]
#[derive(Clone, Debug, Args)]
pub(crate) struct Lint {
    /// Files and folders; `-` is standard input [default: this folder]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Apply only these rules, such as `graph-in-collection`; `ALL` applies all
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = parse_selected, help_heading = "Rules")]
    pub(crate) select: Option<Vec<String>>,

    /// Do not apply these rules
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = parse_rule, help_heading = "Rules")]
    pub(crate) ignore: Vec<String>,

    /// Also report style findings, which cost no memory today
    #[arg(long, conflicts_with = "select", help_heading = "Rules")]
    pub(crate) pedantic: bool,

    /// The least certainty of reported findings [default: likely]
    #[arg(long, value_name = "LEVEL", help_heading = "Rules")]
    pub(crate) certainty: Option<LeastCertainty>,

    /// Also report findings that a comment `# oomph: ignore` silences
    #[arg(long, help_heading = "Rules")]
    pub(crate) no_suppressions: bool,

    /// Dry-run the named files with and without each fix, print the bytes, and drop findings whose fix changes none
    #[arg(long, conflicts_with_all = ["fix", "diff", "write_baseline", "watch"], help_heading = "Proof")]
    pub(crate) prove: bool,

    /// With --prove: the Python that has PyTorch
    #[arg(long, value_name = "PATH", requires = "prove", help_heading = "Proof")]
    pub(crate) python: Option<PathBuf>,

    /// Apply safe fixes; with standard input, print the fixed source
    #[arg(long, conflicts_with_all = ["diff", "write_baseline"], help_heading = "Fixes")]
    fix: bool,

    /// Print the changes that --fix would make, as a patch
    #[arg(long, conflicts_with_all = ["json", "format", "write_baseline"], help_heading = "Fixes")]
    pub(crate) diff: bool,

    /// With --fix or --diff: also fixes that may change what the program computes
    #[arg(long, help_heading = "Fixes")]
    unsafe_fixes: bool,

    /// Leave out files and folders that match, as a line of `.gitignore` would
    #[arg(long, value_name = "PATTERN", value_delimiter = ',', help_heading = "Files")]
    pub(crate) exclude: Vec<String>,

    /// Read the files in folders that match [default: *.py, *.ipynb]
    #[arg(long, value_name = "PATTERN", value_delimiter = ',', help_heading = "Files")]
    pub(crate) include: Vec<String>,

    /// Also read files that git ignores
    #[arg(long, help_heading = "Files")]
    pub(crate) no_gitignore: bool,

    /// The name of standard input in findings
    #[arg(long, value_name = "NAME", help_heading = "Files")]
    pub(crate) stdin_filename: Option<PathBuf>,

    /// Lint again whenever a file changes, until Ctrl-C
    #[arg(long, conflicts_with_all = ["fix", "write_baseline"], help_heading = "Files")]
    pub(crate) watch: bool,

    /// Serve an editor by the Language Server Protocol, on standard input and output
    #[arg(long, conflicts_with_all = NOT_OF_A_SERVER, help_heading = "Editors")]
    pub(crate) lsp: bool,

    /// Do not report the findings in this file, which --write-baseline wrote
    #[arg(long, value_name = "FILE", help_heading = "Settings")]
    pub(crate) baseline: Option<PathBuf>,

    /// Write today's findings to this file, for --baseline
    #[arg(long, value_name = "FILE", conflicts_with = "baseline", help_heading = "Settings")]
    pub(crate) write_baseline: Option<PathBuf>,

    /// Read the settings from this file
    #[arg(long, value_name = "FILE", conflicts_with = "isolated", help_heading = "Settings")]
    pub(crate) config: Option<PathBuf>,

    /// Read no settings
    #[arg(long, help_heading = "Settings")]
    pub(crate) isolated: bool,

    /// Also write the report to FILE: JSON, Markdown if the name ends in `.md`, JUnit XML in `.xml`, SARIF in `.sarif`; may be repeated
    #[arg(long, value_name = "FILE", conflicts_with = "write_baseline", help_heading = "Output")]
    pub(crate) report: Vec<PathBuf>,

    /// Print one JSON object; short for `--format json`
    #[arg(long, conflicts_with = "format", help_heading = "Output")]
    json: bool,

    /// The format of the answer
    #[arg(long, alias = "output-format", value_name = "FORMAT", value_parser = format::lint_parser(), default_value = format::usual(), help_heading = "Output")]
    format: LintFormat,
}

/// The use of fixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FixMode {
    /// Fixes are mentioned.
    Offer,
    /// Fixes are shown as a diff.
    Show(Applicability),
    /// Fixes are written to the files.
    Write(Applicability),
}

impl FixMode {
    /// The fixes that are made, in the file or in the diff.
    pub(crate) fn allowed(self) -> Option<Applicability> {
        match self {
            FixMode::Offer => None,
            FixMode::Show(allowed) | FixMode::Write(allowed) => Some(allowed),
        }
    }
}

impl Lint {
    /// The same with `--fix`.
    pub(crate) fn with_fixes(&self) -> Lint {
        Lint { fix: true, ..self.clone() }
    }

    /// The format that was asked for.
    pub(crate) fn format(&self) -> LintFormat {
        if self.json { LintFormat::Common(Format::Json) } else { self.format }
    }

    /// The use of fixes. `allows_unsafe`: the settings allow unsafe ones.
    pub(crate) fn fix_mode(&self, allows_unsafe: bool) -> FixMode {
        let allowed = if self.unsafe_fixes || allows_unsafe { Applicability::Unsafe } else { Applicability::Safe };
        match (self.fix, self.diff) {
            (true, _) => FixMode::Write(allowed),
            (_, true) => FixMode::Show(allowed),
            _ => FixMode::Offer,
        }
    }
}

fn parse_selected(text: &str) -> Result<String, String> {
    if text.trim() == ALL { Ok(ALL.to_owned()) } else { parse_rule(text) }
}

/// Parses the name of a rule.
pub(crate) fn parse_rule(text: &str) -> Result<String, String> {
    let text = text.trim();
    if lint::rules().iter().any(|rule| rule.id.0 == text) {
        return Ok(text.to_owned());
    }
    let near = crate::spelling::nearest(text, lint::rules().iter().map(|rule| rule.id.0));
    let meant = near.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"));
    Err(format!("there is no rule `{text}`{meant}; `oomph rule` lists them"))
}
