//! The findings and reports of all commands, and their forms: on a terminal, in one line, in GitHub's workflow
//! commands, in JSON, in SARIF, and as a page.
//!
//! # Design constraints
//! - No computation: every number comes from the caller. The crate does layout only (percentages, bars, line breaks).
//! - No input and no output: a renderer returns a `String`; the binary prints it.
//! - A [`Breakdown`] whose parts do not add up cannot be built, hence never shown.
//! - No foreign string has an effect on a terminal or a browser (Note [Foreign text] in `sanitize.rs`).
//! - Without colour nothing is lost: styles decorate words that say the same.

pub mod against;
pub mod breakdown;
pub mod change;
pub mod check;
pub mod condition;
pub mod document;
pub mod effects;
pub mod explain;
pub mod failure;
pub mod finding;
pub mod fit;
pub mod life;
pub mod lint;
pub mod metrics;
pub mod now;
pub mod real_run;
mod remark;
pub mod render;
pub mod resources;
pub mod run_picture;
mod sanitize;
mod size_search;
mod stopped;
pub mod sweep;
pub mod top;
pub mod tune;
pub mod words;

pub use breakdown::{Breakdown, Contents, DoesNotAddUp, Part};
pub use change::{Change, ChangeError};
pub use check::{
    Assumption, Caught, CheckReport, Filling, Gpu, Growth, Keeper, Need, Oom, Peak, Place, Rank, Site, SiteFrame, Then,
    Usage, ValueShape, Verdict,
};
pub use condition::Condition;
pub use finding::{Evidence, Finding, Location, Remedy, RuleId, Severity, SourceLink, Standing, Value, Without};
pub use life::{LifeReport, ScannedBatches, ShortenedLoop, StageUse};
pub use remark::{Remark, Weight};
pub use render::Report;
pub use run_picture::{DevicePicture, RunPicture};
pub use size_search::{Recovery, SizeSearch};
pub use stopped::Stopped;
