//! The rules: one file each, named after what it finds. A rule looks at the facts and finds something or nothing.

mod cache_flushed;
mod caught_oom;
mod fragmentation;
mod gradients_alive_in_forward;
mod growing_memory;
mod need_exceeds_device;
mod one_huge_request;
mod optimizer_state;
mod shared_device;
mod value_dependent_shape;

use report::{CheckReport, Evidence, Finding, Value};
use trace::Bytes;

use crate::case::Case;
use crate::measure::view::View;

/// What rules look at.
#[derive(Clone, Copy)]
pub(crate) struct Facts<'a> {
    /// The case.
    pub(crate) case: &'a Case,
    /// The device that the report is about.
    pub(crate) view: &'a View<'a>,
    /// What was measured on it; its findings are still empty.
    pub(crate) report: &'a CheckReport,
}

type Rule = fn(&Facts) -> Option<Finding>;

/// Every rule that finds one thing, the most telling first.
const RULES: [Rule; 9] = [
    one_huge_request::find,
    fragmentation::find,
    growing_memory::find,
    need_exceeds_device::find,
    shared_device::find,
    gradients_alive_in_forward::find,
    optimizer_state::find,
    cache_flushed::find,
    caught_oom::find,
];

/// What is wrong, the most serious first; among equals in the order of the rules.
pub(crate) fn findings(facts: &Facts) -> Vec<Finding> {
    let mut findings: Vec<Finding> = RULES.iter().filter_map(|rule| rule(facts)).collect();
    findings.extend(value_dependent_shape::find(facts));
    findings.sort_by_key(|finding| finding.severity);
    findings
}

/// A fact that is an amount of memory.
fn bytes(what: &str, bytes: Bytes, source: &'static str) -> Evidence {
    Evidence { what: what.to_owned(), value: Value::Bytes(bytes), source }
}

/// A fact that is a number of things.
fn count(what: &str, count: u64, source: &'static str) -> Evidence {
    Evidence { what: what.to_owned(), value: Value::Count(count), source }
}
