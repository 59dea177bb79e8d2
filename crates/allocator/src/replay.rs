//! Recorded programs, replayed: under their own settings, which must give what was recorded, or under any others.
//!
//! # Note [Program]
//!
//! A history tells what the program asked for and what the allocator did about it. Of that a [`Program`] keeps the
//! program's part: requests, frees, the moments at which blocks came back from other streams, and calls of
//! `empty_cache`, which no entry names (Note `[Releases]`). What the allocator did is kept apart, to be compared.
//!
//! What a program that had run out would have done with the memory is not known. A request that failed is tried again in
//! every replay and given back at once if it succeeds.

mod difference;
mod error;
mod op;
mod outcome;
mod places;
mod read;
mod recorded;
mod releases;
mod run;
mod scaled;
mod script;
mod verify;

pub use self::difference::Difference;
pub use self::error::ProgramError;
pub use self::op::Program;
pub use self::outcome::{FailedAt, Outcome};
pub use self::recorded::{recorded_by, recorded_settings};
pub use self::releases::{Release, releases};
pub use self::run::replay;
pub use self::verify::{Agreement, verify};
