//! The renderers: one file per format. Each turns a report into text and prints nothing.

mod answer;
pub mod concise;
mod facts;
mod foreign;
pub mod github;
pub mod html;
pub mod json;
mod layout;
pub mod terminal;
mod tune;
mod verdict;
mod words;

pub use foreign::clean;
