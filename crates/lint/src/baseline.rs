//! The baseline: known findings, which are not reported again, so that a project can begin with only new findings.
//!
//! # Note [Known findings]
//! A known finding is recognised by its file, its rule and the text of its first line, not by the line's number, which
//! changes with every edit above. Equal findings are counted: a copy of a known mistake is new.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use report::lint::{LintFinding, LintReport};

use crate::config::{BaselineJson, KnownFinding};

const VERSION: u32 = 1;

/// The identity of a finding (Note [Known findings]).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct BaselineKey {
    /// Relative to the folder of the baseline, if the file is below.
    file: String,
    rule: String,
    line: String,
}

/// The questions of a baseline about the disk.
pub trait BaselineDisk: Sync {
    /// Returns the path of an existing file without links and `..`.
    fn canonical(&self, file: &Path) -> Option<PathBuf>;
    /// True if there is something at a path.
    fn exists(&self, path: &Path) -> bool;
}

/// The known findings.
pub struct Baseline<'a> {
    path: PathBuf,
    /// The folder that file names are relative to.
    folder: PathBuf,
    known: BTreeMap<BaselineKey, usize>,
    disk: &'a dyn BaselineDisk,
}

impl Baseline<'_> {
    /// Reads the text of a baseline at `path` in `folder`; returns the problem of an unreadable text.
    pub fn parse<'a>(
        text: &str,
        (path, folder): (PathBuf, PathBuf),
        disk: &'a dyn BaselineDisk,
    ) -> Result<Baseline<'a>, String> {
        let document: BaselineJson = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if document.version != VERSION {
            return Err(format!("it is of version {}; expected {VERSION}", document.version));
        }
        let known = document
            .findings
            .into_iter()
            .map(|it| (BaselineKey { file: it.file, rule: it.rule, line: it.line }, it.count));
        Ok(Baseline { known: known.collect(), folder, path, disk })
    }

    /// Marks the known findings.
    pub fn knows(&self, findings: &[LintFinding]) -> Vec<bool> {
        self.matched(findings).0
    }

    /// Removes the known findings from a report, and remarks on known findings that are gone. `files` were linted.
    pub fn hide<'a>(&self, report: &mut LintReport, files: impl Iterator<Item = &'a str>) {
        let (knows, left) = self.matched(&report.findings);
        let mut knows = knows.into_iter();
        let before = report.findings.len();
        report.findings.retain(|_| knows.next() != Some(true));
        report.hidden = before - report.findings.len();
        let files: BTreeSet<String> = files.map(|file| relative(file, &self.folder, self.disk)).collect();
        let is_asked = |key: &BaselineKey| report.rules.iter().any(|rule| rule.id.0 == key.rule);
        let is_gone = |key: &BaselineKey| {
            files.contains(key.python_file()) || !self.disk.exists(&self.folder.join(key.python_file()))
        };
        let gone: usize = left.iter().filter(|(key, _)| is_asked(key) && is_gone(key)).map(|(_, count)| count).sum();
        if gone > 0 {
            let path = self.path.display();
            report
                .notes
                .push(format!("no longer found, of the baseline: {gone}; --write-baseline {path} writes it anew"));
        }
    }

    /// Marks the known findings, and counts the baseline's entries without a finding.
    fn matched(&self, findings: &[LintFinding]) -> (Vec<bool>, BTreeMap<BaselineKey, usize>) {
        let mut left = self.known.clone();
        let knows = findings.iter().map(|found| match left.get_mut(&key(found, &self.folder, self.disk)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        });
        (knows.collect(), left)
    }
}

impl BaselineKey {
    /// The file, without the cell of a notebook.
    fn python_file(&self) -> &str {
        self.file.rsplit_once(":cell ").map_or(&self.file, |(file, _)| file)
    }
}

/// Returns the findings as a baseline for a file in `folder`.
pub fn to_baseline(findings: &[LintFinding], folder: &Path, disk: &dyn BaselineDisk) -> BaselineJson {
    let mut known: BTreeMap<BaselineKey, usize> = BTreeMap::new();
    for found in findings {
        *known.entry(key(found, folder, disk)).or_default() += 1;
    }
    let entries =
        known.into_iter().map(|(key, count)| KnownFinding { file: key.file, rule: key.rule, line: key.line, count });
    BaselineJson { version: VERSION, findings: entries.collect() }
}

fn key(found: &LintFinding, folder: &Path, disk: &dyn BaselineDisk) -> BaselineKey {
    let file = found.finding.location.as_ref().map_or("", |location| location.file.as_str());
    BaselineKey {
        file: relative(file, folder, disk),
        rule: found.finding.rule.0.to_owned(),
        line: found.excerpt.text.lines().next().unwrap_or_default().trim().to_owned(),
    }
}

/// Returns a file's name relative to `folder`, if it lies below.
fn relative(file: &str, folder: &Path, disk: &dyn BaselineDisk) -> String {
    if let Ok(below) = Path::new(file).strip_prefix(folder) {
        return join_with_slashes(below);
    }
    let real = disk.canonical(Path::new(file));
    let below = real.as_deref().and_then(|real| real.strip_prefix(folder).ok());
    below.map_or_else(|| file.to_owned(), join_with_slashes)
}

/// The path with slashes on every system: a baseline is committed, and read on others.
fn join_with_slashes(path: &Path) -> String {
    path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}
