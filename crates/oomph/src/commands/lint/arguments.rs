//! The options of `lint`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use lint::Applicability;

pub(crate) const EXAMPLES: &str = "\
Examples:
  oomph lint                                 all Python files and notebooks below this folder
  oomph lint train.py src/
  oomph lint --pedantic train.py             also what costs no memory today
  oomph lint --select graph-in-collection,retain-graph-in-loop src/
  oomph lint --diff train.py | git apply     what --fix would change
  oomph lint --fix src/                      makes the safe fixes
  oomph lint --format sarif src/ > lint.sarif
  oomph lint --write-baseline lint.json      from now on only what is new: --baseline lint.json
  git show HEAD:train.py | oomph lint --stdin-filename train.py -
  oomph lint --fix - < train.py > mended.py
  oomph rule graph-in-collection             the page of a rule

`# oomph: ignore[RULE]` on a line silences a rule there. Settings stand in `oomph.toml` or, under
[tool.oomph.lint], in `pyproject.toml`: select, ignore, pedantic, include, exclude, unsafe-fixes, baseline.
Exit status: 0 nothing was found, 1 something was, 2 oomph could not do its work.";

/// The options.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line, and any may go with any")]
#[derive(Clone, Debug, Args)]
pub(crate) struct Lint {
    /// Files and folders; `-` is standard input [default: this folder]
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,

    /// Print one JSON object; short for `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// How the answer is written
    #[arg(long, alias = "output-format", value_name = "FORMAT", value_enum, default_value_t = LintFormat::Terminal)]
    format: LintFormat,

    /// Ask these rules alone, such as `graph-in-collection`; `ALL` asks every one
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = parse_selected)]
    pub(super) select: Option<Vec<String>>,

    /// Do not ask these rules
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = parse_rule)]
    pub(super) ignore: Vec<String>,

    /// Also say what costs no memory today
    #[arg(long, conflicts_with = "select")]
    pub(super) pedantic: bool,

    /// Make the fixes that leave what the program computes as it is; of standard input, the text is printed as it becomes
    #[arg(long, conflicts_with_all = ["diff", "write_baseline"])]
    fix: bool,

    /// Print what --fix would change, as a patch
    #[arg(long, conflicts_with_all = ["json", "format", "write_baseline"])]
    pub(super) diff: bool,

    /// With --fix or --diff: also fixes after which the program may compute something else
    #[arg(long)]
    unsafe_fixes: bool,

    /// Leave out files and folders that match, as a line of `.gitignore` would
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    pub(super) exclude: Vec<String>,

    /// Look, in folders, at the files that match [default: *.py, *.ipynb]
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    pub(super) include: Vec<String>,

    /// Look also at what git would ignore
    #[arg(long)]
    pub(super) no_gitignore: bool,

    /// Say also what a comment `# oomph: ignore` silences
    #[arg(long)]
    pub(super) no_suppressions: bool,

    /// Do not say what this file, written by --write-baseline, lists
    #[arg(long, value_name = "FILE")]
    pub(super) baseline: Option<PathBuf>,

    /// Write what is found today into this file, and say nothing of it from now on
    #[arg(long, value_name = "FILE", conflicts_with = "baseline")]
    pub(super) write_baseline: Option<PathBuf>,

    /// Read the settings from this file
    #[arg(long, value_name = "FILE", conflicts_with = "isolated")]
    pub(super) config: Option<PathBuf>,

    /// Read no settings
    #[arg(long)]
    pub(super) isolated: bool,

    /// What standard input is called
    #[arg(long, value_name = "NAME")]
    pub(super) stdin_filename: Option<PathBuf>,

    /// Do it again whenever a file changes, until Ctrl-C
    #[arg(long, conflicts_with_all = ["fix", "write_baseline"])]
    pub(super) watch: bool,
}

/// How an answer is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum LintFormat {
    /// For people: each finding at its lines
    #[default]
    #[value(alias = "full")]
    Terminal,
    /// One line per finding
    Concise,
    /// Annotations in the log of GitHub's workflows
    Github,
    /// One JSON object
    Json,
    /// SARIF 2.1.0, for code hosts and editors
    Sarif,
}

/// What becomes of fixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mends {
    /// They are offered.
    None,
    /// They are shown as a diff.
    Shown(Applicability),
    /// They are made in the files.
    Written(Applicability),
}

impl Mends {
    /// Which fixes are made, in the file or in the diff.
    pub(super) fn allowed(self) -> Option<Applicability> {
        match self {
            Mends::None => None,
            Mends::Shown(allowed) | Mends::Written(allowed) => Some(allowed),
        }
    }
}

impl Lint {
    /// The format that was asked for.
    pub(super) fn format(&self) -> LintFormat {
        if self.json { LintFormat::Json } else { self.format }
    }

    /// What becomes of fixes; the settings may allow unsafe ones.
    pub(super) fn mends(&self, allows_unsafe: bool) -> Mends {
        let allowed = if self.unsafe_fixes || allows_unsafe { Applicability::Unsafe } else { Applicability::Safe };
        match (self.fix, self.diff) {
            (true, _) => Mends::Written(allowed),
            (_, true) => Mends::Shown(allowed),
            _ => Mends::None,
        }
    }
}

/// The word that selects every rule.
pub(super) const ALL: &str = "ALL";

fn parse_selected(text: &str) -> Result<String, String> {
    if text.trim() == ALL { Ok(ALL.to_owned()) } else { parse_rule(text) }
}

/// The name of a rule, or what it may have been meant to be.
pub(super) fn parse_rule(text: &str) -> Result<String, String> {
    let text = text.trim();
    if lint::rules().iter().any(|rule| rule.id.0 == text) {
        return Ok(text.to_owned());
    }
    let near = crate::commands::rule::nearest(text, lint::rules().iter().map(|rule| rule.id.0));
    let meant = near.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"));
    Err(format!("there is no rule `{text}`{meant}; `oomph rule` lists them"))
}
