//! The cause of another framework's error.
//!
//! # Note [Other frameworks]
//! An engine for serving checks the memory before loading a model, and states the result: vLLM and SGLang the free bytes and the wanted bytes,
//! Ollama the need of the model. An allocator of another framework states fewer figures than PyTorch's. With a total, a request, and the allocated
//! or the free bytes, the table of Note \[Messages] decides; with fewer figures the cause is unclear.

use causes::CauseId;
use report::{Evidence, Finding, Remedy};
use trace::Bytes;
use trace::text::{Framework, OomKind};

use super::numbers::Numbers;
use crate::rules::advice::switches;
use crate::rules::causes::other_process_memory::{end_them, list_holders};
use crate::rules::facts::input::{Facts, Failure};
use crate::rules::facts::known::{Known, Source, text};
use crate::rules::rule::{Cause, Rank};

/// The memory of a context and a display: an idle device has no more in use.
const IDLE: Bytes = Bytes::from_mib(1024);

/// The answer to an error: a cause, a sentence, and remedies before the framework's own switches.
struct Decision {
    cause: CauseId,
    sentence: String,
    remedies: Vec<Remedy>,
}

/// Replaces the causes by the cause of another framework's error. `nvidia-smi`'s list of processes decides before the words.
pub(super) fn decide(mut causes: Vec<Cause>, facts: &Facts) -> Vec<Cause> {
    let Some(failure) = facts.failure.as_ref().filter(|failure| failure.is_fatal && failure.kind == OomKind::Foreign)
    else {
        return causes;
    };
    causes.retain(|cause| cause.finding.rule == CauseId::OtherProcessMemory && facts.card.is_some());
    if causes.is_empty() {
        causes.push(to_cause(answer(failure, facts), failure, facts));
    }
    causes
}

fn answer(failure: &Failure, facts: &Facts) -> Decision {
    let total = facts.device.total.map(Known::nearest);
    match failure.framework {
        Framework::Vllm => of_vllm(failure, total),
        Framework::Sglang => of_sglang(failure),
        Framework::Ollama => of_ollama(failure),
        Framework::TensorRtLlm if failure.message.contains("insufficient GPU memory") => of_executor(failure, total),
        _ => of_numbers(failure, total),
    }
}

fn of_executor(failure: &Failure, total: Option<Bytes>) -> Decision {
    let size = |known: Option<Known<_>>| {
        known.map_or_else(|| "less than it needs".to_owned(), |known| known.nearest().to_string())
    };
    let total = total.map_or_else(String::new, |total| format!(" of {total}"));
    need(format!(
        "the executor could not be created: the components before it leave {}{total} free",
        size(failure.free)
    ))
}

fn of_vllm(failure: &Failure, total: Option<Bytes>) -> Decision {
    let size = |known: Option<Known<_>>| known.map(Known::nearest);
    match (size(failure.free), total, size(failure.allowed), size(failure.requested)) {
        (Some(free), Some(total), Some(wanted), _) => of_start(free, total, wanted),
        (free, _, _, Some(needed)) => {
            let left = free.map_or_else(|| "less is".to_owned(), |free| format!("{free} are"));
            need(format!(
                "one request of the full length needs {needed} of KV cache, and {left} available after weights and activations"
            ))
        }
        _ if failure.message.contains("memory profiling") => {
            unclear("free memory changed while vLLM measured its own: another process freed or took memory".to_owned())
        }
        _ => need("weights and activations leave no memory for the KV cache".to_owned()),
    }
}

/// Decides about an engine that compares the free memory with a share of the device before loading.
fn of_start(free: Bytes, total: Bytes, wanted: Bytes) -> Decision {
    let held = total - free;
    if free + IDLE < Bytes(total.0 / 10 * 9) {
        let sentence = format!(
            "other processes hold {held} of the device's {total}: {free} were free at the start, and vLLM asks for {wanted}"
        );
        return Decision { cause: CauseId::OtherProcessMemory, sentence, remedies: vec![end_them(Framework::Nvidia)] };
    }
    let sentence =
        format!("vLLM asks for {wanted} of the device's {total}, of which {free} are free: its share is too high");
    Decision { cause: CauseId::SmallGpuFraction, sentence, remedies: Vec::new() }
}

