//! Leaves nothing behind: temporary folders, processes, journals, at every end of this process.

pub(crate) mod reap;
pub(crate) mod scratch;
pub mod temporary;
pub mod watchdog;

/// Ends all programs below this process and removes its temporary folders, before the process ends at a signal.
pub fn leave_nothing() {
    reap::end_orphans();
    temporary::abandon();
}
