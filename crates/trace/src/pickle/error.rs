//! What can be wrong with a pickle, and where.

use thiserror::Error;

/// Why a pickle could not be read, and the instruction at which that was seen.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("byte {offset} of the pickle: {kind}")]
pub struct PickleError {
    /// Counted from 0: where the instruction starts.
    pub offset: u64,
    /// What is wrong there.
    pub kind: PickleErrorKind,
}

/// What is wrong with a pickle.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PickleErrorKind {
    /// An instruction wants more bytes than there are.
    #[error("the input ends too early: {needed} more bytes were expected, {left} are left")]
    Truncated {
        /// How many it wants; for a line of text, one more than there are.
        needed: u64,
        /// How many there are.
        left: usize,
    },
    /// No protocol has this instruction: damaged, or not a pickle.
    #[error("{0:#04x} is not a pickle instruction")]
    UnknownOpcode(u8),
    /// Plain data does not need this instruction.
    #[error("{opcode} is refused: it would import, build or call something, and only plain data is read")]
    Refused {
        /// Its name in Python's `pickletools`.
        opcode: &'static str,
    },
    /// The pickle says it is of a protocol that Python does not have yet.
    #[error("protocol {0} is unknown; 0 to 5 are read")]
    Protocol(u8),
    /// An instruction takes a value and there is none.
    #[error("a value was expected on the stack and there is none")]
    StackEmpty,
    /// An instruction takes all values back to a mark and there is none.
    #[error("a mark was expected on the stack and there is none")]
    NoMark,
    /// Something was to be put into a value that is no container of that kind.
    #[error("expected a {expected} to add to, found a {found}")]
    WrongTarget {
        /// The kind the instruction needs.
        expected: &'static str,
        /// The kind that is there.
        found: &'static str,
    },
    /// A dict was given a key without a value.
    #[error("{0} keys and values are not pairs")]
    OddPairs(usize),
    /// A memo entry is used before it is made.
    #[error("memo entry {0} does not exist")]
    MemoMissing(u64),
    /// A memo entry is numbered higher than the pickle has bytes so far, or there are far too many.
    #[error("memo entry {0} is numbered higher than those of any pickler")]
    MemoIndex(u64),
    /// An integer that no snapshot needs.
    #[error("an integer of {bytes} bytes; at most 16 are read")]
    IntTooLarge {
        /// How many bytes it has.
        bytes: usize,
    },
    /// A length below zero.
    #[error("the length {0} is negative")]
    NegativeLength(i32),
    /// A number in text form that is none.
    #[error("`{0}` is not a number")]
    BadNumber(String),
    /// A string in text form without its quotes.
    #[error("a quoted string was expected")]
    BadQuotes,
    /// A string or number that is longer than all text of a snapshot together may be.
    #[error("a value of {length} bytes; at most {limit} are read")]
    TooLong {
        /// How many bytes it has, or had so far.
        length: u64,
        /// The limit.
        limit: usize,
    },
    /// More of something than any snapshot has.
    #[error("more than {limit} {what}")]
    TooMany {
        /// The limit.
        limit: usize,
        /// Of what.
        what: &'static str,
    },
    /// The input could not be read on.
    #[error("the input could not be read on: {0}")]
    Read(String),
}

impl PickleErrorKind {
    /// The error, with its place.
    pub(super) fn at(self, offset: u64) -> PickleError {
        PickleError { offset, kind: self }
    }
}
