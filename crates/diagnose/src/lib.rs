//! Facts of a run, a snapshot or a log to what `check` and `explain` say: peak, breakdown, sites, growth, findings.
//!
//! Both commands fill one set of facts, which one set of rules looks at: a cause is one rule, in one file.
//!
//! # Design constraints
//! - Pure: no files, no clock, no environment. The same case gives the same report.
//! - Measured or silent: a finding is made only from numbers of this run, and carries them.
//! - What the trace does not account for is called unattributed, never spread over what it does.

mod case;
mod check;
mod explain;
mod fit;
mod measure;
mod notes;
mod replayed;
mod rules;
mod tune;
mod verdict;

pub use case::Case;
pub use check::check;
pub use explain::{Contents, ExplainCase, ExplainInput, explain};
pub use fit::{
    Allowed, BatchRun, BatchSearch, Ending, FitCase, Recording, Search, Trial, Variant, depends_on_chance, fit,
    settings_by_replay, trial, with_fresh_run, with_times,
};
pub use measure::sharing::others_of_shared;
pub use rules::{Rule, rules};
pub use tune::{EmptyCacheAt, Gpu, TuneCase, TuneError, Watch, tune, with_measured};
