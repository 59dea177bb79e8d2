//! The findings of a document in the words of the protocol: diagnostics, and the page of a rule.

use ::lint::{Finding, MemoryEffect, Rule};
use lsp_types::{
    Diagnostic, DiagnosticSeverity, Hover, HoverContents, MarkupContent, MarkupKind, NumberOrString, Position,
};

use super::documents::{LintedText, OpenDocument};
use super::position::{LineTable, PositionEncoding};
use crate::commands::rule::lint_page;

const SOURCE: &str = "oomph";
/// The line between the pages of two rules.
const RULER: &str = "\n---\n\n";

/// The diagnostics of a document, by position.
pub(super) fn list_diagnostics(document: &OpenDocument, encoding: PositionEncoding) -> Vec<Diagnostic> {
    let lines = LineTable::new(&document.text, encoding);
    let findings = document.linted.iter().flat_map(|linted| &linted.findings);
    findings.map(|finding| diagnostic(document, &lines, finding)).collect()
}

/// The diagnostic of a finding.
pub(super) fn diagnostic(document: &OpenDocument, lines: &LineTable<'_>, finding: &Finding) -> Diagnostic {
    let mark = document.mark_bytes();
    Diagnostic {
        range: lines.range(finding.span.start + mark..finding.span.end + mark),
        severity: Some(severity(finding.effect)),
        code: Some(NumberOrString::String(finding.rule.0.to_owned())),
        // The pages of the rules have no address: hover shows them.
        code_description: None,
        source: Some(SOURCE.to_owned()),
        message: format!("{}; {}", finding.message, finding.help),
        ..Diagnostic::default()
    }
}

fn severity(effect: MemoryEffect) -> DiagnosticSeverity {
    match effect {
        MemoryEffect::Grows => DiagnosticSeverity::ERROR,
        MemoryEffect::Wastes => DiagnosticSeverity::WARNING,
        MemoryEffect::Style => DiagnosticSeverity::INFORMATION,
    }
}

/// The pages of the rules whose findings are at a position; `None` without one.
pub(super) fn hover(document: &OpenDocument, at: Position, encoding: PositionEncoding) -> Option<Hover> {
    let lines = LineTable::new(&document.text, encoding);
    let LintedText { findings, .. } = document.linted.as_ref()?;
    let offset = lines.offset(at).checked_sub(document.mark_bytes())?;
    let here = |finding: &&Finding| (finding.span.start..=finding.span.end).contains(&offset);
    let found: Vec<&Finding> = findings.iter().filter(here).collect();
    let first = found.first()?;
    let mut pages: Vec<&str> = found.iter().filter_map(|finding| page_of(finding)).collect();
    pages.dedup();
    let value = pages.join(RULER);
    Some(Hover {
        contents: HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value }),
        range: Some(diagnostic(document, &lines, first).range),
    })
}

fn page_of(finding: &Finding) -> Option<&'static str> {
    let is_named = |rule: &&Rule| rule.id == finding.rule;
    ::lint::rules().iter().find(is_named).map(lint_page)
}
