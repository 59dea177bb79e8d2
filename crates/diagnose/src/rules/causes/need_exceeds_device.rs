//! `need-exceeds-device`: the program needs more memory than the device has, whatever the allocator does.
//!
//! Role need, order 220.

use causes::CauseId;
use report::{Breakdown, Contents, Finding, Remedy, Severity, Standing};
use trace::Bytes;
use trace::text::StatedBytes;

use crate::rules::advice::advice;
use crate::rules::facts::input::{Facts, Failure, NeedFacts, Usable};
use crate::rules::facts::known::{Known, Source, bytes};
use crate::rules::rule::{Cause, Check, Rank, Rule};

/// The categories that stay from step to step.
const PERSISTENT: [Contents; 4] =
    [Contents::Parameters, Contents::Gradients, Contents::OptimizerState, Contents::Buffers];
/// With more than 1/4 of the allocated bytes in the cache, the device is not simply full.
const MAX_CACHED_DENOMINATOR: u64 = 4;
/// The evidence names at most this many parts of the breakdown.
const MAX_PARTS: usize = 3;

pub(super) const RULE: Rule = Rule { cause: CauseId::NeedExceedsDevice, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    match &facts.need {
        Some(need) => find_measured_need(facts, need),
        None => find_full_device(facts),
    }
}

/// Allocated and requested bytes together exceed the memory that PyTorch can reserve, and the cache is small.
fn find_full_device(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref().filter(|failure| failure.is_fatal && failure.is_allocators())?;
    let (requested, allocated) = (failure.requested?, failure.allocated?);
    let Usable { what, bytes: available } = available_memory(facts, failure)?;
    let room = available.value;
    let cached = failure.cached().unwrap_or_default();
    let wanted = allocated.value + requested.value;
    if wanted.highest <= room
        || requested.nearest() > room
        || cached.nearest.0.saturating_mul(MAX_CACHED_DENOMINATOR) > allocated.nearest().0
    {
        return None;
    }
    let mut evidence = vec![allocated.row("allocated"), requested.row("requested"), available.row(what)];
    let held = PERSISTENT.map(|contents| (contents, facts.live_bytes(contents)));
    let named = held.iter().filter(|(_, held)| *held > Bytes::ZERO);
    evidence.extend(named.map(|(contents, held)| bytes(contents.words(), *held, Source::LiveAtError)));
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: facts.severity(),
        message: format!(
            "{} allocated and {} requested are more than the {room} available to this process",
            allocated.nearest(),
            requested.nearest()
        ),
        location: failure.location.clone(),
        evidence,
        remedies: need_less(None),
    };
    Some(Cause { finding, bytes: failure.missing(), rank: Rank::Need, removal: None })
}

/// Returns the general advice, with the bytes that the request lacked.
pub(in crate::rules) fn need_less(missing: Option<Bytes>) -> Vec<Remedy> {
    let missing = missing.map_or_else(String::new, |missing| format!(" ({missing} at least are missing)"));
    vec![
        advice(
            &format!("a smaller batch, if activations fill the device{missing}"),
            "a snapshot, or oomph check SCRIPT, shows what fills the device",
        ),
        advice(
            "less memory per parameter: 8-bit optimizer state, offload, sharding",
            "a smaller model, bitsandbytes' AdamW8bit, FSDP or DeepSpeed ZeRO",
        ),
    ]
}

/// Returns the memory that PyTorch can reserve.
fn available_memory(facts: &Facts, failure: &Failure) -> Option<Usable> {
    // PyTorch can reserve the free and the reserved bytes; a context and other processes hold the rest.
    let at_error = |total: Known<StatedBytes>| {
        let free = failure.free.zip(failure.reserved);
        let free = free.map(|(free, reserved)| Known::new((free.value + reserved.value).highest, free.source));
        let bytes = free.unwrap_or(total.to_nearest());
        Usable { what: "free and reserved at the error", bytes }
    };
    facts.device.usable.or_else(|| facts.device.total.map(at_error))
}

/// The need, measured without a limit, exceeds the device. Without a failed request, `cache-flushed` applies instead.
fn find_measured_need(facts: &Facts, known: &Known<NeedFacts>) -> Option<Cause> {
    let (need, device) = (known.value.bytes, facts.device.total?);
    let total = device.nearest();
    if need <= total || !facts.is_fatal() {
        return None;
    }
    let mut evidence = vec![bytes("need", need, known.source), device.row("device")];
    let breakdown = known.value.breakdown.as_ref().unwrap_or(&facts.peak.breakdown);
    let parts = breakdown.parts().iter().take(MAX_PARTS);
    evidence.extend(parts.map(|part| bytes(part.category.words(), part.bytes, Source::Breakdown)));
    let name = facts.device.name.unwrap_or("the device");
    let least = if known.value.is_partial { "at least " } else { "" };
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: Severity::Error,
        message: format!("the program needs {least}{need} and {name} has {total}: {least}{} too little", need - total),
        location: facts.failed_at(),
        evidence,
        // Of a program that was not run without a limit, the rest is not known.
        remedies: smaller_batch(breakdown, need, total)
            .filter(|_| has_whole_step(facts, known) && !known.value.is_partial)
            .into_iter()
            .collect(),
    };
    Some(Cause { finding, bytes: Some(need - total), rank: Rank::Need, removal: None })
}

/// True if the need is that of a whole step: a part of the batch that is computed from less may run out later in the step.
fn has_whole_step(facts: &Facts, known: &Known<NeedFacts>) -> bool {
    let is_bound = known.value.is_partial && known.value.breakdown.is_none();
    !is_bound || facts.view.is_some_and(|view| view.trace.process.step_count() > 0)
}

/// The parts of a batch that are tried, with their names.
const BATCHES: [(u64, &str); 4] =
    [(2, "halve the batch"), (4, "a quarter of the batch"), (8, "an eighth of the batch"), (16, "1/16 of the batch")];

/// The largest part of the batch that fits if activations are the largest category: they shrink with the batch.
fn smaller_batch(breakdown: &Breakdown, need: Bytes, total: Bytes) -> Option<Remedy> {
    let activations = breakdown.bytes_of(Contents::Activations);
    let largest = breakdown.parts().first()?;
    if largest.category != Contents::Activations {
        return None;
    }
    let after = |part: u64| need - (activations - Bytes(activations.0 / part));
    let (part, name) = BATCHES.into_iter().find(|(part, _)| after(*part) <= total)?;
    Some(Remedy {
        remedy: name.to_owned(),
        standing: Standing::Estimated,
        before_bytes: Some(need),
        after_bytes: Some(after(part)),
        how: format!(
            "estimated as if every activation scaled with the batch; in training, {} the gradient accumulation keeps the \
             effective batch",
            if part == 2 { "twice".to_owned() } else { format!("{part} times") }
        ),
    })
}
