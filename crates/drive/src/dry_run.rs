//! Dry runs of a program: prepared, performed, performed again as `run::rerun` asks, and judged as a run that leaves something to report.

mod facts;
pub mod failure;
pub mod jobs;
mod own_files;
mod own_options;
pub mod program;
pub mod record;
mod replaced;
pub mod run_cache;
pub(crate) mod server;
pub mod trial_runner;
