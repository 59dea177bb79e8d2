//! `non-pytorch-memory`: this process holds device memory outside PyTorch's allocator.
//!
//! Role surroundings, order 60.

use causes::CauseId;
use report::{Evidence, Finding, Remedy, Severity};
use trace::Bytes;

use crate::rules::advice::advice;
use crate::rules::facts::input::{Facts, Failure};
use crate::rules::rule::{Cause, Check, Rank, Rule};

/// The largest CUDA context with PyTorch's modules, as seen on devices of compute capability 7.0 to 9.0.
const MAX_CONTEXT: Bytes = Bytes::from_mib(700);

pub(super) const RULE: Rule = Rule { cause: CauseId::NonPytorchMemory, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref()?;
    find_unreserved_memory(facts, failure)
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
        remedies: vec![find_library()],
    };
    Some(Cause { finding, bytes: Some(beside - MAX_CONTEXT), rank: Rank::Setting, removal: None })
}

pub(in crate::rules) fn find_library() -> Remedy {
    advice(
        "find the library that holds it",
        "other frameworks (TensorFlow and JAX reserve most of a device by default), CuPy, RAPIDS, TensorRT, NCCL communicators; a context alone \
         takes 0.3 to 0.6 GiB",
    )
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
