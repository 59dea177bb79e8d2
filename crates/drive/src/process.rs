//! Processes of programs: started, watched, ended.

pub mod attended;
pub(crate) mod background;
pub mod launch;
pub(crate) mod live_process;
