//! Errors of reading a history as a program.

use thiserror::Error;

/// A history that cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProgramError {
    /// The history is empty.
    #[error(
        "the snapshot has no memory history of device {0}: record one with torch.cuda.memory._record_memory_history"
    )]
    NoHistory(u32),
    /// The history contradicts itself.
    #[error("event {event}: {found}, so the history is not that of one allocator")]
    Contradiction {
        /// The index of the event.
        event: u32,
        /// The contradiction.
        found: &'static str,
    },
    /// An address or size that PyTorch's allocator never uses.
    #[error("{bytes} bytes at {address:#x} are not a block or segment of PyTorch's allocator: {expected}")]
    Misplaced {
        /// The address.
        address: u64,
        /// The size.
        bytes: u64,
        /// The rule that addresses and sizes obey.
        expected: &'static str,
    },
    /// More streams or private pools than the replay can number.
    #[error("the history has more than {most} {what}")]
    TooMany {
        /// `streams` or `private pools`.
        what: &'static str,
        /// The largest number supported.
        most: usize,
    },
}
