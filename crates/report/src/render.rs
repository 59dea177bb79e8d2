//! The renderers: one file per format. Each turns a report into text and prints nothing.

mod answer;
pub mod concise;
mod facts;
mod fit;
mod foreign;
pub mod github;
pub mod html;
pub mod json;
mod layout;
mod lint;
pub mod sarif;
pub mod terminal;
mod tune;
mod verdict;
mod words;

pub use fit::{exactness, named};
pub use foreign::clean;
