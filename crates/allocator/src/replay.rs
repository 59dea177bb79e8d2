//! Replays recorded programs: under their own settings, to verify the model, or under other settings.
//!
//! # Note [Program]
//!
//! A history records the program's operations and the allocator's reactions. A [`Program`] keeps the program's part:
//! requests, frees, the moments at which blocks came back from other streams, and calls of `empty_cache`, which no
//! entry names (Note `[Releases]`). The allocator's part is kept separately, for comparison.
//!
//! The behaviour of a program after a request that failed cannot be known. Every replay repeats a failed request, and
//! frees the block at once if the request succeeds.

mod address_check;
mod difference;
mod edited;
mod error;
mod op;
mod outcome;
mod read;
mod recorded;
mod releases;
mod run;
mod scaled;
mod script;
mod verify;

pub use self::difference::Difference;
pub use self::edited::AllocationChange;
pub use self::error::ProgramError;
pub use self::op::Program;
pub use self::outcome::{FailedAt, ReplayOutcome};
pub use self::recorded::{recorded_by, recorded_settings};
pub use self::releases::{Release, find_releases};
pub use self::run::replay;
pub use self::verify::{Agreement, verify};
