//! The problems of a file that should be the output of `nvidia-smi -q -x`.

use thiserror::Error;

/// A problem of such a file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SmiError {
    /// The text is not XML.
    #[error("not XML at byte {offset}: {problem}")]
    Xml {
        /// The place in the text.
        offset: u64,
        /// The parser's words.
        problem: String,
    },
    /// The text ends inside an element.
    #[error("the file ends in the middle")]
    Cut,
    /// The elements are nested as no tool of NVIDIA's nests them.
    #[error("the elements are nested too deep")]
    TooDeep,
    /// The XML is about something else.
    #[error("expected the output of `nvidia-smi -q -x`, an element `nvidia_smi_log`{}", found.as_ref().map_or_else(String::new, |found| format!("; found `{found}`")))]
    NotALog {
        /// The outermost element.
        found: Option<String>,
    },
}
