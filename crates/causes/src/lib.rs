//! The causes as data: one row for each, in `table.rs`.
//!
//! # Note [One row for a cause]
//! A cause has a rule (`crates/diagnose/src/rules/causes`), a page (`docs/rules`) and a case (`tests/causes`, or `tests/blame` for a cause that only a dry run shows). The rule's file opens with the
//! row: name, summary, role and order. `make generate` writes the table from these openings, and the lists that others read: the
//! modules of `diagnose::rules::causes` and the index of the pages.

mod id;
mod lookup;
#[cfg(feature = "schema")]
mod schema;
mod spec;
mod table;

pub use self::id::CauseId;
pub use self::spec::{CauseSpec, Role};
pub use self::table::TABLE;
