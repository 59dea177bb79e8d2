//! `value-dependent-shape`: the size of a result depends on values, which a dry run does not compute.

use report::{Evidence, Finding, RuleId, Severity, Value, ValueShape};

use super::count;
use crate::facts::Facts;

pub(super) fn find(facts: &Facts) -> Vec<Finding> {
    facts.value_shapes.iter().map(finding).collect()
}

fn finding(shape: &ValueShape) -> Finding {
    let percent = format!("{} % of the elements", shape.fraction * 100.0);
    Finding {
        rule: RuleId("value-dependent-shape"),
        severity: Severity::Info,
        message: format!("the result of {} depends on values: {percent} were assumed to be selected", shape.op),
        // Autograd's own threads have no Python line.
        location: Some(shape.location.clone()).filter(|location| !location.file.is_empty()),
        evidence: vec![
            count("calls", shape.count, "the agent"),
            Evidence { what: "assumed".to_owned(), value: Value::Text(percent), source: "OOMPH_FRACTION" },
        ],
        remedies: Vec::new(),
    }
}
