//! Reads and writes the file of a baseline (Note [Known findings] in `crates/lint/src/baseline.rs`).

use std::fs;
use std::path::{Path, PathBuf};

use lint::{Baseline, BaselineDisk, to_baseline};
use report::lint::LintFinding;
use trace::Bytes;

use crate::effects::publish;
use crate::effects::whole_file::{self, Expected};
use crate::error::{Error, LintError};

/// A finding takes some hundred bytes.
const BASELINE: Expected = Expected { words: "a baseline of `oomph lint`", most: Bytes::from_mib(256) };

/// This machine's disk.
pub(super) struct RealDisk;

impl BaselineDisk for RealDisk {
    fn canonical(&self, file: &Path) -> Option<PathBuf> {
        file.canonicalize().ok()
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }
}

/// Reads a baseline.
pub(super) fn read(path: PathBuf) -> Result<Baseline<'static>, Error> {
    let text = whole_file::read_text(&path, BASELINE)?;
    let folder = folder_of(&path);
    let read = Baseline::parse(&text, (path.clone(), folder), &RealDisk);
    read.map_err(|problem| Error::from(LintError::Baseline { path, problem }))
}

/// Checks that a baseline may be written: any other file, such as a source named by mistake, is not replaced.
pub(super) fn check_replaceable(path: &Path) -> Result<(), Error> {
    let is_new = fs::metadata(path).map_or(true, |found| !found.is_file() || found.len() == 0);
    if is_new || read(path.to_owned()).is_ok() {
        Ok(())
    } else {
        Err(Error::from(LintError::NoBaseline(path.to_owned())))
    }
}

/// Writes the findings as a baseline. Returns their number.
pub(super) fn write(path: &Path, findings: &[LintFinding]) -> Result<usize, Error> {
    let document = to_baseline(findings, &folder_of(path), &RealDisk);
    publish::write_whole(path, &report::document::to_text(&document)?)?;
    Ok(findings.len())
}

/// The folder of a baseline, without links and `..`.
fn folder_of(baseline: &Path) -> PathBuf {
    let path = std::path::absolute(baseline).unwrap_or_else(|_| baseline.to_owned());
    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
    folder.canonicalize().unwrap_or(folder)
}
