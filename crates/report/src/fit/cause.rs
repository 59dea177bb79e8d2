//! The mistake behind a program that does not fit, and its mend.

use serde::{Deserialize, Serialize};
use trace::Bytes;

use crate::check::Usage;

/// A mistake in the program. Without it the program fits, or needs less (`mend`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FitCause {
    /// The name of the cause, as `oomph check` names it.
    pub rule: String,
    /// What happens, in one sentence.
    pub what: String,
    /// What to do.
    pub how: String,
    /// The allocated memory with the mistake, and without it; `None` if unknown.
    pub before_bytes: Option<Bytes>,
    /// See `before_bytes`.
    pub after_bytes: Option<Bytes>,
    /// The file of the mistake; empty if unknown.
    pub file: String,
    /// Its line; 0 if unknown.
    pub line: u32,
    /// True if `oomph lint --fix` mends it.
    pub is_mended_by_lint: bool,
    /// The mend, made in a copy of the file with which the program ran; `None` if lint has none, or if the need stayed the same.
    #[serde(default)]
    pub mend: Option<Mend>,
}

/// The mend of a mistake, as it was seen in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mend {
    /// The edits of the file, in the order of the text.
    pub edits: Vec<MendEdit>,
    /// True if the program's results stay the same.
    pub is_safe: bool,
    /// The need of the mended program.
    pub peak: Usage,
    /// True if the mended program fits without a plan.
    pub is_enough: bool,
}

/// The replacement of a range of bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MendEdit {
    /// The offset of the first replaced byte.
    pub start: usize,
    /// The offset after the last replaced byte.
    pub end: usize,
    /// The new text.
    pub text: String,
    /// The line of the file.
    pub line: u32,
    /// The mended line without its indentation; empty if the line is deleted.
    pub mended_line: String,
}
