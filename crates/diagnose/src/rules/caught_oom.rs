//! `caught-oom`: the allocator gave up and the program, or a library, went on regardless.

use report::{Evidence, Finding, Location, RuleId, Severity, Value, Verdict};
use trace::{Bytes, Record};

use super::{Facts, bytes, count};
use crate::measure::own::is_own;
use crate::measure::records::{last_oom, script_dir};

pub(super) fn find(facts: &Facts) -> Vec<Finding> {
    let process = facts.view.process;
    let Some(Record::Oom {
        requested_bytes,
        step,
        phase,
        frames,
        ..
    }) = last_oom(process)
    else {
        return Vec::new();
    };
    if facts.report.verdict == Verdict::Oom {
        return Vec::new();
    }
    let ooms = process
        .records
        .iter()
        .filter(|record| matches!(record, Record::Oom { .. }));
    let times = u64::try_from(ooms.count()).unwrap_or(u64::MAX);
    let line = frames
        .iter()
        .find(|(_, file, _)| is_own(file, script_dir(process)));
    let when = Value::Text(format!("step {step}, {phase}"));
    vec![Finding {
        rule: RuleId("caught-oom"),
        severity: Severity::Warning,
        message: "an out-of-memory error was raised and caught, and the program went on".to_owned(),
        location: line.map(|(_, file, line)| Location {
            file: file.clone(),
            line: *line,
            column: None,
        }),
        evidence: vec![
            count(
                "out-of-memory errors",
                times,
                "the allocator's out-of-memory observer",
            ),
            bytes(
                "last request",
                Bytes(*requested_bytes),
                "the allocator's out-of-memory observer",
            ),
            Evidence {
                what: "last at".to_owned(),
                value: when,
                source: "the agent's mark",
            },
        ],
        remedies: Vec::new(),
    }]
}
