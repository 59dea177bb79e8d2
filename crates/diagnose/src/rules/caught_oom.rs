//! `caught-oom`: the allocator gave up and the program, or a library, went on regardless.

use report::{Finding, RuleId, Severity, Verdict};
use trace::Record;

use super::{Facts, bytes, count};
use crate::measure::oom::refused;

/// Where its figures come from.
const SOURCE: &str = "the allocator's out-of-memory observer";

pub(super) fn find(facts: &Facts) -> Option<Finding> {
    if facts.report.verdict == Verdict::Oom {
        return None;
    }
    let records = &facts.view.process.records;
    let last = refused(facts.view.process)?;
    let times = records.iter().filter(|record| matches!(record, Record::Oom { .. })).count();
    Some(Finding {
        rule: RuleId("caught-oom"),
        severity: Severity::Warning,
        message: "an out-of-memory error was raised and caught, and the program went on".to_owned(),
        location: last.location,
        evidence: vec![
            count("out-of-memory errors", u64::try_from(times).unwrap_or(u64::MAX), SOURCE),
            bytes("last request", last.requested_bytes, SOURCE),
        ],
        remedies: Vec::new(),
    })
}
