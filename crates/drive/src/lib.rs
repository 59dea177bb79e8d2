//! Performs runs of programs on a phantom GPU: processes, guards, the fork server, the run cache.
//!
//! # Design constraints
//! - Prints nothing: remarks and progress go to the [`RunListener`](events::RunListener) of the caller.
//! - Knows no command line and no report.
//! - Decides nothing about a run that `run` decides: conditions, environment, the next run, the order of trials.
//!
//! The folders are layers; none knows a folder behind it: `cleanup` < `guard` < `process` < `dry_run`.

#![allow(rustdoc::broken_intra_doc_links, reason = "the headings of notes are in brackets, and are no items")]

pub mod cleanup;
pub mod dry_run;
pub mod engine;
mod entry_point;
pub mod environment;
pub mod forecasts;
pub mod guard;
pub mod live;
pub mod machine;
pub mod process;
mod python;
pub mod records;
pub mod run_folder;
pub mod slurm;
pub mod start_error;
pub mod unpack;

pub use dry_run::program::{Program, ProgramRequest};
pub use dry_run::record::{Recording, record, record_to_end};
pub use run_folder::RunDir;
