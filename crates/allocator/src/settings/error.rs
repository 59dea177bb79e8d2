//! Why PyTorch refuses a text.

use thiserror::Error;

/// A text that PyTorch refuses, in PyTorch's own words: people search for them.
///
/// The place in PyTorch's source that its assertions name is left out: it differs from build to build.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct SettingsError {
    message: String,
    thrown: Thrown,
}

/// What PyTorch throws. Which Python exception that becomes depends on who called the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thrown {
    /// `c10::Error`, or a failed assertion: `RuntimeError`.
    Error,
    /// `c10::ValueError`: `ValueError`.
    ValueError,
    /// `std::invalid_argument`, from a number that is none.
    InvalidArgument,
    /// `std::out_of_range`, from a number that does not fit.
    OutOfRange,
    /// `c10::Error` while libraries are loaded: `import torch` is the end of the process.
    AtLoad,
    /// Releases up to 2.9 look behind the last token of a list that is not closed. Mostly they find that no comma
    /// follows; what they find there is undefined, and may be a crash.
    PastTheEnd,
}

impl SettingsError {
    pub(super) fn new(thrown: Thrown, message: impl Into<String>) -> SettingsError {
        SettingsError { message: message.into(), thrown }
    }

    /// What `TORCH_CHECK` throws.
    pub(super) fn check(message: impl Into<String>) -> SettingsError {
        SettingsError::new(Thrown::Error, message)
    }

    /// What `TORCH_CHECK_VALUE` throws.
    pub(super) fn value(message: impl Into<String>) -> SettingsError {
        SettingsError::new(Thrown::ValueError, message)
    }

    /// The same, while libraries are loaded.
    pub(super) fn at_load(self) -> SettingsError {
        SettingsError { thrown: Thrown::AtLoad, ..self }
    }

    /// PyTorch's words.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What PyTorch throws.
    pub fn thrown(&self) -> Thrown {
        self.thrown
    }
}
