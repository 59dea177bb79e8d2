//! `caught-oom`: an out-of-memory error was caught, and the program continued.

use report::{Finding, RuleId, Severity};

use super::input::Facts;
use super::rule::{Cause, Check, Group, Rank, Rule, When};
use super::shared::{bytes, count};

pub(super) const RULE: Rule = Rule {
    id: RuleId("caught-oom"),
    summary: "an out-of-memory error was caught, and the program continued",
    when: When::Both(Group::Caught),
    check: Check::One(find),
};

fn find(facts: &Facts) -> Option<Cause> {
    if facts.fatal {
        return None;
    }
    let last = facts.failure.as_ref()?;
    let finding = Finding {
        rule: RULE.id,
        severity: Severity::Warning,
        message: "an out-of-memory error was raised and caught, and the program continued".to_owned(),
        location: last.location.clone(),
        evidence: vec![
            count("out-of-memory errors", facts.failures, last.request_source),
            bytes("last request", last.requested?.nearest, last.request_source),
        ],
        remedies: Vec::new(),
    };
    Some(Cause { finding, bytes: None, rank: Rank::Aside })
}
