//! Errors of reading a history as a program.

use thiserror::Error;

/// A history that cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProgramError {
    /// There is nothing to replay.
    #[error(
        "the snapshot has no memory history of device {0}: record one with torch.cuda.memory._record_memory_history"
    )]
    NoHistory(u32),
    /// Events contradict each other.
    #[error("event {event}: {found}, so the history is not what one allocator did")]
    Contradiction {
        /// Which.
        event: u32,
        /// What is wrong.
        found: &'static str,
    },
    /// Memory where PyTorch's allocator has none.
    #[error("{bytes} bytes at {address:#x} are no block or segment of PyTorch's: {expected}")]
    Place {
        /// Where.
        address: u64,
        /// How many bytes.
        bytes: u64,
        /// What PyTorch's are like.
        expected: &'static str,
    },
    /// More streams or private pools than the replay has numbers for.
    #[error("the history has more than {most} {what}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// The most there may be.
        most: usize,
    },
}
