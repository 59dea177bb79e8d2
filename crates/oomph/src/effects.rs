//! Performs what the crate `run` asks for: starts programs, reads run directories, writes files, ends processes.

pub(crate) mod background;
pub(crate) mod downloads;
pub(crate) mod fetched;
pub(crate) mod hosts;
pub(crate) mod interrupt;
pub(crate) mod launch;
pub(crate) mod live_process;
mod log_lines;
pub(crate) mod patience;
pub(crate) mod permission;
pub(crate) mod progress;
pub(crate) mod publish;
pub(crate) mod reap;
pub(crate) mod run_dir;
pub(crate) mod run_progress;
pub(crate) mod scratch;
pub(crate) mod search_progress;
pub(crate) mod temporary;
pub(crate) mod unpack;
pub(crate) mod watchdog;
pub(crate) mod world;
