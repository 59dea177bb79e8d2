//! What people have after a crash that is not a snapshot: error messages in logs, and the tables that PyTorch and
//! `nvidia-smi` print.
//!
//! [`read`] finds all of them in any text. It never fails: a text without any gives an empty list.

mod anchor;
mod artifact;
mod automaton;
mod clause;
mod decode;
mod guard;
mod line;
mod look_alike;
mod message;
mod nvidia_smi;
mod reader;
mod same;
mod size;
mod squeeze;
mod stated;
mod stats;
mod summary;
mod traceback;

pub use self::artifact::{Artifact, Framework, OomKind, OtherProcess, Refusal, StatedOom};
pub use self::look_alike::{LookAlike, OtherFramework};
pub use self::nvidia_smi::{MigDevice, NvidiaSmi, SmiGpu, SmiProcess};
pub use self::stated::StatedBytes;
pub use self::stats::MemoryStats;
pub use self::summary::{Amount, MemorySummary, Metric, PoolSize, SummaryRow};

/// Everything that `text` holds, in the order it stands there. UTF-16 is read where a byte order mark says so
/// (Windows PowerShell redirects so); bytes that are no UTF-8 are noise.
pub fn read(text: &[u8]) -> Vec<Artifact> {
    reader::read(&decode::decoded(text))
}
