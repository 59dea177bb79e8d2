//! Growth in the log before an error: the program itself printed its memory at each step.

use causes::CauseId;
use report::Finding;
use trace::Bytes;

use crate::rules::advice::advice;
use crate::rules::facts::input::Facts;
use crate::rules::facts::known::{Source, count, text};
use crate::rules::rule::{Cause, Rank};

/// Growth of less than 2/10 of the last figure is no cause.
const LEAST_TENTHS: u64 = 2;

/// Returns the cause that a log of growing figures decides: no step needs more than the first, and something keeps the rest.
pub(super) fn find(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref()?;
    let series = failure.series?;
    let (first, last) = (series.first.nearest, series.last.nearest);
    let grown = last - first;
    if grown < Bytes(last.0 / 10 * LEAST_TENTHS) || failure.missing().is_some_and(|missing| grown < missing) {
        return None;
    }
    let finding = Finding {
        without: None,
        rule: CauseId::GrowingCollection,
        severity: facts.severity(),
        message: format!(
            "the log shows memory that only grows, from {first} to {last} before the error: something keeps the tensors of each step"
        ),
        location: failure.location.clone(),
        evidence: vec![
            count("figures in the log", u64::from(series.count), Source::Message),
            text("grown", grown.to_string(), Source::Message),
        ],
        remedies: vec![
            advice(
                "find the line that keeps them: oomph check SCRIPT, or lint",
                "oomph check --gpu NAME SCRIPT names the line and what stays of each step; it needs no GPU",
            ),
            advice(
                "keep numbers, not tensors: .item(), .detach().cpu()",
                "a loss, an output or a metric that is kept keeps its graph, too",
            ),
        ],
    };
    Some(Cause { finding, bytes: Some(grown), rank: Rank::Fault, removal: None })
}
