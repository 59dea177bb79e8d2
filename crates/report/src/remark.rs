//! A sentence for the reader of a report that is not a finding.

use serde::{Deserialize, Serialize};

/// A remark, one sentence. JSON has its text alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Remark {
    /// The sentence.
    pub text: String,
    /// The weight; a remark that is read back is a note.
    pub weight: Weight,
}

/// The weight of a remark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Without the remark the verdict would be misread: the short report shows it.
    Caveat,
    /// Useful to know.
    Note,
}

impl Remark {
    /// A remark without which the verdict would be misread.
    pub fn caveat(text: String) -> Remark {
        Remark { text, weight: Weight::Caveat }
    }

    /// Any other remark.
    pub fn note(text: String) -> Remark {
        Remark { text, weight: Weight::Note }
    }

    /// Checks for a remark without which the verdict would be misread.
    pub fn is_caveat(&self) -> bool {
        self.weight == Weight::Caveat
    }
}

impl From<String> for Remark {
    fn from(text: String) -> Remark {
        Remark::note(text)
    }
}

impl From<Remark> for String {
    fn from(remark: Remark) -> String {
        remark.text
    }
}
