//! `caught-oom`: the allocator gave up and the program, or a library, went on regardless.

use report::{Finding, RuleId, Severity};

use super::{Cause, Rank, bytes, count};
use crate::facts::Facts;

pub(super) fn find(facts: &Facts) -> Option<Cause> {
    if facts.fatal {
        return None;
    }
    let last = facts.failure.as_ref()?;
    let finding = Finding {
        rule: RuleId("caught-oom"),
        severity: Severity::Warning,
        message: "an out-of-memory error was raised and caught, and the program went on".to_owned(),
        location: last.location.clone(),
        evidence: vec![
            count("out-of-memory errors", facts.failures, last.request_source),
            bytes("last request", last.requested?.nearest, last.request_source),
        ],
        remedies: Vec::new(),
    };
    Some(Cause { finding, bytes: None, rank: Rank::Aside })
}
