//! Judgements about a run, on its records and measures: the end of each process, unserved requests and their
//! consequences, and the processes that count together.
//!
//! The verdict, the rules and the search all ask here; nothing here knows a case or writes a report.

pub(crate) mod caught;
pub mod changed;
pub mod ending;
pub mod halt;
pub mod launchers;
pub(crate) mod made_up;
pub(crate) mod missing_files;
pub(crate) mod outcome;
pub(crate) mod probes;
pub(crate) mod recorded;
mod recovery;
mod requests;
pub(crate) mod sharing;
pub(crate) mod stepping;
pub(crate) mod surroundings;
mod unserved;
