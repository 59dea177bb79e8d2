//! Leaves nothing behind: temporary folders, processes, journals, at every end of this process.

pub mod interrupt;
pub(crate) mod reap;
pub(crate) mod scratch;
pub mod temporary;
pub mod watchdog;
