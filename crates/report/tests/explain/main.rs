//! The renderers of `explain`: pages written by hand, and what holds for all reports.
#![expect(clippy::unwrap_used, reason = "test")]

mod foreign;
mod formats;
mod golden;
mod page;
mod samples;
