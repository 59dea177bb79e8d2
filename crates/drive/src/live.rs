//! Reads a running program of `oomph run` from outside: the recordings and records in its folder.
//!
//! The program takes no part: the recording is a mapped file, which is whole at any instant (Note `[Recording]` in `crates/wire/src/recording.rs`).

pub(crate) mod capture;
pub mod find;
pub mod now;
pub mod publish;
mod server;
pub mod snapshots;
pub mod trackers;
pub(crate) mod watch;

use std::io;
use std::thread::{self, JoinHandle};

use nix::sys::signal::{SigSet, SigmaskHow};

/// Starts a thread that no signal reaches: a signal to oomph is for the thread that waits for signals, and would end oomph in another.
fn start_thread(work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    let before = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
    let started = thread::Builder::new().spawn(work);
    before.thread_set_mask()?;
    started
}
