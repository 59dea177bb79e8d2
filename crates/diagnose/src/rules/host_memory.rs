//! `host-memory`: the host's memory ran out, not the device's.
//!
//! Role surroundings, order 70.

use causes::CauseId;
use report::{Evidence, Finding, Remedy};
use trace::text::OomKind;

use super::input::{Facts, Failure};
use super::known::{Source, text};
use super::rule::{Cause, Check, Rank, Rule};
use super::shared::advice;
use super::switches;

pub(super) const RULE: Rule = Rule { cause: CauseId::HostMemory, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref()?;
    let (message, remedy) = match failure.kind {
        OomKind::HostAllocation => ("the host had too little memory for a request of the CPU allocator", smaller()),
        OomKind::Killed => ("the kernel killed a process because the host's memory was full", fewer_workers()),
        OomKind::Ended => {
            ("a process was killed from outside, as the kernel does when the host's memory is full", fewer_workers())
        }
        _ => return None,
    };
    let mut cause = host_cause(RULE.cause, facts, failure, message, remedy);
    cause.finding.remedies.splice(0..0, switches::of_framework(failure.framework));
    Some(cause)
}

/// The cause that a failure of the host's memory amounts to, for `rule`.
pub(super) fn host_cause(rule: CauseId, facts: &Facts, failure: &Failure, message: &str, remedy: Remedy) -> Cause {
    let finding = Finding {
        without: None,
        rule,
        severity: facts.severity(),
        message: message.to_owned(),
        location: failure.location.clone(),
        evidence: evidence(failure),
        remedies: vec![remedy],
    };
    Cause { finding, bytes: None, rank: Rank::Setting, removal: None }
}

fn evidence(failure: &Failure) -> Vec<Evidence> {
    let requested = failure.requested.iter().map(|size| size.row("requested"));
    requested.chain([text("the error", failure.message.clone(), Source::Message)]).collect()
}

fn smaller() -> Remedy {
    advice(
        "request less host memory",
        "check the shape; map files instead of reading them; build the model on the device",
    )
}

fn fewer_workers() -> Remedy {
    advice(
        "fewer DataLoader workers, a smaller prefetch_factor, no copies of the data set in each worker",
        "free -h and dmesg show whether the kernel's OOM killer ended the process; in a container its memory limit counts",
    )
}
