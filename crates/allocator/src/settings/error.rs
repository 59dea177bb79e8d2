//! PyTorch's errors for settings.

use thiserror::Error;

/// The error for a text that PyTorch rejects, in PyTorch's own words, since people search for them.
///
/// The source location in PyTorch's assertions is left out: it differs from build to build.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct SettingsError {
    message: String,
    thrown: Thrown,
}

/// The C++ exception. The Python exception depends on the caller of the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thrown {
    /// `c10::Error`, or a failed assertion: `RuntimeError`.
    Error,
    /// `c10::ValueError`: `ValueError`.
    ValueError,
    /// `std::invalid_argument`, for a text that is not a number.
    InvalidArgument,
    /// `std::out_of_range`, for a number that does not fit.
    OutOfRange,
    /// `c10::Error` while libraries are loaded: `import torch` ends the process.
    AtLoad,
    /// Releases up to 2.9 read past the last token of a list without `]`. Usually they report a missing comma; the
    /// behaviour is undefined, and may be a crash.
    PastTheEnd,
}

impl SettingsError {
    pub(super) fn new(thrown: Thrown, message: impl Into<String>) -> SettingsError {
        SettingsError { message: message.into(), thrown }
    }

    /// The exception of `TORCH_CHECK`.
    pub(super) fn check(message: impl Into<String>) -> SettingsError {
        SettingsError::new(Thrown::Error, message)
    }

    /// The exception of `TORCH_CHECK_VALUE`.
    pub(super) fn value(message: impl Into<String>) -> SettingsError {
        SettingsError::new(Thrown::ValueError, message)
    }

    /// The same exception, raised while libraries are loaded.
    pub(super) fn at_load(self) -> SettingsError {
        SettingsError { thrown: Thrown::AtLoad, ..self }
    }

    /// PyTorch's message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// PyTorch's exception.
    pub fn thrown(&self) -> Thrown {
        self.thrown
    }
}
