//! `cache-flushed`: the program went on only because PyTorch emptied its cache, which is slow.

use report::{Finding, RuleId, Severity};

use super::{Cause, Rank, bytes, count};
use crate::facts::Facts;

pub(super) fn find(facts: &Facts) -> Option<Cause> {
    let retries = facts.retries;
    if retries == 0 || facts.fatal {
        return None;
    }
    let times = if retries == 1 { "once".to_owned() } else { format!("{retries} times") };
    let mut evidence = vec![
        count("num_alloc_retries", retries, facts.retries_source),
        bytes("reserved at the peak", facts.reserved_peak, facts.retries_source),
    ];
    evidence.extend(facts.need.map(|need| bytes("taken where there is room", need, "the run without a limit")));
    let finding = Finding {
        rule: RuleId("cache-flushed"),
        severity: Severity::Warning,
        message: format!("it fits only because PyTorch emptied its cache {times}; every time waits for the device"),
        location: None,
        evidence,
        remedies: Vec::new(),
    };
    Some(Cause { finding, bytes: None, rank: Rank::Aside })
}
