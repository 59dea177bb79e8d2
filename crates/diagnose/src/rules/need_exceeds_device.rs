//! `need-exceeds-device`: the program needs more than the device has, whatever the allocator does.

use report::{Contents, Finding, Remedy, RuleId, Severity, Standing};
use trace::Bytes;

use super::{Cause, Rank, advice, bytes};
use crate::facts::{Facts, Failure};

/// What stays from step to step.
const PERSISTENT: [Contents; 4] =
    [Contents::Parameters, Contents::Gradients, Contents::OptimizerState, Contents::Buffers];
/// More than one part in so many in the cache, and it is not simply full.
const CACHED: u64 = 4;
/// How many parts of the breakdown are named.
const PARTS: usize = 3;

pub(super) fn find(facts: &Facts) -> Option<Cause> {
    if facts.explains { full(facts) } else { measured(facts) }
}

/// What is in use and what was asked for are together more than the device has, and nothing else is in the way.
fn full(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref().filter(|failure| facts.fatal && failure.is_allocators())?;
    let (requested, allocated) = (failure.requested?, failure.allocated?);
    let (room, what, source) = room(facts, failure)?;
    let cached = failure.cached().unwrap_or_default();
    let wanted = allocated + requested;
    if wanted.highest <= room
        || requested.nearest > room
        || cached.nearest.0.saturating_mul(CACHED) > allocated.nearest.0
    {
        return None;
    }
    let mut evidence = vec![
        bytes("allocated", allocated.nearest, failure.counters_source),
        bytes("requested", requested.nearest, failure.request_source),
        bytes(what, room, source),
    ];
    let held = PERSISTENT.map(|contents| (contents, facts.live_bytes(contents)));
    let named = held.iter().filter(|(_, held)| *held > Bytes::ZERO);
    evidence.extend(named.map(|(contents, held)| bytes(contents.words(), *held, "what was live at the error")));
    let finding = Finding {
        rule: RuleId("need-exceeds-device"),
        severity: facts.severity(),
        message: format!(
            "{} in use and {} asked for are more than the {room} that this process can have",
            allocated.nearest, requested.nearest
        ),
        location: failure.location.clone(),
        evidence,
        remedies: vec![
            advice(
                "a smaller batch, if activations fill it",
                "what fills it is in a snapshot, or in oomph check SCRIPT",
            ),
            advice(
                "less for each parameter",
                "a smaller model, 8-bit optimizer state, sharding (FSDP, ZeRO) or offload",
            ),
        ],
    };
    Some(Cause { finding, bytes: failure.missing(), rank: Rank::Need })
}

/// What PyTorch could have had, what that is, and where it is stated.
fn room(facts: &Facts, failure: &Failure) -> Option<(Bytes, &'static str, &'static str)> {
    if let Some(usable) = facts.device.usable {
        return Some((usable, facts.device.usable_is.0, facts.device.usable_is.1));
    }
    // What is free and what is reserved is all that PyTorch can have: a context and others have the rest.
    let free = failure.free.zip(failure.reserved).map(|(free, reserved)| (free + reserved).highest);
    let total = facts.device.total?.nearest;
    Some((free.unwrap_or(total), "free and reserved at the error", failure.counters_source))
}

/// A program that was run without a limit. One that never failed needs less: `cache-flushed` says how.
fn measured(facts: &Facts) -> Option<Cause> {
    let (need, total) = (facts.need?, facts.device.total?.nearest);
    if need <= total || facts.failure.is_none() {
        return None;
    }
    let mut evidence =
        vec![bytes("need", need, "the run without a limit"), bytes("device", total, "the GPU's profile")];
    let parts = facts.breakdown.parts().iter().take(PARTS);
    evidence.extend(parts.map(|part| bytes(part.category.words(), part.bytes, "breakdown at the peak")));
    let name = facts.device.name.unwrap_or("the device");
    let finding = Finding {
        rule: RuleId("need-exceeds-device"),
        severity: Severity::Error,
        message: format!("the program needs {need} and {name} has {total}: {} too little", need - total),
        location: facts.failure.as_ref().filter(|_| facts.fatal).and_then(|failure| failure.location.clone()),
        evidence,
        remedies: smaller_batch(facts).into_iter().collect(),
    };
    Some(Cause { finding, bytes: Some(need - total), rank: Rank::Need })
}

/// Halving the batch halves the activations, where they are what fills the device.
fn smaller_batch(facts: &Facts) -> Option<Remedy> {
    let breakdown = &facts.breakdown;
    let activations = breakdown.bytes_of(Contents::Activations);
    let largest = breakdown.parts().first()?;
    if largest.category != Contents::Activations {
        return None;
    }
    let before = breakdown.total();
    Some(Remedy {
        remedy: "halve the batch".to_owned(),
        standing: Standing::Estimated,
        before_bytes: Some(before),
        after_bytes: Some(before - Bytes(activations.0 / 2)),
        how: "reckoned as if every activation scaled with the batch; with twice the gradient accumulation the \
              effective batch stays the same"
            .to_owned(),
    })
}
