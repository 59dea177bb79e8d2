//! Moves a child of the fork server into a world (Note [World] in `crates/world/src/lib.rs`).

use std::ffi::{CStr, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt as _;

use world::Entered;

use crate::files::without_notes;
use crate::others::without_guard;
use crate::stderr::complain;

/// Enters the world that a file specifies: for the agent, in a process with a single thread. Returns 1 in a world of its own, 2 where the
/// process is confined and keeps its files, 0 where the kernel refused and nothing changed, -1 after an error.
#[unsafe(no_mangle)]
pub extern "C" fn oomph_enter_world(path: *const c_char) -> c_int {
    // SAFETY: the agent passes a C string (Note [Exports] in `boundary`).
    let path = OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes());
    match without_notes(|| without_guard(|| enter(path))) {
        Ok(Entered::Layers) => 1,
        Ok(Entered::Confined) => 2,
        Ok(Entered::Refused) => 0,
        Err(error) => {
            complain(&format!("the run has no world of its own: {error}"));
            -1
        }
    }
}

fn enter(spec: &OsStr) -> Result<Entered, String> {
    let bytes = std::fs::read(spec).map_err(|error| error.to_string())?;
    let spec = world::Spec::read(&bytes).map_err(|error| error.to_string())?;
    world::enter(&spec).map_err(|error| error.to_string())
}
