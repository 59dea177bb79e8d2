//! Finds memory mistakes of PyTorch programs in their source: Python text in, findings out.
//!
//! ```
//! let source = lint::SourceFile::python(b"import torch\nfor batch in loader:\n    loss = model(batch).mean()\n    loss.backward()\n    total += loss\n")?;
//! let findings = lint::check(&source, &lint::Options::default())?;
//! assert_eq!(findings[0].rule.0, "accumulated-graph");
//! assert_eq!(findings[0].start.line, 5);
//! # Ok::<(), lint::Unreadable>(())
//! ```
//!
//! # Design constraints
//! - Pure: no file, no environment, no clock. The same text and options lead to the same findings in the same order.
//! - Nothing is run and nothing is imported; a file is read by itself.
//! - Precision before recall: a rule that is not sure says nothing (Note `[Silence]` in `semantics.rs`).
//! - Any bytes are survived: what cannot be read is an [`Unreadable`] (Note `[Limits]` in `source.rs`).
//! - `source.rs` alone calls the parser; `semantics` assigns a meaning to its tree; one file in `rules` is one rule.

mod baseline;
mod config;
mod edits;
mod finding;
mod interpreter;
mod line_index;
mod notebook;
mod project;
mod rule;
mod rules;
mod semantics;
mod source;
mod span;
mod suppress;

pub use baseline::{Baseline, BaselineDisk, to_baseline};
pub use config::{BaselineJson, KnownFinding, LintTable, OomphToml, parse_settings};
pub use finding::{Applicability, Edit, Finding, Fix, MemoryEffect};
pub use project::{Project, ProjectFile};
pub use rule::Rule;
pub use source::{SourceFile, Unreadable};
pub use span::{Position, TextSpan};
pub use suppress::suppress;

use std::path::Path;

use project::LinkedFiles;
use report::lint::Certainty;
use ruff_python_ast::Stmt;
use rule::{Match, Matches};
use semantics::Model;
use suppress::Suppressions;

/// The rules to run, and the treatment of suppressions.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The rules to run.
    pub select: Selection,
    /// The names of rules to leave out.
    pub ignore: Vec<String>,
    /// True if `# oomph: ignore` comments have no effect.
    pub ignores_suppressions: bool,
    /// The least certainty of a reported finding; `None` stands for likely.
    pub least_certainty: Option<Certainty>,
}

/// A choice of rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// The rules whose mistake costs memory; none in a file of tests, where tensors are small and short-lived.
    #[default]
    Default,
    /// All rules.
    All,
    /// The named rules.
    Only(Vec<String>),
}

impl Options {
    /// Selects all rules.
    pub fn all() -> Options {
        Options { select: Selection::All, ..Options::default() }
    }

    /// Checks whether a rule is selected.
    pub fn asks(&self, rule: &Rule) -> bool {
        let name = rule.id.0;
        let is_selected = match &self.select {
            Selection::Default => rule.effect != MemoryEffect::Style,
            Selection::All => true,
            Selection::Only(names) => names.iter().any(|it| it == name),
        };
        is_selected && !self.ignore.iter().any(|it| it == name)
    }
}

/// All rules, ordered by name.
pub fn rules() -> &'static [Rule] {
    rules::RULES
}

/// Finds the mistakes in a file by itself, ordered by their position: all imported names are unknown.
pub fn check(source: &SourceFile, options: &Options) -> Result<Vec<Finding>, Unreadable> {
    check_linked(source, options, |_| LinkedFiles::default())
}

/// Finds the mistakes in the file at `path` of a project, ordered by their position: names are followed into the files that it imports, and
/// parameters into the files that import it (Note `[Linked files]` in `project.rs`).
pub fn check_in(
    file: &SourceFile,
    options: &Options,
    path: &Path,
    project: &dyn Project,
) -> Result<Vec<Finding>, Unreadable> {
    if options.select == Selection::Default && is_named_as_test(path) {
        return Ok(Vec::new());
    }
    let links = project::needs_links(file.text());
    check_linked(file, options, |body| {
        if links { project::link(file.text(), body, path, project) } else { LinkedFiles::default() }
    })
}

fn check_linked(
    file: &SourceFile,
    options: &Options,
    link: impl FnOnce(&[Stmt]) -> LinkedFiles,
) -> Result<Vec<Finding>, Unreadable> {
    let is_concerned = may_concern(file.text());
    if !is_concerned && !project::needs_links(file.text()) {
        return Ok(Vec::new());
    }
    let parsed = match file.parse() {
        Err(_) if !is_concerned => return Ok(Vec::new()),
        parsed => parsed?,
    };
    let linked = link(parsed.suite());
    // Helpers of a program need not mention a library themselves.
    if !is_concerned && !may_concern(&linked.text) {
        return Ok(Vec::new());
    }
    let text = if linked.files.is_empty() { file.text() } else { &linked.text };
    let model = Model::new(text, parsed.suite(), &linked);
    if options.select == Selection::Default && model.is_of_tests() {
        return Ok(Vec::new());
    }
    let suppressions = suppressions(file.text(), &parsed, options);
    let mut findings = Vec::new();
    for rule in rules().iter().filter(|rule| options.asks(rule)) {
        let mut matches = Matches::default();
        (rule.check)(&model, &mut matches);
        let visible = matches.list.into_iter().filter(|found| {
            if found.certainty > options.least_certainty.unwrap_or(Certainty::Likely) {
                return false;
            }
            // Findings in linked files are reported where these files are linted.
            if found.span.start >= file.text().len() {
                return false;
            }
            let start = source::logical_start(&parsed, found.span.start);
            let end = source::logical_end(&parsed, found.span.start).max(found.span.start + 1);
            !suppressions.covers(rule.id.0, file.line_start(start), file.line_end(end))
        });
        findings.extend(visible.map(|found| finding(file, rule, found)));
    }
    findings.sort_by_key(|finding| (finding.span, finding.rule));
    findings.dedup_by(|later, earlier| later.rule == earlier.rule && later.span == earlier.span);
    Ok(findings)
}

/// Checks for the name of a file of tests, as pytest collects them.
fn is_named_as_test(path: &Path) -> bool {
    let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    (name.starts_with("test_") || name.ends_with("_test.py")) && path.extension().is_some_and(|it| it == "py")
}

/// Checks whether a text mentions a library that rules are about; other files are not even parsed.
fn may_concern(text: &str) -> bool {
    let words = [&b"torch"[..], b"transformers", b"accelerate", b"lightning", b"diffusers"];
    words.iter().any(|word| memchr::memmem::find(text.as_bytes(), word).is_some())
}

fn suppressions<'a>(
    text: &'a str,
    parsed: &ruff_python_parser::Parsed<ruff_python_ast::ModModule>,
    options: &Options,
) -> Suppressions<'a> {
    if options.ignores_suppressions || memchr::memmem::find(text.as_bytes(), b"oomph:").is_none() {
        return Suppressions::default();
    }
    Suppressions::new(text, source::comments(parsed))
}

fn finding(source: &SourceFile, rule: &Rule, found: Match) -> Finding {
    Finding {
        rule: rule.id,
        effect: found.effect.unwrap_or(rule.effect),
        span: found.span,
        start: source.position(found.span.start),
        end: source.position(found.span.end),
        message: found.message,
        help: rule.help,
        cause: rule.cause,
        fix: found.fix,
        certainty: found.certainty,
    }
}
