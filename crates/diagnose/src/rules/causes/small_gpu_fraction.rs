//! `small-gpu-fraction`: a memory fraction set for this process makes the device smaller than its memory.
//!
//! Role surroundings, order 30.

use causes::CauseId;
use report::{Finding, Location, Remedy, Severity};

use crate::rules::advice::advice;
use crate::rules::facts::input::{Facts, Failure};
use crate::rules::facts::sizes::SEGMENT_SLACK;
use crate::rules::rule::removal::Removal;
use crate::rules::rule::{Cause, Check, Rank, Rule};

pub(super) const RULE: Rule = Rule { cause: CauseId::SmallGpuFraction, check: Check::One(find_fraction) };

/// Finds a fraction that the error states, or that a refusal with enough free memory implies.
pub(super) fn find_fraction(facts: &Facts) -> Option<Cause> {
    stated_fraction(facts).or_else(|| implied_fraction(facts))
}

/// The allocator refused a request although the device had enough free memory; only a fraction explains the refusal.
fn implied_fraction(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref().filter(|failure| failure.is_fatal && failure.is_allocators())?;
    failure.event?; // A message names the fraction itself.
    let (free, requested, reserved) = (failure.free?, failure.requested?, failure.reserved?);
    if free.nearest() < requested.nearest() + SEGMENT_SLACK {
        return None;
    }
    let set = facts.view.and_then(|view| view.trace.process.fraction.as_ref());
    let of = set.map_or_else(String::new, |set| format!(" of {}", set.fraction));
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: facts.severity(),
        message: format!(
            "{} was refused with {} reserved and {} free: a memory fraction{of} is set",
            requested.nearest(),
            reserved.nearest(),
            free.nearest()
        ),
        location: set.map(|set| Location { file: set.file.clone(), line: set.line, column: None }),
        evidence: vec![free.row("free on the device"), requested.row("requested"), reserved.row("reserved")],
        remedies: vec![raise_fraction()],
    };
    let cause = Cause { finding, bytes: Some(free.nearest()), rank: Rank::Setting, removal: None };
    Some(cause.with_removal(Removal::room(reserved.nearest() + free.nearest())))
}

pub(in crate::rules) fn raise_fraction() -> Remedy {
    advice(
        "raise the fraction",
        "torch.cuda.set_per_process_memory_fraction(1.0), or per_process_memory_fraction in PYTORCH_CUDA_ALLOC_CONF",
    )
}

/// The answer to a request that the allocator rejected without asking the device (2.12 and later), where the message has no figures.
pub(in crate::rules) fn of_rejection(facts: &Facts, failure: &Failure) -> Cause {
    let what = failure.requested.map_or_else(|| "a request".to_owned(), |size| size.nearest().to_string());
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: facts.severity(),
        message: format!("the memory fraction of this process refused {what} before the device was asked"),
        location: failure.location.clone(),
        evidence: failure.requested.iter().map(|size| size.row("requested")).collect(),
        remedies: vec![raise_fraction()],
    };
    Cause { finding, bytes: None, rank: Rank::Setting, removal: None }
}

fn stated_fraction(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref()?;
    let (allowed, total) = (failure.allowed?, facts.device.total?);
    let (requested, free) = (failure.requested?, failure.free?);
    // Without the fraction the process could reserve all free memory of the device.
    let more = (total.nearest() - allowed.nearest()).min(free.nearest());
    let decides = requested.nearest() <= free.nearest();
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: if decides { facts.severity() } else { Severity::Warning },
        message: format!("this process may use {} of the device's {}", allowed.nearest(), total.nearest()),
        location: None,
        evidence: vec![
            allowed.row("allowed"),
            total.row("device"),
            free.row("free on the device"),
            requested.row("requested"),
        ],
        remedies: vec![raise_fraction()],
    };
    Some(Cause { finding, bytes: Some(more), rank: Rank::Setting, removal: None })
}
