//! The contract between the binary, the phantom and the agent: everything that two of them must write alike.
//!
//! The three are built apart: the binary and the phantom from Rust, the agent in Python. They meet in environment variables, in the
//! files of the run directory, and in the phantom's exported functions. Each name, limit and exit status of these stands here once;
//! `make generate` writes `python/oomph/agent/wire.py`, its `records.py` and the table of variables in ARCHITECTURE.md.
//!
//! The crate has no dependencies, reads no file and no variable.

pub mod account;
pub mod digest;
pub mod exit;
pub mod file;
pub mod limit;
pub mod owner;
pub mod profile;
pub mod record;
pub mod recording;
pub mod signal;
pub mod table;
pub mod variable;
