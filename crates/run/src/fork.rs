//! The fork server: its protocol, and the schedule of the trials that run as its children.

mod protocol;
mod schedule;

pub use protocol::{Answer, NoAnswer, Request};
pub use schedule::{Schedule, ScheduleEffect, ScheduleEvent};
