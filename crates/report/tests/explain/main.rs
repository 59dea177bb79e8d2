//! The renderers of `explain`: pages written by hand, and what holds for all reports.
#![expect(clippy::unwrap_used, reason = "test")]

mod foreign;
mod formats;
mod golden;
mod page;
#[path = "../reread/mod.rs"]
mod reread;
mod samples;

use report::render::terminal::Look;
use report::render::{Format, Report, render};

fn written(report: &dyn Report, format: Format) -> String {
    render(report, format, Look::default()).unwrap()
}
