//! `small-gpu-fraction`, `mig`, `wsl`: the device is smaller than thought: a fraction was set for this process, it is a
//! slice of a GPU, or Windows keeps a part of it.

use report::{Finding, RuleId, Severity};
use trace::Bytes;

use super::{Cause, Rank, advice, bytes};
use crate::facts::Facts;

/// What `cudaMemGetInfo` states of the slices of A100, H100 and H200, in MiB, to 1 part in 50: 1g.5gb, 1g.10gb, 1g.12gb,
/// 2g.10gb, 2g.20gb, 3g.20gb, 3g.40gb, 4g.20gb (NVIDIA's MIG user guide names them).
const SLICES: [(u64, &str); 3] = [(4864, "1g.5gb"), (9856, "1g.10gb or 2g.10gb"), (20_096, "2g.20gb or 3g.20gb")];

/// What a request may have to reserve beyond itself.
const SEGMENT: Bytes = Bytes::from_mib(20);

pub(super) fn find(facts: &Facts) -> Option<Cause> {
    fraction(facts).or_else(|| refused(facts)).or_else(|| slice(facts))
}

/// The allocator refused although the device had room: only a fraction makes it do so.
fn refused(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref().filter(|failure| facts.fatal && failure.is_allocators())?;
    failure.event?; // A message names the fraction itself.
    let (free, requested) = (failure.free?.nearest, failure.requested?.nearest);
    let reserved = failure.reserved?.nearest;
    if free < requested + SEGMENT {
        return None;
    }
    let finding = Finding {
        rule: RuleId("small-gpu-fraction"),
        severity: facts.severity(),
        message: format!("{requested} was refused at {reserved} reserved although {free} was free: a fraction is set"),
        location: None,
        evidence: vec![
            bytes("free on the device", free, failure.request_source),
            bytes("requested", requested, failure.request_source),
            bytes("reserved", reserved, failure.counters_source),
        ],
        remedies: vec![raise()],
    };
    Some(Cause { finding, bytes: Some(free), rank: Rank::Setting })
}

fn raise() -> report::Remedy {
    advice(
        "raise the fraction",
        "torch.cuda.set_per_process_memory_fraction(1.0), or per_process_memory_fraction in PYTORCH_CUDA_ALLOC_CONF",
    )
}

fn fraction(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref()?;
    let (allowed, total) = (failure.allowed?.nearest, facts.device.total?.nearest);
    let requested = failure.requested?.nearest;
    // Without the fraction all that is free on the device could be had.
    let more = (total - allowed).min(failure.free?.nearest);
    let decides = requested <= failure.free?.nearest;
    let finding = Finding {
        rule: RuleId("small-gpu-fraction"),
        severity: if decides { facts.severity() } else { Severity::Warning },
        message: format!("this process may use {allowed} of the device's {total}"),
        location: None,
        evidence: vec![
            bytes("allowed", allowed, failure.counters_source),
            bytes("device", total, failure.counters_source),
            bytes("free on the device", failure.free?.nearest, failure.counters_source),
            bytes("requested", requested, failure.request_source),
        ],
        remedies: vec![raise()],
    };
    Some(Cause { finding, bytes: Some(more), rank: Rank::Setting })
}

fn slice(facts: &Facts) -> Option<Cause> {
    let total = facts.device.total.filter(|_| facts.failure.is_some())?;
    let alike = |&&(mib, _): &&(u64, &str)| {
        let slice = Bytes::from_mib(mib);
        Bytes(total.nearest.0.abs_diff(slice.0)).0.saturating_mul(50) <= slice.0
    };
    let (_, name) = SLICES.iter().find(alike)?;
    let finding = Finding {
        rule: RuleId("mig"),
        severity: Severity::Info,
        message: format!("the device has {}, as a MIG slice {name} has: it may be a part of a larger GPU", total.nearest),
        location: None,
        evidence: vec![bytes("device", total.nearest, "the error's text")],
        remedies: vec![advice("ask for a larger slice", "nvidia-smi -L names the slices")],
    };
    Some(Cause { finding, bytes: None, rank: Rank::Aside })
}
