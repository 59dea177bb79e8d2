//! The base of all commands, on every system: the errors of runs, Ctrl-C, the events of runs, the reader of run directories.
//!
//! # Design constraints
//! - Starts no program, and writes no file.
//! - Names no system but in `interrupt` (how Ctrl-C comes) and `signal_mask` (proc(5)).
//! - Prints nothing.

pub mod error;
pub mod events;
pub mod interrupt;
pub mod run_dir;
pub mod signal_mask;
mod tracker;
pub mod words;

pub use error::{Error, MachineError, SetupError, SlurmError};
pub use tracker::TrackerTarget;
pub use words::Words;
