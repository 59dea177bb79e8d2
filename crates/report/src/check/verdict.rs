//! The verdict of `check`.

use serde::{Deserialize, Serialize};
use trace::Bytes;

use crate::condition::Condition;
use crate::size_search::SizeSearch;

/// The verdict. A program that fits cannot lack memory: its spare memory has no sign.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "verdict", rename_all = "lowercase")]
pub enum Verdict {
    /// Every request was served, and the program ran to its end, or its rest is known to repeat what was run.
    Fits {
        /// The device's memory less the peak.
        spare_bytes: Bytes,
        /// The search for a size that fits, if the program ran out on purpose until one did.
        search: Option<SizeSearch>,
    },
    /// Every request of the part that was run was served.
    #[serde(rename = "fits_so_far")]
    FitsSoFar {
        /// The device's memory less the peak.
        spare_bytes: Bytes,
        /// The search for a size that fits, if the program ran out on purpose until one did.
        search: Option<SizeSearch>,
        /// The early end of the program, as a sentence without a full stop.
        stopped: Option<String>,
        /// The conditions under which the rest fits, too.
        conditions: Vec<Condition>,
    },
    /// A request of the program could not be served, whoever caught the error.
    Oom {
        /// The device's memory less the need: negative, unless fragmentation alone is to blame.
        spare_bytes: i64,
        /// The assumed sizes with which the program does not fit, where it fits with other ones.
        assumed: Vec<Condition>,
    },
    /// The program ended before a verdict was possible.
    Incomplete {
        /// The end of the program, as a sentence without a full stop.
        reason: String,
        /// The device's memory less the peak so far.
        spare_bytes: i64,
    },
}

impl Verdict {
    /// True if a request could not be served.
    pub fn is_oom(&self) -> bool {
        matches!(self, Verdict::Oom { .. })
    }

    /// The search for a size that fits, of a program that fits.
    pub fn search(&self) -> Option<&SizeSearch> {
        match self {
            Verdict::Fits { search, .. } | Verdict::FitsSoFar { search, .. } => search.as_ref(),
            Verdict::Oom { .. } | Verdict::Incomplete { .. } => None,
        }
    }

    /// True if the program fits, as far as it was run.
    pub fn is_fit(&self) -> bool {
        matches!(self, Verdict::Fits { .. } | Verdict::FitsSoFar { .. })
    }
}
