//! The fork server: its protocol, and the schedule of trials in its children.

mod protocol;
mod schedule;

pub use protocol::{Answer, NoAnswer, Request};
pub use schedule::{Schedule, ScheduleEffect, ScheduleEvent};
