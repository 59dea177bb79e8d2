//! The renderers: one file per format. Each turns a report into text and prints nothing.

pub mod concise;
pub mod json;
mod layout;
pub mod terminal;
