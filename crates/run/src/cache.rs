//! The rules by which results of earlier dry runs are reused.
//!
//! # Note [Run cache]
//!
//! The result of a dry run is used again while its inputs are the same:
//! - known before the run: oomph itself, the command line, the folder, the environment, the Python, the GPU, the
//!   conditions. A hash of these names the entry (`key.rs`);
//! - read by the run: every file that was opened or queried and every folder that was listed, by the program, by native
//!   code and by helper processes (Note `[Files looked at]` in the phantom). The entry lists the state of each
//!   (`fingerprint.rs`) and holds while each file is in that state. A user's file counts by its content, an installed
//!   file by its time stamps.
//!
//! A run is not stored if other inputs decide its result: a socket or standard input, a file that changed during the
//! run, a kill, or a shortage of the machine (`lasting.rs`). A program that was seen to depend on chance is forgotten.
//! `crates/drive/src/dry_run/run_cache` reads and writes the files.

mod fingerprint;
mod key;
mod lasting;
mod state;

pub use fingerprint::{Disk, Fingerprint, SearchFacts, Unsure};
pub use key::{ProgramKey, hash, run_key};
pub use lasting::is_lasting;
pub use state::State;
