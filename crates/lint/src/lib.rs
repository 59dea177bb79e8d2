//! Memory mistakes of PyTorch programs, found in their source alone: Python text in, findings out.
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
//! - Pure: no file, no environment, no clock. The same text and options give the same findings in the same order.
//! - Nothing is run and nothing is imported; a file is looked at by itself.
//! - Precision before recall: a rule that is not sure says nothing (Note `[Silence]` in `semantics.rs`).
//! - Any bytes are survived: what cannot be read is an [`Unreadable`] (Note `[Limits]` in `source.rs`).
//! - `source.rs` alone calls the parser; `semantics` gives its tree a meaning; one file in `rules` is one rule.

mod finding;
mod lines;
mod notebook;
mod rules;
mod semantics;
mod source;
mod suppress;

pub use finding::{Applicability, Edit, Effect, Finding, Fix, Position, Span};
pub use rules::Rule;
pub use source::{SourceFile, Unreadable};

use rules::{Found, FoundPlace};
use semantics::Model;
use suppress::Suppressions;

/// Which rules are asked.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The names of rules to ask besides those that are on by default; `None` in their place asks all.
    pub select: Selection,
    /// The names of rules not to ask.
    pub ignore: Vec<String>,
    /// Whether `# oomph: ignore` comments are looked past.
    pub ignores_suppressions: bool,
}

/// A choice of rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// Those whose mistake costs memory, and none in a file of tests: what a test holds is small and soon gone.
    #[default]
    Default,
    /// Every one.
    All,
    /// These.
    Only(Vec<String>),
}

impl Options {
    /// Every rule.
    pub fn all() -> Options {
        Options { select: Selection::All, ..Options::default() }
    }

    /// Whether a rule is asked.
    pub fn asks(&self, rule: &Rule) -> bool {
        let name = rule.id.0;
        let is_selected = match &self.select {
            Selection::Default => rule.effect != Effect::Style,
            Selection::All => true,
            Selection::Only(names) => names.iter().any(|it| it == name),
        };
        is_selected && !self.ignore.iter().any(|it| it == name)
    }
}

/// All rules, by name.
pub fn rules() -> &'static [Rule] {
    rules::RULES
}

/// The mistakes in a file, in the order of its text.
pub fn check(source: &SourceFile, options: &Options) -> Result<Vec<Finding>, Unreadable> {
    if !may_concern(source.text()) {
        return Ok(Vec::new());
    }
    let parsed = source.parse()?;
    let model = Model::new(source.text(), parsed.suite());
    if options.select == Selection::Default && model.is_of_tests() {
        return Ok(Vec::new());
    }
    let suppressions = suppressions(source.text(), &parsed, options);
    let mut findings = Vec::new();
    for rule in rules().iter().filter(|rule| options.asks(rule)) {
        let mut found = Found::default();
        (rule.check)(&model, &mut found);
        let kept = found.places.into_iter().filter(|place| {
            let start = source::logical_start(&parsed, place.span.start);
            let end = source::logical_end(&parsed, place.span.start).max(place.span.start + 1);
            !suppressions.covers(rule.id.0, source.line_start(start), source.line_end(end))
        });
        findings.extend(kept.map(|place| finding(source, rule, place)));
    }
    findings.sort_by_key(|finding| (finding.span, finding.rule));
    findings.dedup_by(|later, earlier| later.rule == earlier.rule && later.span == earlier.span);
    Ok(findings)
}

/// Whether a text has a word without which no rule has anything to say. What has none is not even parsed.
fn may_concern(text: &str) -> bool {
    let words = [&b"torch"[..], b"transformers", b"accelerate", b"lightning"];
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

fn finding(source: &SourceFile, rule: &Rule, place: FoundPlace) -> Finding {
    Finding {
        rule: rule.id,
        effect: place.effect.unwrap_or(rule.effect),
        span: place.span,
        start: source.position(place.span.start),
        end: source.position(place.span.end),
        message: place.message,
        help: rule.help,
        fix: place.fix,
    }
}
