//! Dry runs of a program: prepared, performed, performed again as `run::rerun` asks, and judged as a run that leaves something to report.
//!
//! This folder asks `effects` for each start and each file; nothing in `effects` knows a program.

pub(crate) mod failure;
pub(crate) mod outside;
pub(crate) mod program;
pub(crate) mod record;
pub(crate) mod run_cache;
pub(crate) mod server;
