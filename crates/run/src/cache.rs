//! Which results of earlier dry runs still hold.
//!
//! # Note [Run cache]
//!
//! The result of a dry run is used again while everything that decides it is the same:
//! - known before the run: oomph itself, the command line, the folder, the environment, the Python, the GPU, the conditions. A hash
//!   of these names the entry (`key.rs`);
//! - read by the run: every file that was opened or asked for and every folder that was listed, by the program, by native code and
//!   by helper processes (Note `[Files looked at]` in the phantom). The entry lists the state of each (`fingerprint.rs`) and holds
//!   while each file is in that state. A user's file counts by its content, an installed file by its time stamps.
//!
//! A run is not stored where these do not decide its result: it used a socket or standard input, a file that it read changed
//! meanwhile, it was killed, or the machine ran short of something (`lasting.rs`). A program that was seen to depend on chance is
//! forgotten. `crates/oomph/src/dry_run/run_cache` reads and writes the files.

mod fingerprint;
mod key;
mod lasting;
mod state;

pub use fingerprint::{Disk, Fingerprint, SearchFacts, Unsure};
pub use key::{ProgramKey, hash, run_key};
pub use lasting::is_lasting;
pub use state::State;
