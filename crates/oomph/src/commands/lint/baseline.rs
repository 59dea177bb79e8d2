//! The baseline: what was found once and is not said again, so that a project can begin with what is new.
//!
//! # Note [Known again]
//! A finding is known again by its file, its rule and the text of its first line, not by the line's number, which changes with every edit
//! above it. Equal ones are counted: a copy of a known mistake is a new one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use report::lint::{LintFinding, LintReport};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::publish;

const VERSION: u32 = 1;

/// What makes a finding the same (Note [Known again]).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Key {
    /// Relative to the folder of the baseline, where it lies below it.
    file: String,
    rule: String,
    line: String,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    file: String,
    rule: String,
    line: String,
    count: usize,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    findings: Vec<Entry>,
}

/// What is known.
pub(super) struct Baseline {
    path: PathBuf,
    /// Names of files count from here.
    folder: PathBuf,
    known: BTreeMap<Key, usize>,
}

impl Baseline {
    /// Reads a baseline.
    pub(super) fn read(path: PathBuf) -> Result<Baseline, Error> {
        let text = fs::read_to_string(&path).map_err(|source| Error::Unreadable { path: path.clone(), source })?;
        let failed = |problem: String| Error::Baseline { path: path.clone(), problem };
        let document: Document = serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
        if document.version != VERSION {
            return Err(failed(format!("it is of version {}; expected {VERSION}", document.version)));
        }
        let known =
            document.findings.into_iter().map(|it| (Key { file: it.file, rule: it.rule, line: it.line }, it.count));
        Ok(Baseline { known: known.collect(), folder: folder_of(&path), path })
    }

    /// Which of the findings are known.
    pub(super) fn knows(&self, findings: &[LintFinding]) -> Vec<bool> {
        self.matched(findings).0
    }

    /// Takes out of a report what is known, and says what is known and no longer there. `files` are those that were looked at.
    pub(super) fn hide<'a>(&self, report: &mut LintReport, files: impl Iterator<Item = &'a str>) {
        let (knows, left) = self.matched(&report.findings);
        let mut knows = knows.into_iter();
        let before = report.findings.len();
        report.findings.retain(|_| knows.next() != Some(true));
        report.hidden = before - report.findings.len();
        let files: BTreeSet<String> = files.map(|file| relative(file, &self.folder)).collect();
        let is_asked = |key: &Key| report.rules.iter().any(|rule| rule.id.0 == key.rule);
        let is_gone = |key: &Key| files.contains(key.python_file()) || !self.folder.join(key.python_file()).exists();
        let gone: usize = left.iter().filter(|(key, _)| is_asked(key) && is_gone(key)).map(|(_, count)| count).sum();
        if gone > 0 {
            let path = self.path.display();
            report.notes.push(format!("{gone} of the baseline are gone: --write-baseline {path} writes it anew"));
        }
    }

    /// Which of the findings are known, and how often what is known was not found.
    fn matched(&self, findings: &[LintFinding]) -> (Vec<bool>, BTreeMap<Key, usize>) {
        let mut left = self.known.clone();
        let knows = findings.iter().map(|found| match left.get_mut(&key(found, &self.folder)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        });
        (knows.collect(), left)
    }
}

impl Key {
    /// The file, without the cell that a place in a notebook has behind it.
    fn python_file(&self) -> &str {
        self.file.rsplit_once(":cell ").map_or(&self.file, |(file, _)| file)
    }
}

/// Whether a baseline may be written there: what is no baseline, such as a source whose name was taken for it, stays.
pub(super) fn may_write(path: &Path) -> Result<(), Error> {
    let is_new = fs::metadata(path).map_or(true, |found| !found.is_file() || found.len() == 0);
    if is_new || Baseline::read(path.to_owned()).is_ok() { Ok(()) } else { Err(Error::NoBaseline(path.to_owned())) }
}

/// Writes what was found as a baseline. Returns how many that are.
pub(super) fn write(path: &Path, findings: &[LintFinding]) -> Result<usize, Error> {
    let mut known: BTreeMap<Key, usize> = BTreeMap::new();
    let folder = folder_of(path);
    for found in findings {
        *known.entry(key(found, &folder)).or_default() += 1;
    }
    let entries = known.into_iter().map(|(key, count)| Entry { file: key.file, rule: key.rule, line: key.line, count });
    let document = Document { version: VERSION, findings: entries.collect() };
    publish::whole(path, &(serde_json::to_string_pretty(&document)? + "\n"))?;
    Ok(findings.len())
}

fn key(found: &LintFinding, folder: &Path) -> Key {
    let file = found.finding.location.as_ref().map_or("", |location| location.file.as_str());
    Key {
        file: relative(file, folder),
        rule: found.finding.rule.0.to_owned(),
        line: found.excerpt.text.lines().next().unwrap_or_default().trim().to_owned(),
    }
}

/// The folder of a baseline, without links and `..`.
fn folder_of(baseline: &Path) -> PathBuf {
    let path = std::path::absolute(baseline).unwrap_or_else(|_| baseline.to_owned());
    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
    folder.canonicalize().unwrap_or(folder)
}

/// A file's name from `folder` on, where it lies below it.
fn relative(file: &str, folder: &Path) -> String {
    if let Ok(below) = Path::new(file).strip_prefix(folder) {
        return below.display().to_string();
    }
    let real = Path::new(file).canonicalize().ok();
    let below = real.as_deref().and_then(|real| real.strip_prefix(folder).ok());
    below.map_or_else(|| file.to_owned(), |below| below.display().to_string())
}
