//! Diagnosis: turns a run, a snapshot or a log into the report of `check`, `explain`, `tune` or `fit`.
//!
//! `check` and `explain` fill the same facts, and the same rules read them. Each rule finds one cause and has a file
//! of its own.
//!
//! The modules are layers; none knows a layer above it: `measure` < `judge` < `rules` < `check`, `explain`, `against` < `tune` < `fit` <
//! `sweep`.
//!
//! # Design constraints
//! - Pure: no files, no clock, no environment. The same case leads to the same report.
//! - Measured: every finding is derived from numbers of this run and carries the numbers as evidence.
//! - Bytes that the trace does not show are called unattributed. No other category gets a share of them.

mod against;
mod check;
mod explain;
pub mod failure;
mod fit;
mod judge;
mod measure;
mod meter;
mod now;
mod real;
mod rules;
mod sweep;
#[cfg(test)]
mod testing;
pub mod top;
mod tune;

pub use against::{AgainstCase, AgainstRun, against};
pub use check::{CheckCase, Diagnosis, check};
pub use explain::{ExplainCase, ExplainInput, Explanation, InputContents, explain};
pub use fit::{
    Allowed, BatchRun, BatchSearch, Bench, Depth, Ending, FitCase, FitRuns, FoundPlans, LineBytes, ReplayableRun,
    Runner, Search, StepTimes, Trial, Unconfirmed, Variant, find_largest, fit, fit_stopped, settings_by_replay, trial,
};
pub use judge::outcome::Outcome;
pub use judge::recorded::{RecordedRun, Runs};
pub use judge::sharing::part_of_shared;
pub use judge::surroundings::Surroundings;
pub use judge::{changed, ending, halt, launchers};
pub use meter::Meter;
pub use now::measure_now;
pub use real::Real;
pub use real::retry::{FullDevice, NoRetry, describe_plan, list_real_plans};
pub use sweep::{LinePoint, PointAnswer, Setter, SetterError, SweepGpu, SweepLine, find_setters};
pub use tune::{EmptyCacheAt, Gpu, TuneCase, TuneError, Tuning, Watch, tune};
