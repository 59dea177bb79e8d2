//! Diagnosis: turns a run, a snapshot or a log into the report of `check`, `explain`, `tune` or `fit`.
//!
//! `check` and `explain` fill the same facts, and the same rules read them. Each rule finds one cause and has a file
//! of its own.
//!
//! # Design constraints
//! - Pure: no files, no clock, no environment. The same case gives the same report.
//! - Measured: every finding is derived from numbers of this run and carries the numbers as evidence.
//! - Bytes that the trace does not show are called unattributed. No other category gets a share of them.

mod case;
mod caught;
mod check;
mod draw;
pub mod ending;
mod explain;
mod fit;
pub mod launchers;
mod measure;
mod notes;
mod probes;
mod replayed;
mod rules;
#[cfg(test)]
mod testing;
mod tune;
mod unserved;
mod verdict;

pub use case::{Case, UnlimitedRun};
pub use caught::{Requests, judge_requests};
pub use check::check;
pub use draw::draw;
pub use explain::{ExplainCase, ExplainInput, InputContents, explain};
pub use fit::{
    Allowed, BatchRun, BatchSearch, Ending, FitCase, Recording, Search, Trial, Variant, depends_on_chance, fit,
    settings_by_replay, trial, with_fresh_run, with_times,
};
pub use measure::sharing::others_of_shared;
pub use rules::{Rule, rules};
pub use tune::{EmptyCacheAt, Gpu, TuneCase, TuneError, Watch, tune, with_measured};
