//! `non-pytorch-memory`: this process holds device memory outside PyTorch's allocator: CUDA's context, NCCL, cuDNN, other
//! libraries, kernels' local memory.

use report::{Evidence, Finding, RuleId, Severity};
use trace::Bytes;
use trace::text::OomKind;

use super::{Cause, Rank, advice, bytes};
use crate::facts::{Facts, Failure};

/// What a context with PyTorch's modules takes at most, as seen on devices of compute capability 7.0 to 9.0.
const CONTEXT: Bytes = Bytes::from_mib(700);

pub(super) fn find(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref()?;
    library(facts, failure).or_else(|| beside(facts, failure))
}

/// A library asked the device itself and was refused.
fn library(facts: &Facts, failure: &Failure) -> Option<Cause> {
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
        rule: RuleId("non-pytorch-memory"),
        severity: facts.severity(),
        message: format!("{who} got no memory of the device, of which PyTorch's allocator may hold all the rest"),
        location: failure.location.clone(),
        evidence: evidence(facts, failure),
        remedies: vec![advice(
            "leave memory for libraries",
            "torch.cuda.set_per_process_memory_fraction below 1 keeps PyTorch's cache from taking all; create handles \
             early (a small matmul, a first all_reduce) before the cache has grown",
        )],
    };
    Some(Cause { finding, bytes: None, rank: Rank::Setting })
}

/// What this process holds of the device beyond what PyTorch reserved.
fn beside(facts: &Facts, failure: &Failure) -> Option<Cause> {
    let beside = (failure.process? - failure.reserved?).lowest;
    if beside <= CONTEXT {
        return None;
    }
    let decides = failure.missing().is_some_and(|missing| beside - CONTEXT >= missing);
    let finding = Finding {
        rule: RuleId("non-pytorch-memory"),
        severity: if decides { facts.severity() } else { Severity::Warning },
        message: format!("{beside} of this process's memory is outside PyTorch's allocator"),
        location: None,
        evidence: evidence(facts, failure),
        remedies: vec![advice(
            "find the library that holds it",
            "other frameworks (TensorFlow and JAX take most of a device unless told not to), CuPy, RAPIDS, TensorRT, NCCL \
             communicators; a context alone takes 0.3 to 0.6 GiB",
        )],
    };
    Some(Cause { finding, bytes: Some(beside - CONTEXT), rank: Rank::Setting })
}

fn evidence(facts: &Facts, failure: &Failure) -> Vec<Evidence> {
    let source = failure.counters_source;
    let stated = [
        ("device", facts.device.total),
        ("free", failure.free),
        ("this process", failure.process),
        ("reserved by PyTorch", failure.reserved),
    ];
    stated.iter().filter_map(|&(what, size)| Some(bytes(what, size?.nearest, source))).collect()
}
