//! `fragmentation`: the allocator held enough free memory for the request, in pieces that were each too small.

use report::{Finding, RuleId, Severity};
use trace::{Bytes, Record};

use super::{Facts, bytes};
use crate::measure::records::last_oom;

/// Where its figures come from.
const SOURCE: &str = "memory_stats at the error";

pub(super) fn find(facts: &Facts) -> Option<Finding> {
    let (Some(oom), Some(Record::Oom { stats, .. })) = (&facts.report.oom, last_oom(facts.view.process)) else {
        return None;
    };
    let (reserved, allocated) = (Bytes(stats.reserved_bytes), Bytes(stats.allocated_bytes));
    let cached = reserved - allocated;
    if oom.requested_bytes == Bytes::ZERO || cached < oom.requested_bytes {
        return None;
    }
    Some(Finding {
        rule: RuleId("fragmentation"),
        severity: Severity::Error,
        message: format!(
            "{} was reserved and free when {} could not be had: no free block was large enough",
            cached, oom.requested_bytes
        ),
        location: oom.location.clone(),
        evidence: vec![
            bytes("reserved", reserved, SOURCE),
            bytes("allocated", allocated, SOURCE),
            bytes("requested", oom.requested_bytes, "the allocator's out-of-memory observer"),
        ],
        remedies: Vec::new(),
    })
}
