//! The cause of a message or a log without a history: its figures, its words and its frames.

mod foreign;
mod joined;
mod logged_growth;
mod numbers;
mod phases;
mod printed;

use super::facts::input::Facts;
use super::rule::Cause;

/// Decides between `causes` where a text says more than they do.
pub(super) fn decide(causes: Vec<Cause>, facts: &Facts) -> Vec<Cause> {
    printed::decide(foreign::decide(numbers::decide(causes, facts), facts), facts)
}
