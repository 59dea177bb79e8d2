//! The conditions under which the rest of a program fits, too.

use serde::{Deserialize, Serialize};
use trace::Bytes;

use crate::finding::Location;

/// A condition of a program that fits so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Condition {
    /// A call that the program makes later was not run.
    NotRun {
        /// The function's name.
        what: String,
        /// The line of the call.
        location: Option<Location>,
    },
    /// A number is larger in later calls.
    Larger {
        /// The number, as the source has it.
        what: String,
        /// The line of the call.
        location: Option<Location>,
    },
    /// The passes of a loop may differ.
    Varying {
        /// The line of the loop; `None` for a library's.
        location: Option<Location>,
    },
    /// A loop was ended early: its passes did not repeat, or its end is not known.
    Cut {
        /// The line of the loop.
        location: Option<Location>,
    },
    /// The source from a line on was not read, because the source is too long or missing.
    Unread {
        /// The first line that was left out.
        location: Option<Location>,
    },
    /// Nothing is known of the later steps.
    LaterSteps,
    /// Steps after the first, with the optimizer's state, were not run.
    OptimizerState,
    /// An optimizer holds parameters that no step trained.
    Untrained {
        /// Their size.
        bytes: Bytes,
    },
    /// An optimizer made no step that trained a parameter.
    NoStep {
        /// The line that made the optimizer.
        location: Option<Location>,
    },
    /// The memory grows, and was not seen to fill the device.
    Growing {
        /// The bytes that a step leaves.
        bytes_per_step: Bytes,
        /// The line that allocates the most of them.
        location: Option<Location>,
        /// The step in which the device is full, if the growth goes on.
        full_at: Option<u32>,
    },
    /// The peak, or the memory after the step, rose in the last step.
    Rising,
    /// A line requests more with every step, and may come to more than the spare memory.
    RisingRequests {
        /// The line.
        location: Option<Location>,
    },
    /// A size depends on values that only a GPU computes.
    Assumed {
        /// The assumed share of selected elements.
        fraction: f64,
        /// The line that selects them.
        location: Option<Location>,
    },
    /// The program read a number that only a GPU computes, and a size may be made of the number.
    Read {
        /// The line that reads.
        location: Option<Location>,
    },
}
