//! Makes run directories, and removes them. The format is Note `[Run directory]` in `trace/src/run.rs`; `base::run_dir` reads.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use base::Error;
use base::run_dir::{is_run, list_files};
use trace::run::Launch;
use wire::file;

use crate::cleanup::temporary::Temporary;
use crate::cleanup::watchdog;

/// The folder of the run without a limit, inside the folder of a run that ran out.
pub const UNLIMITED: &str = "unlimited";
/// The folder of the run with a part of the device for each rank, inside the folder of a run whose ranks share a device.
pub(crate) const SHARED: &str = "shared";
/// The folder of the run whose side streams are late.
pub(crate) const LATE: &str = "late";
/// The folder of the run with another share of selected elements.
pub(crate) const OTHER_SHARE: &str = "other-share";

/// A run directory.
pub enum RunDir {
    /// A folder of `--save`.
    Kept(PathBuf),
    /// A folder that is removed with this value.
    Temporary(Temporary),
}

impl RunDir {
    /// Makes an empty folder: `save`, which must be empty, or a temporary folder.
    pub fn make(save: Option<&Path>) -> Result<RunDir, Error> {
        let Some(folder) = save else {
            return Temporary::make()
                .map(RunDir::Temporary)
                .map_err(|source| Error::RunFolder { folder: std::env::temp_dir(), source });
        };
        watchdog::start();
        make_empty(folder).map(RunDir::Kept)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        match self {
            RunDir::Kept(folder) => folder,
            RunDir::Temporary(folder) => folder.path(),
        }
    }
}

/// Makes a folder, which must be empty if it exists; returns the whole path.
fn make_empty(folder: &Path) -> Result<PathBuf, Error> {
    let failed = |source| Error::RunFolder { folder: folder.to_owned(), source };
    fs::create_dir_all(folder).map_err(failed)?;
    if fs::read_dir(folder).map_err(failed)?.next().is_some() {
        return Err(Error::RunFolderInUse(folder.to_owned()));
    }
    fs::canonicalize(folder).map_err(failed)
}

/// Makes the folder of a real run, which outlives oomph: `save`, which must be empty, or a new one among the temporary folders.
pub fn make_lasting(save: Option<&Path>) -> Result<PathBuf, Error> {
    if let Some(folder) = save {
        return make_empty(folder);
    }
    let made = tempfile::Builder::new().prefix("oomph-run-").tempdir();
    made.map(tempfile::TempDir::keep).map_err(|source| Error::RunFolder { folder: std::env::temp_dir(), source })
}

/// Makes the folder of processes that start without `oomph run`. The first process writes `run.json`.
pub fn join_lasting(folder: &Path, launch: &Launch) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|source| Error::RunFolder { folder: folder.to_owned(), source })?;
    if is_run(folder) { Ok(()) } else { write_launch(folder, launch) }
}

/// Removes the folder of a run that nobody asked to keep. A folder that cannot be removed lies among the temporary files.
pub fn remove(folder: &Path) {
    if let Err(problem) = fs::remove_dir_all(folder) {
        base::events::remark(&format!("warning: {} could not be removed: {problem}", folder.display()));
    }
}

/// Writes `run.json`, whole or not at all.
pub fn write_launch(folder: &Path, launch: &Launch) -> Result<(), Error> {
    let failed = |source| Error::RunFolder { folder: folder.to_owned(), source };
    let text = serde_json::to_string_pretty(launch).map_err(|error| failed(error.into()))? + "\n";
    let mut written = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    written.write_all(text.as_bytes()).map_err(failed)?;
    written.persist(folder.join(file::LAUNCH)).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Removes half-written files of killed processes: complete files have no `.tmp` ending.
pub(crate) fn remove_unfinished(folder: &Path) -> Result<(), Error> {
    for path in list_files(folder)?.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "tmp")) {
        fs::remove_file(&path).map_err(|source| Error::RunFolder { folder: folder.to_owned(), source })?;
    }
    Ok(())
}
