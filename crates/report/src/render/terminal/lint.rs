//! The terminal form of `lint`: each finding at its lines, then the counts.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::{Bars, Look};
use crate::finding::{Finding, Severity};
use crate::lint::{Certainty, LintFinding, LintProof, LintReport, ProvedNeed, UnreadableFile};
use crate::render::layout::{COLUMNS, short_path, wrap};
use crate::render::lint::{closing, headline};
use crate::sanitize::clean;

/// The whole report.
pub(super) fn write(report: &LintReport, look: &Look) -> String {
    let (renderer, folder, heading) = (renderer(look), &report.folder, look.styles.heading);
    let findings = report.findings.iter().map(|found| format_finding(found, folder, &renderer));
    let unreadable = report.unreadable.iter().map(|file| unreadable(file, folder, &renderer));
    let paragraphs = findings.chain(unreadable).map(|paragraph| paragraph + "\n\n");
    let headline = format!("{heading}{}{heading:#}\n", headline(report));
    let closing = closing(report).into_iter().map(|line| format!("  {}\n", clean(&line)));
    paragraphs.chain([headline]).chain(closing).collect()
}

/// A file gets no colour, as `Look` says.
fn renderer(look: &Look) -> Renderer {
    let renderer = match look.bars {
        Bars::Ascii => Renderer::plain().decor_style(DecorStyle::Ascii),
        Bars::Unicode => Renderer::styled().decor_style(DecorStyle::Unicode),
    };
    renderer.term_width(COLUMNS)
}

fn format_finding(found: &LintFinding, folder: &str, renderer: &Renderer) -> String {
    let Finding { rule, severity, message, location, remedies, .. } = &found.finding;
    let message = wrapped(message, severity.word().len() + rule.0.len() + "[]: ".len());
    let path = location.as_ref().map(|location| clean(short_path(&location.file, folder)).into_owned());
    let snippet = Snippet::source(found.excerpt.text.as_str())
        .line_start(found.excerpt.first_line as usize)
        .path(path)
        .annotation(AnnotationKind::Primary.span(found.excerpt.span.clone()));
    let mut group = level(*severity).primary_title(message).id(rule.0).element(snippet);
    for remedy in remedies {
        let help = format!("{}; {}", remedy.remedy, remedy.how);
        group = group.element(Level::HELP.message(wrapped(&help, "     = help: ".len())));
    }
    if let Some(note) = certainty(found.certainty) {
        group = group.element(Level::NOTE.message(wrapped(note, "     = note: ".len())));
    }
    if let Some(proof) = &found.proof {
        group = group.element(Level::NOTE.message(wrapped(&describe_proof(proof), "     = note: ".len())));
    }
    renderer.render(&[group])
}

/// Describes what dry runs with and without the fix show.
fn describe_proof(proof: &LintProof) -> String {
    let (before, after) = (&proof.before, &proof.after);
    let peak = format!("peak {} as it is, {} with the fix", before.peak_allocated_bytes, after.peak_allocated_bytes);
    let left = |need: &ProvedNeed| need.growth_bytes.map_or_else(|| "nothing".to_owned(), |bytes| bytes.to_string());
    if before.growth_bytes == after.growth_bytes {
        return format!("proved by two dry runs: {peak}");
    }
    format!(
        "proved by two dry runs: each iteration leaves {} as it is, {} with the fix; {peak}",
        left(before),
        left(after)
    )
}

/// Describes the confidence in a finding, unless it is certain.
fn certainty(certainty: Certainty) -> Option<&'static str> {
    match certainty {
        Certainty::Certain => None,
        Certainty::Likely => Some("likely: found by following the program through its calls"),
        Certainty::Possible => Some("possible: code that oomph cannot follow may undo this"),
    }
}

fn unreadable(file: &UnreadableFile, folder: &str, renderer: &Renderer) -> String {
    let title = format!("`{}` was left out: {}", short_path(&file.file, folder), file.reason);
    let title = wrapped(&title, "warning: ".len());
    renderer.render(&[Group::with_title(Level::WARNING.primary_title(title))])
}

/// Breaks `text` into lines that end at the last column, each behind `indent` columns.
fn wrapped(text: &str, indent: usize) -> String {
    wrap(text, COLUMNS - indent.min(COLUMNS / 2)).join("\n")
}

fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    }
}
