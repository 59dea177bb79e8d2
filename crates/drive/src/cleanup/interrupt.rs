//! Ctrl-C, for every command. While a program runs, the program is ended; during a search, the search ends with the best so far;
//! otherwise, and at the second Ctrl-C of a search, the process ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::{reap, temporary};
use crate::error::Error;

/// Signals within this time are a single Ctrl-C: `timeout` and others signal a process and then its group.
const SAME: Duration = Duration::from_millis(300);

static SEARCHING: AtomicBool = AtomicBool::new(false);
/// The first Ctrl-C of a search.
static CAME: OnceLock<Instant> = OnceLock::new();
/// Ends the process.
static FINISH: OnceLock<fn() -> !> = OnceLock::new();
static RUNNING: Mutex<Option<EndProgram>> = Mutex::new(None);

/// Ends the running program. Returns false if the program has ended already.
type EndProgram = Box<dyn Fn() -> bool + Send>;

/// Sets the handler, once in a process. `finish` ends the process, after its programs and folders.
pub fn watch(finish: fn() -> !) -> Result<(), Error> {
    let _: Result<(), fn() -> !> = FINISH.set(finish);
    Ok(ctrlc::set_handler(handle)?)
}

fn handle() {
    let is_searching = SEARCHING.load(Ordering::SeqCst);
    if is_searching && CAME.get_or_init(Instant::now).elapsed() > SAME {
        end();
    }
    let is_heard = RUNNING.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(|end| end());
    if !is_searching && !is_heard {
        end();
    }
}

/// Calls `end` at Ctrl-C, in place of the function before.
pub(crate) fn listen(end: EndProgram) {
    *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) = Some(end);
}

/// Begins a search, which Ctrl-C ends.
pub fn begin_search() {
    SEARCHING.store(true, Ordering::SeqCst);
}

/// Ends a search.
pub fn end_search() {
    SEARCHING.store(false, Ordering::SeqCst);
}

/// True if Ctrl-C came during a search.
pub fn has_come() -> bool {
    CAME.get().is_some()
}

/// Ends the process where it is, and leaves nothing behind.
fn end() {
    reap::end_orphans();
    temporary::abandon();
    if let Some(finish) = FINISH.get() {
        finish();
    }
}
