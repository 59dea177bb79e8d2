//! `cache-flushed`: the program continued only because PyTorch emptied its cache.
//!
//! Role retries, order 240.

use causes::CauseId;
use report::{Finding, Severity};

use crate::rules::facts::input::Facts;
use crate::rules::facts::known::bytes;
use crate::rules::rule::{Cause, Check, Rank, Rule};

pub(super) const RULE: Rule = Rule { cause: CauseId::CacheFlushed, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    let known = facts.retries.filter(|retries| retries.value > 0 && !facts.is_fatal())?;
    let retries = known.value;
    let times = if retries == 1 { "once".to_owned() } else { format!("{retries} times") };
    let mut evidence = vec![known.row("num_alloc_retries")];
    evidence.extend(facts.peak.reserved.map(|reserved| reserved.row("reserved at the peak")));
    let need = facts.need.as_ref();
    evidence.extend(need.map(|need| bytes("used on a device of any size", need.value.bytes, need.source)));
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: Severity::Warning,
        message: format!(
            "the program fits only because PyTorch emptied its cache {times}; each time waits for the device"
        ),
        location: None,
        evidence,
        remedies: Vec::new(),
    };
    Some(Cause { finding, bytes: None, rank: Rank::Aside, removal: None })
}
