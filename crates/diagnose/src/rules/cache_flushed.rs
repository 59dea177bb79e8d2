//! `cache-flushed`: the program went on only because PyTorch emptied its cache, which is slow.

use report::{Finding, RuleId, Severity, Verdict};

use super::{Facts, bytes, count};
use crate::measure::records::stats;

pub(super) fn find(facts: &Facts) -> Option<Finding> {
    let view = facts.view;
    let retries = stats(view.process, view.device).map(|stats| stats.alloc_retries).max().unwrap_or_default();
    if retries == 0 || facts.report.verdict == Verdict::Oom {
        return None;
    }
    let times = if retries == 1 { "once".to_owned() } else { format!("{retries} times") };
    Some(Finding {
        rule: RuleId("cache-flushed"),
        severity: Severity::Warning,
        message: format!("it fits only because PyTorch emptied its cache {times}; every time waits for the device"),
        location: None,
        evidence: vec![
            count("num_alloc_retries", retries, "memory_stats at the end"),
            bytes("reserved at the peak", facts.report.peak.usage.reserved_bytes, "memory_stats at the end"),
        ],
        remedies: Vec::new(),
    })
}
