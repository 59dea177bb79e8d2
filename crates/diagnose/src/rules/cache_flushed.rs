//! `cache-flushed`: the program continued only because PyTorch emptied its cache.
//!
//! Role retries, order 240.

use causes::CauseId;
use report::{Finding, Severity};

use super::input::Facts;
use super::rule::{Cause, Check, Rank, Rule, When};
use super::shared::{bytes, count};

pub(super) const RULE: Rule = Rule { cause: CauseId::CacheFlushed, when: When::Both, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    let retries = facts.retries;
    if retries == 0 || facts.fatal {
        return None;
    }
    let times = if retries == 1 { "once".to_owned() } else { format!("{retries} times") };
    let mut evidence = vec![
        count("num_alloc_retries", retries, facts.retries_source),
        bytes("reserved at the peak", facts.reserved_peak, facts.retries_source),
    ];
    evidence.extend(facts.need.map(|need| bytes("used on a device of any size", need, "the run without a limit")));
    let finding = Finding {
        rule: RULE.cause,
        severity: Severity::Warning,
        message: format!(
            "the program fits only because PyTorch emptied its cache {times}; each time waits for the device"
        ),
        location: None,
        evidence,
        remedies: Vec::new(),
    };
    Some(Cause { finding, bytes: None, rank: Rank::Aside })
}
