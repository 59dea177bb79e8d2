//! Links the findings of a run to those of lint in the same file: the mistake in the source beside its effect.
//!
//! A rule of lint names the cause that a run shows (`lint::Rule::cause`). If a run shows the cause, and lint has such a finding in the
//! file, the nearest finding is linked. Files that do not exist here, or are no Python, have no links.

use std::path::{Path, PathBuf};

use causes::CauseId;
use lint::{Fix, MemoryEffect, Options, SourceFile};
use report::words::relative;
use report::{Evidence, Finding, Location, Remedy, SourceLink, Value};

use crate::effects::whole_file::{self, SOURCE};
use crate::environment::may_read_source;
use crate::system::spell_path;

/// Returns lint's finding about the cause of each finding; in the script, if the run does not tell the line.
pub(crate) fn find(findings: &[Finding], folder: &str, script: Option<&Path>) -> Vec<Option<SourceLink>> {
    let script = script.map(|script| Location { file: spell_path(script), line: 1, column: None });
    let link = |finding: &Finding| {
        let location = finding.location.as_ref().or(script.as_ref())?;
        let seen = nearest(finding.rule, location)?;
        Some(SourceLink { evidence: evidence(&seen, location, folder), remedy: remedy(&seen, location, folder) })
    };
    findings.iter().map(link).collect()
}

/// Lines between a finding of a run and lint's for the same statement.
const NEAR: u32 = 2;

/// Returns lint's fix for the mistake that causes a finding, with the file and its text: that of a rule about the cause, else of any rule
/// about the same statement.
pub(crate) fn find_fix(finding: &Finding, script: Option<&Path>) -> Option<(PathBuf, String, Fix)> {
    let script = script.map(|script| Location { file: spell_path(script), line: 1, column: None });
    let location = finding.location.as_ref().or(script.as_ref())?;
    let path = PathBuf::from(&location.file);
    let text = whole_file::read_text(&path, SOURCE).ok()?;
    let found = lint_text(text.as_bytes())?;
    let distance = |found: &lint::Finding| found.start.line.abs_diff(location.line);
    let is_meant = |found: &lint::Finding| {
        let is_there = distance(found) <= NEAR && finding.location.is_some();
        is_there || (found.cause == Some(finding.rule) && finding.location.is_none())
    };
    let fixes = found.into_iter().filter(|found| found.fix.is_some() && is_meant(found));
    let best = fixes.min_by_key(|found| (found.cause != Some(finding.rule), distance(found)))?;
    Some((path, text, best.fix?))
}

/// Returns lint's first finding of growing memory with a fix in a script, with the script's text.
pub(crate) fn find_growth(script: &Path) -> Option<(String, lint::Finding)> {
    let text = whole_file::read_text(script, SOURCE).ok()?;
    let grows = |found: &lint::Finding| found.effect == MemoryEffect::Grows && found.fix.is_some();
    let found = lint_text(text.as_bytes())?.into_iter().find(grows)?;
    Some((text, found))
}

fn lint_text(text: &[u8]) -> Option<Vec<lint::Finding>> {
    lint::check(&SourceFile::python(text).ok()?, &Options::default()).ok()
}

fn nearest(cause: CauseId, location: &Location) -> Option<lint::Finding> {
    let file = Some(Path::new(&location.file)).filter(|file| may_read_source(file))?;
    lint_text(&whole_file::read(file, SOURCE).ok()?)?
        .into_iter()
        .filter(|found| found.cause == Some(cause))
        .min_by_key(|found| found.start.line.abs_diff(location.line))
}

fn evidence(seen: &lint::Finding, location: &Location, folder: &str) -> Evidence {
    Evidence {
        what: format!("`{}` in the source", seen.rule),
        value: Value::Text(place(seen, location, folder)),
        source: "oomph lint".into(),
    }
}

fn remedy(seen: &lint::Finding, location: &Location, folder: &str) -> Remedy {
    let mends = if seen.fix.is_some() { "; `oomph lint --diff` shows a fix" } else { "" };
    let how = format!("at {}, see `oomph rule {}`{mends}", place(seen, location, folder), seen.rule);
    Remedy { how, ..seen.remedy() }
}

/// `train.py:41`.
fn place(seen: &lint::Finding, location: &Location, folder: &str) -> String {
    format!("{}:{}", relative(&location.file, folder), seen.start.line)
}
