//! Ctrl-C, SIGTERM and SIGHUP, for every command. While a command examines a program, the first signal stops the program, and the command answers
//! with its records so far. Otherwise, and at the second signal, the process ends at once.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use trace::run::StopCause;

use crate::error::Error;
use crate::events::{RunEvent, tell};
#[cfg(unix)]
use crate::signal_mask::ignores;

/// The numbers of the signals on Linux and macOS (signal(7)). On Windows Ctrl-C has the first.
const SIGINT: i32 = 2;
const SIGHUP: i32 = 1;
const SIGTERM: i32 = 15;

/// Signals within this time are a single request: `timeout` and others signal a process and then its group.
const SAME: Duration = Duration::from_millis(300);

static EXAMINING: AtomicBool = AtomicBool::new(false);
/// The first request.
static FIRST: OnceLock<EndRequest> = OnceLock::new();
/// The thread that ends the process.
static ENDING: OnceLock<ThreadId> = OnceLock::new();
/// Ends the process.
static FINISH: OnceLock<fn(i32) -> !> = OnceLock::new();
static RUNNING: Mutex<Option<EndProgram>> = Mutex::new(None);

/// A request to end.
#[derive(Clone, Copy, Debug)]
pub struct EndRequest {
    /// The signal.
    pub signal: i32,
    at: Instant,
}

impl EndRequest {
    /// The cause of the end of a program.
    pub fn cause(&self) -> StopCause {
        match self.signal {
            SIGTERM => StopCause::Terminate,
            SIGHUP => StopCause::Hangup,
            _ => StopCause::Interrupt,
        }
    }
}

/// Tells the wait for a program that its end is wanted.
type EndProgram = Box<dyn Fn() + Send>;

/// Sets the handlers, once in a process. `finish` ends the programs after a signal, removes the folders, and ends the process.
pub fn watch(finish: fn(i32) -> !) -> Result<(), Error> {
    let _: Result<(), fn(i32) -> !> = FINISH.set(finish);
    listen_to_system().map_err(Error::Signals)
}

#[cfg(unix)]
fn listen_to_system() -> io::Result<()> {
    // `nohup` ignores SIGHUP, which is known on Linux alone. Shells ignore SIGINT for what they start with `&`: a signal that is sent all the same
    // is meant.
    let is_heard = |signal: &i32| *signal != SIGHUP || cfg!(target_os = "linux") && !ignores("self", SIGHUP);
    let signals = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(is_heard);
    let mut signals = signal_hook::iterator::Signals::new(signals)?;
    thread::spawn(move || signals.forever().for_each(handle));
    Ok(())
}

#[cfg(windows)]
fn listen_to_system() -> io::Result<()> {
    ctrlc::set_handler(|| handle(SIGINT)).map_err(io::Error::other)
}

fn handle(signal: i32) {
    let is_first = FIRST.get().is_none();
    let first = FIRST.get_or_init(|| EndRequest { signal, at: Instant::now() });
    if !EXAMINING.load(Ordering::SeqCst) || first.at.elapsed() > SAME {
        end(signal);
    }
    if is_first {
        tell(RunEvent::Asked);
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|end| end());
    }
}

/// Calls `end` at the first signal, in place of the function before.
pub fn listen(end: EndProgram) {
    *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) = Some(end);
}

/// Begins the examination of a program, which lasts until the end of the process.
pub fn begin_examination() {
    EXAMINING.store(true, Ordering::SeqCst);
}

/// The first request to end; `None` if none has come.
pub fn asked() -> Option<EndRequest> {
    FIRST.get().copied()
}

/// True if a request has come.
pub fn has_come() -> bool {
    asked().is_some()
}

/// Parks the calling thread while another thread ends the process: errors here are consequences of the end.
pub fn yield_to_end() {
    while ENDING.get().is_some_and(|ending| *ending != thread::current().id()) {
        thread::park();
    }
}

/// Ends the process where it is.
fn end(signal: i32) {
    let _: Result<(), ThreadId> = ENDING.set(thread::current().id());
    if let Some(finish) = FINISH.get() {
        finish(signal);
    }
}
