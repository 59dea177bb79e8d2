//! Errors of a pickle, with their offset.

use thiserror::Error;

/// The error of a pickle, and the instruction that caused it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("byte {offset} of the pickle: {kind}")]
pub struct PickleError {
    /// The offset of the instruction, counted from 0.
    pub offset: u64,
    /// The error.
    pub kind: PickleErrorKind,
}

/// An error in a pickle.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PickleErrorKind {
    /// An instruction needs more bytes than the input has.
    #[error("the input ends too early: {needed} more bytes were expected, {left} are left")]
    Truncated {
        /// The number of bytes needed; for a line of text, one more than are left.
        needed: u64,
        /// The number of bytes left.
        left: usize,
    },
    /// No protocol has this instruction: the input is damaged, or not a pickle.
    #[error("{0:#04x} is not a pickle instruction")]
    UnknownOpcode(u8),
    /// An instruction that plain data does not need.
    #[error("{opcode} is refused: it would import, build or call something, and only plain data is read")]
    Refused {
        /// The name in Python's `pickletools`.
        opcode: &'static str,
    },
    /// A protocol that Python does not have yet.
    #[error("protocol {0} is unknown; 0 to 5 are read")]
    Protocol(u8),
    /// An instruction needs a value, and the stack is empty.
    #[error("a value was expected on the stack and there is none")]
    StackEmpty,
    /// An instruction needs a mark, and the stack has none.
    #[error("a mark was expected on the stack and there is none")]
    NoMark,
    /// A value was added to a container of another kind, or to no container.
    #[error("expected a {expected} to add to, found a {found}")]
    WrongTarget {
        /// The kind that the instruction needs.
        expected: &'static str,
        /// The kind on the stack.
        found: &'static str,
    },
    /// A dict got a key without a value.
    #[error("{0} keys and values are not pairs")]
    OddPairs(usize),
    /// A memo entry is used before it is set.
    #[error("memo entry {0} does not exist")]
    MemoMissing(u64),
    /// A memo entry has a number above the bytes read so far, or the memo is full.
    #[error("memo entry {0} is numbered higher than those of any pickler")]
    MemoIndex(u64),
    /// An integer longer than 16 bytes.
    #[error("an integer of {bytes} bytes; at most 16 are read")]
    IntTooLarge {
        /// The number of bytes.
        bytes: usize,
    },
    /// A length below zero.
    #[error("the length {0} is negative")]
    NegativeLength(i32),
    /// A malformed number in text form.
    #[error("`{0}` is not a number")]
    BadNumber(String),
    /// A string in text form without its quotes.
    #[error("a quoted string was expected")]
    BadQuotes,
    /// A string or number longer than the limit for all text together.
    #[error("a value of {length} bytes; at most {limit} are read")]
    TooLong {
        /// The length in bytes, or the length read so far.
        length: u64,
        /// The limit.
        limit: usize,
    },
    /// More elements of some kind than any snapshot has.
    #[error("more than {limit} {what}")]
    TooMany {
        /// The limit.
        limit: usize,
        /// The kind of element.
        what: &'static str,
    },
    /// Reading the input failed.
    #[error("reading the input failed: {0}")]
    Read(String),
}

impl PickleErrorKind {
    /// Adds the offset.
    pub(super) fn at(self, offset: u64) -> PickleError {
        PickleError { offset, kind: self }
    }
}
