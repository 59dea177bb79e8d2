//! Reads the refused attempts of a run to reach other processes (Note [Other processes] in `crates/phantom/src/others.rs`).

use std::path::Path;

use trace::run::{Refusal, read_refusals};
use wire::file;

/// The refusals; empty if nothing was noted.
pub(crate) fn read(folder: &Path) -> Vec<Refusal> {
    read_refusals(&std::fs::read(folder.join(file::OTHERS)).unwrap_or_default())
}
