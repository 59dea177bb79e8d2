//! `value-dependent-shape`: the size of a result depends on values, which a dry run does not compute.
//!
//! Role shapes, order 250.

use causes::CauseId;
use report::{Finding, Severity, ValueShape};

use crate::rules::facts::input::Facts;
use crate::rules::facts::known::{Source, count, text};
use crate::rules::rule::{Cause, Check, Rank, Rule};

pub(super) const RULE: Rule = Rule { cause: CauseId::ValueDependentShape, check: Check::Many(find) };

fn find(facts: &Facts) -> Vec<Cause> {
    let findings = facts.value_shapes.iter().map(finding);
    findings.map(|finding| Cause { finding, bytes: None, rank: Rank::Aside, removal: None }).collect()
}

fn finding(shape: &ValueShape) -> Finding {
    let percent = format!("{} % of the elements", shape.fraction * 100.0);
    Finding {
        without: None,
        rule: RULE.cause,
        severity: Severity::Info,
        message: format!("the result of {} depends on values: {percent} were assumed to be selected", shape.op),
        // Autograd's threads have no Python line.
        location: Some(shape.location.clone()).filter(|location| !location.file.is_empty()),
        evidence: vec![count("calls", shape.count, Source::DryRun), text("assumed", percent, Source::FractionOption)],
        remedies: Vec::new(),
    }
}