fn of_sglang(failure: &Failure) -> Decision {
    let said = failure.message.to_lowercase();
    if said.contains("unbalanced") {
        let sentence = "some of the devices have less free memory than others: other processes hold it".to_owned();
        return Decision { cause: CauseId::OtherProcessMemory, sentence, remedies: vec![end_them(Framework::Nvidia)] };
    }
    if said.contains("decode") || said.contains("prefill") {
        return unclear(
            "SGLang's KV cache is full: the requests that run at once need more tokens than it has".to_owned(),
        );
    }
    need("SGLang's static share of the device does not hold the weights and a KV cache".to_owned())
}

fn of_ollama(failure: &Failure) -> Decision {
    let size = |known: Option<Known<_>>| known.map(Known::nearest);
    match (size(failure.requested), size(failure.free)) {
        (Some(needed), Some(free)) if failure.message.contains("system memory") => Decision {
            cause: CauseId::HostMemory,
            sentence: format!("the model needs {needed} of the host's memory, and {free} are available"),
            remedies: Vec::new(),
        },
        _ => unclear(refused(failure)),
    }
}

/// Decides by the table of Note \[Messages], for an allocator with a stated total.
fn of_numbers(failure: &Failure, total: Option<Bytes>) -> Decision {
    let size = |known: Option<Known<_>>| known.map(Known::nearest);
    let (requested, allocated) = (size(failure.requested), size(failure.allocated));
    if let (Some(requested), Some(allocated), Some(limit)) = (requested, allocated, size(failure.allowed)) {
        if Bytes(requested.0.saturating_mul(2)) >= limit {
            let numbers = Numbers::of_framework(requested, limit, limit - allocated, allocated, Bytes::ZERO);
            let sentence =
                format!("one request for {requested} is more than half of the limit of {limit} that the program set");
            return Decision {
                cause: CauseId::OneHugeRequest,
                sentence,
                remedies: numbers.remedies(CauseId::OneHugeRequest),
            };
        }
        let sentence = format!(
            "{requested} more than the {allocated} allocated would exceed the limit of {limit} that the program set"
        );
        return Decision { cause: CauseId::SmallGpuFraction, sentence, remedies: Vec::new() };
    }
    let free = size(failure.free);
    let numbers = requested.zip(total).and_then(|(requested, total)| {
        let allocated = allocated.or_else(|| Some(total - free?))?;
        let reserved = size(failure.reserved).unwrap_or(allocated).max(allocated);
        let free = free.unwrap_or(total - reserved);
        Some(Numbers::of_framework(requested, total, free, allocated, reserved - allocated))
    });
    match numbers {
        Some(numbers) => {
            let cause = numbers.cause();
            Decision { cause, sentence: numbers.sentence(cause), remedies: numbers.remedies(cause) }
        }
        None if is_used_beyond(failure, total) => need(format!(
            "the program needs {} of the device's {}",
            requested.unwrap_or_default(),
            total.unwrap_or_default()
        )),
        None => unclear(refused(failure)),
    }
}

/// True for a compiler's statement of a need larger than the device.
fn is_used_beyond(failure: &Failure, total: Option<Bytes>) -> bool {
    failure.requested.map(Known::nearest).zip(total).is_some_and(|(needed, total)| needed > total)
}

fn need(sentence: String) -> Decision {
    Decision { cause: CauseId::NeedExceedsDevice, sentence, remedies: Vec::new() }
}

fn unclear(sentence: String) -> Decision {
    Decision { cause: CauseId::Unclear, sentence, remedies: vec![list_holders(Framework::Nvidia)] }
}

fn refused(failure: &Failure) -> String {
    let what = failure.requested.map_or_else(|| "memory".to_owned(), |size| size.nearest().to_string());
    format!(
        "{} was refused {what}, and its message does not say who holds the device's memory",
        failure.framework.name()
    )
}

fn to_cause(answer: Decision, failure: &Failure, facts: &Facts) -> Cause {
    let Decision { cause, sentence, mut remedies } = answer;
    remedies.extend(switches::of_framework(failure.framework));
    let finding = Finding {
        without: None,
        rule: cause,
        severity: facts.severity(),
        message: sentence,
        location: failure.location.clone(),
        evidence: evidence(failure),
        remedies,
    };
    Cause { finding, bytes: None, rank: Rank::Setting, removal: None }
}

fn evidence(failure: &Failure) -> Vec<Evidence> {
    let stated = [
        ("requested", failure.requested),
        ("free", failure.free),
        ("allocated", failure.allocated),
        ("reserved", failure.reserved),
        ("limit", failure.allowed),
    ];
    let figures = stated.iter().filter_map(|&(what, size)| Some(size?.row(what)));
    figures.chain([text("the error", failure.message.clone(), Source::Message)]).collect()
}
