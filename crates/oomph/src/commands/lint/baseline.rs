//! The baseline: known findings, which are not reported again, so that a project can begin with only new findings.
//!
//! # Note [Known findings]
//! A known finding is recognised by its file, its rule and the text of its first line, not by the line's number, which
//! changes with every edit above. Equal findings are counted: a copy of a known mistake is new.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use lint::{BaselineJson, KnownFinding};
use report::lint::{LintFinding, LintReport};

use crate::effects::publish;
use crate::error::{Error, LintError};

const VERSION: u32 = 1;

/// The identity of a finding (Note [Known findings]).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct BaselineKey {
    /// Relative to the folder of the baseline, if the file is below.
    file: String,
    rule: String,
    line: String,
}

/// The known findings.
pub(super) struct Baseline {
    path: PathBuf,
    /// The folder that file names are relative to.
    folder: PathBuf,
    known: BTreeMap<BaselineKey, usize>,
}

impl Baseline {
    /// Reads a baseline.
    pub(super) fn read(path: PathBuf) -> Result<Baseline, Error> {
        let text = fs::read_to_string(&path).map_err(|source| Error::Unreadable { path: path.clone(), source })?;
        let failed = |problem: String| Error::from(LintError::Baseline { path: path.clone(), problem });
        let document: BaselineJson = serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
        if document.version != VERSION {
            return Err(failed(format!("it is of version {}; expected {VERSION}", document.version)));
        }
        let known = document
            .findings
            .into_iter()
            .map(|it| (BaselineKey { file: it.file, rule: it.rule, line: it.line }, it.count));
        Ok(Baseline { known: known.collect(), folder: folder_of(&path), path })
    }

    /// Marks the known findings.
    pub(super) fn knows(&self, findings: &[LintFinding]) -> Vec<bool> {
        self.matched(findings).0
    }

    /// Removes the known findings from a report, and remarks on known findings that are gone. `files` were linted.
    pub(super) fn hide<'a>(&self, report: &mut LintReport, files: impl Iterator<Item = &'a str>) {
        let (knows, left) = self.matched(&report.findings);
        let mut knows = knows.into_iter();
        let before = report.findings.len();
        report.findings.retain(|_| knows.next() != Some(true));
        report.hidden = before - report.findings.len();
        let files: BTreeSet<String> = files.map(|file| relative(file, &self.folder)).collect();
        let is_asked = |key: &BaselineKey| report.rules.iter().any(|rule| rule.id.0 == key.rule);
        let is_gone =
            |key: &BaselineKey| files.contains(key.python_file()) || !self.folder.join(key.python_file()).exists();
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

impl BaselineKey {
    /// The file, without the cell of a notebook.
    fn python_file(&self) -> &str {
        self.file.rsplit_once(":cell ").map_or(&self.file, |(file, _)| file)
    }
}

/// Checks that a baseline may be written: any other file, such as a source named by mistake, is not replaced.
pub(super) fn check_replaceable(path: &Path) -> Result<(), Error> {
    let is_new = fs::metadata(path).map_or(true, |found| !found.is_file() || found.len() == 0);
    if is_new || Baseline::read(path.to_owned()).is_ok() {
        Ok(())
    } else {
        Err(Error::from(LintError::NoBaseline(path.to_owned())))
    }
}

/// Writes the findings as a baseline. Returns their number.
pub(super) fn write(path: &Path, findings: &[LintFinding]) -> Result<usize, Error> {
    let mut known: BTreeMap<BaselineKey, usize> = BTreeMap::new();
    let folder = folder_of(path);
    for found in findings {
        *known.entry(key(found, &folder)).or_default() += 1;
    }
    let entries =
        known.into_iter().map(|(key, count)| KnownFinding { file: key.file, rule: key.rule, line: key.line, count });
    let document = BaselineJson { version: VERSION, findings: entries.collect() };
    publish::write_whole(path, &report::document::to_text(&document)?)?;
    Ok(findings.len())
}

fn key(found: &LintFinding, folder: &Path) -> BaselineKey {
    let file = found.finding.location.as_ref().map_or("", |location| location.file.as_str());
    BaselineKey {
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

/// Returns a file's name relative to `folder`, if it lies below.
fn relative(file: &str, folder: &Path) -> String {
    if let Ok(below) = Path::new(file).strip_prefix(folder) {
        return below.display().to_string();
    }
    let real = Path::new(file).canonicalize().ok();
    let below = real.as_deref().and_then(|real| real.strip_prefix(folder).ok());
    below.map_or_else(|| file.to_owned(), |below| below.display().to_string())
}
