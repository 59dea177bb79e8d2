//! Shows long work, and writes files.

mod log_lines;
pub(crate) mod patience;
pub(crate) mod progress;
pub(crate) mod publish;
pub(crate) mod run_progress;
pub(crate) mod search_progress;
pub(crate) mod sweep_progress;
pub(crate) mod whole_file;
