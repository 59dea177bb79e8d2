//! The reasons for which a change is left to the user.

use thiserror::Error;

/// Why a change is not made in the source.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum Why {
    #[error("no statement stands on line {0}")]
    NoStatement(u32),
    #[error("line {line} has no call of {wanted}")]
    NoCall { line: u32, wanted: String },
    #[error("line {line} has {count} calls of {wanted}; expected one")]
    Several { line: u32, wanted: String, count: usize },
    #[error("the call on line {0} is in a comprehension, a generator or a lambda")]
    Deferred(u32),
    #[error("the call on line {0} unpacks its arguments, which may hold `{1}` already")]
    Unpacked(u32, String),
    #[error("line {0} holds more than one statement")]
    SharedLine(u32),
    #[error("`{0}` is a name of something else in this file")]
    NameTaken(String),
    #[error("{0}")]
    Unfit(String),
}

impl Why {
    /// The same reason, with its lines mapped by `line`.
    pub(crate) fn at(&self, line: impl Fn(u32) -> u32) -> Why {
        match self.clone() {
            Why::NoStatement(at) => Why::NoStatement(line(at)),
            Why::NoCall { line: at, wanted } => Why::NoCall { line: line(at), wanted },
            Why::Several { line: at, wanted, count } => Why::Several { line: line(at), wanted, count },
            Why::Deferred(at) => Why::Deferred(line(at)),
            Why::Unpacked(at, name) => Why::Unpacked(line(at), name),
            Why::SharedLine(at) => Why::SharedLine(line(at)),
            other => other,
        }
    }
}
