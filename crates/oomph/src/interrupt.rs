//! Ctrl-C while a search runs: the first ends the search with what it has, the second the process.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Error;
use crate::{ExitStatus, output, publish};

static SEARCHING: AtomicBool = AtomicBool::new(false);
static CAME: AtomicBool = AtomicBool::new(false);

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
    CAME.load(Ordering::SeqCst)
}

/// Ctrl-C came. Returns whether that was for a search.
pub(crate) fn note() -> bool {
    let is_searching = SEARCHING.load(Ordering::SeqCst);
    if is_searching && CAME.swap(true, Ordering::SeqCst) {
        end();
    }
    is_searching
}

/// Ctrl-C ends the process where it is: what reads or waits cannot be ended by a flag.
pub(crate) fn ends_the_process() -> Result<(), Error> {
    Ok(ctrlc::set_handler(|| end())?)
}

/// Ends the process where it is.
pub(crate) fn end() -> ! {
    publish::abandon();
    output::failure(&Error::Interrupted);
    process::exit(ExitStatus::Failed.code().into())
}
