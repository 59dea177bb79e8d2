//! Texts from a crash: error messages in logs, and the tables that PyTorch and `nvidia-smi` print.
//!
//! [`read`] finds all of them in any text. It never fails: a text without any gives an empty list.

mod anchor;
mod artifact;
mod automaton;
mod clause;
mod decode;
mod dedup;
mod line;
mod look_alike;
mod mention;
mod message;
mod normalize;
mod nvidia_smi;
mod reader;
mod size;
mod stated;
mod stats;
mod summary;
mod traceback;

pub use self::artifact::{Artifact, Framework, OomKind, OtherProcess, Refusal, StatedOom};
pub use self::decode::is_utf16;
pub use self::look_alike::{LookAlike, OtherFramework};
pub use self::nvidia_smi::{MigDevice, NvidiaSmi, SmiGpu, SmiProcess};
pub use self::stated::StatedBytes;
pub use self::stats::MemoryStats;
pub use self::summary::{Amount, MemorySummary, Metric, PoolSize, SummaryRow};

/// Finds everything in `text`, in order. UTF-16 is decoded if there is a byte order mark (Windows PowerShell writes
/// UTF-16 on redirection); bytes that are not UTF-8 are noise.
pub fn read(text: &[u8]) -> Vec<Artifact> {
    reader::read(&decode::to_utf8(text))
}
