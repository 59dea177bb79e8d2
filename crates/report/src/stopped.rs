//! The moment at which oomph stopped a program, in the reports of `check` and `fit`.

use serde::{Deserialize, Serialize};
use trace::Phase;
use trace::run::StopCause;

use crate::finding::Location;

/// The moment at which a program was stopped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stopped {
    /// The cause.
    pub by: StopCause,
    /// The time since the program's start, in seconds.
    pub after_seconds: f64,
    /// The optimizer step under way, counted from 1; `None` if unknown.
    pub step: Option<u32>,
    /// The part of the step; `None` if unknown.
    pub phase: Option<Phase>,
    /// The module whose forward was running; `None` outside of modules.
    pub module: Option<String>,
    /// The innermost line of the user's own code; `None` if unknown.
    pub location: Option<Location>,
}
