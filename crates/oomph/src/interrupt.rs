//! Ctrl-C while a search runs: the first ends the search with what it has, the second the process.

use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::{ExitStatus, output, publish, reap, rundir};

/// Signals so close to the first are the same: `timeout` and others send one to a process and one to its group.
const SAME: Duration = Duration::from_millis(300);

static SEARCHING: AtomicBool = AtomicBool::new(false);
static CAME: OnceLock<Instant> = OnceLock::new();

/// From here on Ctrl-C is for the search.
pub(crate) fn search_begins() {
    SEARCHING.store(true, Ordering::SeqCst);
}

/// And no longer.
pub(crate) fn search_ends() {
    SEARCHING.store(false, Ordering::SeqCst);
}

/// Whether Ctrl-C came during the search.
pub(crate) fn came() -> bool {
    CAME.get().is_some()
}

/// Ctrl-C came. Returns whether that was for a search.
pub(crate) fn note() -> bool {
    let is_searching = SEARCHING.load(Ordering::SeqCst);
    if is_searching && CAME.get_or_init(Instant::now).elapsed() > SAME {
        end();
    }
    is_searching
}

/// Ctrl-C ends the process where it is: what reads or waits cannot be ended by a flag.
pub(crate) fn ends_the_process() -> Result<(), Error> {
    Ok(ctrlc::set_handler(|| end())?)
}

/// Ends the process where it is, and leaves nothing behind.
pub(crate) fn end() -> ! {
    publish::abandon();
    reap::end_orphans();
    rundir::abandon();
    output::failure(&Error::Interrupted);
    process::exit(ExitStatus::Failed.code().into())
}
