//! `non-pytorch-memory`: this process holds device memory outside PyTorch's allocator, or a library was refused memory.
//!
//! Role surroundings, order 60.

use causes::CauseId;
use report::{Evidence, Finding, Severity};
use trace::Bytes;
use trace::text::OomKind;

use super::input::{Facts, Failure};
use super::rule::{Cause, Check, Rank, Rule};
use super::shared::advice;

/// The largest CUDA context with PyTorch's modules, as seen on devices of compute capability 7.0 to 9.0.
const MAX_CONTEXT: Bytes = Bytes::from_mib(700);

pub(super) const RULE: Rule = Rule { cause: CauseId::NonPytorchMemory, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref()?;
    find_refused_library(facts, failure).or_else(|| find_unreserved_memory(facts, failure))
}

/// Finds a library that requested memory from the device directly and was refused.
fn find_refused_library(facts: &Facts, failure: &Failure) -> Option<Cause> {
    let who = match failure.kind {
        OomKind::DeviceCall => "a CUDA call outside PyTorch's allocator",
        OomKind::Context => "a new CUDA context",
        OomKind::Cublas => "cuBLAS",
        OomKind::Cudnn => "cuDNN",
        OomKind::MathLibrary => "a CUDA math library",
        OomKind::Nccl => "NCCL",
        _ => return None,
    };
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: facts.severity(),
        message: format!("{who} was refused device memory; PyTorch's allocator may hold the rest of the device"),
        location: failure.location.clone(),
        evidence: evidence(facts, failure),
        remedies: vec![advice(
            "leave memory for libraries",
            "torch.cuda.set_per_process_memory_fraction below 1 keeps PyTorch's cache from filling the device; create handles \
             early (a small matmul, a first all_reduce) before the cache has grown",
        )],
    };
    Some(Cause { finding, bytes: None, rank: Rank::Setting, removal: None })
}

/// Finds device memory of this process beyond PyTorch's reserved bytes and a context.
fn find_unreserved_memory(facts: &Facts, failure: &Failure) -> Option<Cause> {
    let beside = (failure.process?.value - failure.reserved?.value).lowest;
    if beside <= MAX_CONTEXT {
        return None;
    }
    let decides = failure.missing().is_some_and(|missing| beside - MAX_CONTEXT >= missing);
    let finding = Finding {
        without: None,
        rule: RULE.cause,
        severity: if decides { facts.severity() } else { Severity::Warning },
        message: format!("{beside} of this process's memory is outside PyTorch's allocator"),
        location: None,
        evidence: evidence(facts, failure),
        remedies: vec![advice(
            "find the library that holds it",
            "other frameworks (TensorFlow and JAX reserve most of a device by default), CuPy, RAPIDS, TensorRT, NCCL \
             communicators; a context alone takes 0.3 to 0.6 GiB",
        )],
    };
    Some(Cause { finding, bytes: Some(beside - MAX_CONTEXT), rank: Rank::Setting, removal: None })
}

fn evidence(facts: &Facts, failure: &Failure) -> Vec<Evidence> {
    let stated = [
        ("device", facts.device.total),
        ("free", failure.free),
        ("this process", failure.process),
        ("reserved by PyTorch", failure.reserved),
    ];
    stated.iter().filter_map(|&(what, size)| Some(size?.row(what))).collect()
}
