//! Applies fixes and verifies each; lint runs again until no fix is left.

use std::path::Path;

use lint::{Applicability, Finding, Fix, Options, Project, SourceFile};
use patch::Rewrite;

/// The largest number of rounds: a fix may bring up another finding.
const MOST_ROUNDS: usize = 10;

/// Tells which findings of a file are not fixed.
pub(super) type Spared<'a> = &'a dyn Fn(&SourceFile, &[Finding]) -> Vec<bool>;

/// What is needed to lint a changed file again.
#[derive(Clone, Copy)]
pub(super) struct Again<'a> {
    pub(super) options: &'a Options,
    pub(super) path: &'a Path,
    pub(super) project: &'a dyn Project,
}

/// A mended file.
pub(super) struct Mended {
    pub(super) source: SourceFile,
    /// The remaining findings.
    pub(super) findings: Vec<Finding>,
    pub(super) rewrite: Rewrite,
    pub(super) fixed: usize,
    /// Fixes with too large a change, and the reason; each is a bug of a rule.
    pub(super) refused: Vec<String>,
}

/// Applies the allowed fixes of the findings `found` that are not spared.
pub(super) fn mend(
    source: &SourceFile,
    found: Vec<Finding>,
    again: &Again<'_>,
    allowed: Applicability,
    spared: Spared,
) -> Mended {
    let rewrite = Rewrite::new(source.text());
    let mut mended = Mended { source: source.clone(), findings: found, rewrite, fixed: 0, refused: Vec::new() };
    for _ in 0..MOST_ROUNDS {
        if !mended.round(again, allowed, spared) {
            break;
        }
    }
    mended
}

impl Mended {
    /// Applies all fixes that do not overlap, and lints the result. Returns true if more fixes may follow.
    fn round(&mut self, again: &Again<'_>, allowed: Applicability, spared: Spared) -> bool {
        let findings = self.findings.clone();
        // A file without fixes, as most are, is not parsed again.
        if !findings.iter().any(|finding| finding.fix.is_some()) {
            return false;
        }
        let spared = spared(&self.source, &findings);
        self.refused.clear();
        let wanted = findings.iter().zip(spared).filter(|(_, is_spared)| !is_spared);
        let fixes = wanted.filter_map(|(finding, _)| Some((finding, finding.fix.as_ref()?)));
        let fixes = apart(fixes.filter(|(_, fix)| fix.applicability <= allowed).collect());
        if fixes.is_empty() {
            return false;
        }
        let before = self.fixed;
        // The rewrite verifies the whole file: all fixes together, or one by one if the whole is refused.
        if self.rewrite.make(fixes.iter().flat_map(|(_, fix)| edits(fix))).is_ok() {
            self.fixed += fixes.len();
        } else {
            // In reverse order, so that earlier offsets stay valid.
            fixes.iter().rev().for_each(|(finding, fix)| self.make(finding, fix));
        }
        self.fixed > before && self.lint(again)
    }

    /// Lints the text with its fixes. Returns false if that fails.
    fn lint(&mut self, again: &Again<'_>) -> bool {
        let Ok(source) = SourceFile::python(self.rewrite.text().as_bytes()) else { return false };
        let Ok(findings) = lint::check_in(&source, again.options, again.path, again.project) else { return false };
        (self.source, self.findings) = (source, findings);
        true
    }

    fn make(&mut self, finding: &Finding, fix: &Fix) {
        match self.rewrite.make(edits(fix)) {
            Ok(()) => self.fixed += 1,
            Err(why) => self
                .refused
                .push(format!("line {}: the fix of {} was not made: {why}", finding.start.line, finding.rule)),
        }
    }
}

/// Returns the fixes that do not overlap, in the order of the text.
fn apart<'a>(mut fixes: Vec<(&'a Finding, &'a Fix)>) -> Vec<(&'a Finding, &'a Fix)> {
    fixes.sort_by_key(|(_, fix)| start(fix));
    let mut free = 0;
    fixes.retain(|(_, fix)| {
        let is_apart = start(fix) >= free;
        free = if is_apart { end(fix) } else { free };
        is_apart
    });
    fixes
}

fn edits(fix: &Fix) -> impl Iterator<Item = (std::ops::Range<usize>, &str)> {
    fix.edits.iter().map(|edit| (edit.span.start..edit.span.end, edit.text.as_str()))
}

fn start(fix: &Fix) -> usize {
    fix.edits.first().map_or(0, |edit| edit.span.start)
}

fn end(fix: &Fix) -> usize {
    fix.edits.last().map_or(0, |edit| edit.span.end)
}
