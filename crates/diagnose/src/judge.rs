//! Judgements about a run, on its records and measures: how each process ended, which requests were not served and what became
//! of them, and which processes count together.
//!
//! The verdict, the rules and the search all ask here; nothing here knows a case or writes a report.

pub(crate) mod caught;
pub mod ending;
pub mod launchers;
pub(crate) mod probes;
pub(crate) mod saves;
pub(crate) mod sharing;
pub(crate) mod unserved;
