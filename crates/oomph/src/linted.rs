//! What lint sees in the files that a run's findings point to: the mistake in the source beside what it did.
//!
//! A rule of lint names the cause that a run shows of it (`lint::Rule::cause`). Where a run shows that cause and the file of its line has such
//! a finding, the two are taken to be one; of several the nearest counts. A file that is not here, or is no Python, says nothing.

use std::fs;
use std::path::Path;

use lint::{Options, SourceFile};
use report::{Evidence, Finding, Location, Remedy, RuleId, Value};

/// Adds to each finding what lint says of its cause in its file; in the script, where a run does not tell the line.
pub(crate) fn link(findings: &mut [Finding], folder: &str, script: Option<&Path>) {
    let script = script.map(|script| Location { file: script.display().to_string(), line: 1, column: None });
    for finding in findings {
        let Some(location) = finding.location.as_ref().or(script.as_ref()) else { continue };
        if let Some(seen) = nearest(finding.rule, location) {
            finding.evidence.push(evidence(&seen, location, folder));
            finding.remedies.push(remedy(&seen, location, folder));
        }
    }
}

fn nearest(cause: RuleId, location: &Location) -> Option<lint::Finding> {
    let source = SourceFile::python(&fs::read(&location.file).ok()?).ok()?;
    let found = lint::check(&source, &Options::default()).ok()?;
    found
        .into_iter()
        .filter(|found| found.cause == Some(cause.0))
        .min_by_key(|found| found.start.line.abs_diff(location.line))
}

fn evidence(seen: &lint::Finding, location: &Location, folder: &str) -> Evidence {
    Evidence {
        what: format!("`{}` in the source", seen.rule),
        value: Value::Text(place(seen, location, folder)),
        source: "oomph lint",
    }
}

fn remedy(seen: &lint::Finding, location: &Location, folder: &str) -> Remedy {
    let mends = if seen.fix.is_some() { "; `oomph lint --diff` shows a fix" } else { "" };
    let how = format!("at {}, see `oomph rule {}`{mends}", place(seen, location, folder), seen.rule);
    Remedy { how, ..seen.remedy() }
}

/// `train.py:41`.
fn place(seen: &lint::Finding, location: &Location, folder: &str) -> String {
    let file = Path::new(&location.file);
    format!("{}:{}", file.strip_prefix(folder).unwrap_or(file).display(), seen.start.line)
}
