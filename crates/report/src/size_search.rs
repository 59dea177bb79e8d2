//! The way in which a program lives with its out-of-memory errors.

use serde::{Deserialize, Serialize};

use crate::finding::Location;

/// A search for a fitting size, or another way out: the program asks, runs out, catches the error, and does the work with less.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SizeSearch {
    /// The name of the decreased number, such as `batch_size`; `None` if no such number was seen.
    pub lowers: Option<String>,
    /// The values with an error, oldest first; empty if unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<u64>,
    /// The value after the last error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<u64>,
    /// The line of the handler.
    pub caught_at: Location,
    /// The number of errors.
    pub errors: u64,
    /// The way in which the program lives with the errors.
    pub recovery: Recovery,
    /// The user's line of the first error; `None` if the stack has no line of the user.
    pub refused_at: Option<Location>,
}

/// The way in which a program lives with an out-of-memory error that it caught.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// The same lines ran again with a smaller size.
    Smaller,
    /// Other lines did the work.
    OtherWay,
    /// The program filled the device to measure it.
    Measured,
}
