//! `--watch`: lints again whenever a file changes.

use std::fs;
use std::thread;
use std::time::{Duration, SystemTime};

use report::words::count;

use super::files::{File, Files};
use crate::error::Error;
use crate::exit::ExitStatus;
use crate::{failure, output};

/// The time between two checks of the files.
const PAUSE: Duration = Duration::from_millis(500);

/// The identity of a version of a file.
type Stamp = (std::path::PathBuf, Option<(SystemTime, u64)>);

/// Runs `round` on the files that `look` finds, until the process is interrupted. Errors are printed: an editor may be writing a file.
pub(super) fn run(look: impl Fn() -> Result<Files, Error>, round: impl Fn(&Files) -> Result<ExitStatus, Error>) -> ! {
    loop {
        let before = look().map(|files| stamps(&files.files));
        match look().and_then(|files| round(&files).map(|_| files.files.len())) {
            Ok(number) => output::say(&format!("watching {}; Ctrl-C ends it", count(number, "file", "files"))),
            Err(error) => failure::tell(&error),
        }
        while look().map(|files| stamps(&files.files)).ok() == before.as_ref().ok().cloned() {
            thread::sleep(PAUSE);
        }
    }
}

fn stamps(files: &[File]) -> Vec<Stamp> {
    let stamp = |file: &File| {
        let found = fs::metadata(&file.path).ok();
        (file.path.clone(), found.and_then(|found| Some((found.modified().ok()?, found.len()))))
    };
    files.iter().map(stamp).collect()
}
