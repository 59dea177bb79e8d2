//! Processes of programs: started, watched, ended.

pub mod attended;
pub(crate) mod background;
pub mod host;
pub mod launch;
pub(crate) mod live_process;
pub(crate) mod sight;
pub(crate) mod stop;
pub mod table;
