//! Reads a running program, or a snapshot of one.

use std::path::Path;

use base::Error;
use base::run_dir::{list_files, slurp};
use trace::run::Tail;
use trace::{Process, Recording};
use wire::file;

use super::capture::capture;

/// Reads the records and recordings of the processes of a running program, or of a snapshot.
pub fn read_now(folder: &Path) -> Result<Vec<(Process, Option<Recording>)>, Error> {
    let mut processes = Vec::new();
    for path in list_files(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(stem) = name.strip_suffix(file::MARKS) {
            // The line that the process is writing is not read yet.
            let records = Tail::default().feed(&slurp(&path)?.unwrap_or_default()).into_iter().collect();
            processes.push((records, capture_recording(&folder.join(format!("{stem}{}", file::RECORDING)))?));
        }
    }
    Ok(processes)
}

fn capture_recording(path: &Path) -> Result<Option<Recording>, Error> {
    let Some(image) = capture(path)? else { return Ok(None) };
    let read = trace::read_recording(&image);
    read.map(Some).map_err(|error| Error::Damaged { path: path.to_owned(), problem: error.to_string() })
}
