//! Reads the connections of a run, noted by the phantom (Note [Connections] in `crates/phantom/src/files/network.rs`).

use std::path::Path;

use trace::run::{Host, read_hosts};
use wire::file;

/// The hosts to which the program connected; empty if nothing was noted.
pub(crate) fn read(folder: &Path) -> Vec<Host> {
    read_hosts(&std::fs::read(folder.join(file::HOSTS)).unwrap_or_default())
}
