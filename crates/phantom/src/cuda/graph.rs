//! Graphs: a capture is a graph of one node that does nothing. Its memory is the allocator's, and that is real.

use super::{Code, INVALID_HANDLE};
use crate::handle::{Handle, Table};
use crate::values::written;

static GRAPHS: Table<()> = Table::new();
static EXECUTABLES: Table<()> = Table::new();

/// The one node that every graph has; programs warn about empty graphs.
pub(crate) const NODE: usize = 0x0D00_0010;

/// Makes a graph.
pub(crate) fn create() -> Handle {
    GRAPHS.insert(())
}

/// Checks that a graph exists.
pub(crate) fn check(graph: Handle) -> Result<(), Code> {
    GRAPHS.with(graph, |()| ()).ok_or(INVALID_HANDLE)
}

/// Ends a graph.
pub(crate) fn destroy(graph: Handle) -> Result<(), Code> {
    GRAPHS.remove(graph).ok_or(INVALID_HANDLE)
}

/// Makes an executable graph of a graph.
pub(crate) fn instantiate(graph: Handle) -> Result<Handle, Code> {
    check(graph)?;
    Ok(EXECUTABLES.insert(()))
}

/// Launches an executable graph: nothing runs, and what its nodes would write is unknown from now on.
pub(crate) fn launch(executable: Handle) -> Result<(), Code> {
    EXECUTABLES.with(executable, |()| ()).ok_or(INVALID_HANDLE)?;
    written::note_anywhere();
    Ok(())
}

/// Ends an executable graph.
pub(crate) fn destroy_executable(executable: Handle) -> Result<(), Code> {
    EXECUTABLES.remove(executable).ok_or(INVALID_HANDLE)
}
