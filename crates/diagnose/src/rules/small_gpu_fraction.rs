//! `small-gpu-fraction`, `mig`, `wsl`: the device is smaller than thought: a fraction was set for this process, it is a
//! slice of a GPU, or Windows keeps a part of it.

use report::{Finding, RuleId, Severity};
use trace::Bytes;

use super::{Cause, Rank, advice, bytes};
use crate::facts::Facts;

/// What `cudaMemGetInfo` states of MIG slices, in MiB (names as in NVIDIA's MIG user guide). Left out are those that a whole
/// GPU has too: 2g.10gb (RTX 3080), 3g.40gb (A100 with 40 GB).
const SLICES: [(u64, &str); 3] = [(4864, "1g.5gb"), (9728, "1g.10gb"), (19_968, "2g.20gb or 3g.20gb")];
/// A size is a slice's if it differs by less than one part in so many.
const ALIKE: u64 = 500;

/// What a request may have to reserve beyond itself.
const SEGMENT: Bytes = Bytes::from_mib(20);

pub(super) fn find(facts: &Facts) -> Option<Cause> {
    fraction(facts).or_else(|| refused(facts)).or_else(|| slice(facts)).or_else(|| windows(facts))
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

/// The device is as large as a slice of a larger one.
fn slice(facts: &Facts) -> Option<Cause> {
    let total = facts.device.total.filter(|_| facts.fatal)?.nearest;
    let alike = |&&(mib, _): &&(u64, &str)| {
        let slice = Bytes::from_mib(mib).0;
        total.0.abs_diff(slice).saturating_mul(ALIKE) <= slice
    };
    let (_, name) = SLICES.iter().find(alike)?;
    let finding = Finding {
        rule: RuleId("mig"),
        severity: facts.severity(),
        message: format!("the device has {total}, as a MIG slice {name} has: it may be a part of a larger GPU"),
        location: None,
        evidence: vec![bytes("device", total, "the error's text")],
        remedies: vec![advice("ask for a larger slice", "nvidia-smi -L names the slices")],
    };
    // The rest of the GPU is more than the slice.
    Some(Cause { finding, bytes: Some(total), rank: Rank::Need })
}

/// Paths of Windows in a traceback of Linux.
fn windows(facts: &Facts) -> Option<Cause> {
    let files = facts.stated.iter().flat_map(|oom| &oom.traceback).map(|frame| frame.file.as_str());
    let mounted = |file: &&str| {
        let drive = file.strip_prefix("/mnt/").and_then(|rest| rest.split_once('/')).map(|(drive, _)| drive);
        drive.is_some_and(|drive| drive.len() == 1 && drive.starts_with(|letter: char| letter.is_ascii_lowercase()))
    };
    let file = files.filter(|_| facts.fatal).find(mounted)?;
    let value = report::Value::Text(file.to_owned());
    let finding = Finding {
        rule: RuleId("wsl"),
        severity: Severity::Info,
        message: "the program ran under WSL, where Windows keeps a part of the device's memory for itself".to_owned(),
        location: None,
        evidence: vec![report::Evidence { what: "a path of WSL".to_owned(), value, source: "the traceback" }],
        remedies: vec![advice(
            "close what draws on the screen, or use another device for it",
            "the driver's system-memory fallback makes programs slow before they fail; nvidia-smi names who uses the device",
        )],
    };
    Some(Cause { finding, bytes: None, rank: Rank::Aside })
}
