//! The numbers in errors of other frameworks.
//!
//! The search is that of Note [Clauses]: every number is visited, and the words around it identify its meaning. The words before a number and
//! behind it decide; a number with unknown words is passed over, since these frameworks print numbers of all kinds.
//!
//! Sources: vllm/v1/worker/gpu_worker.py and vllm/v1/core/kv_cache_utils.py (0.8 to 0.11), vllm/worker/worker.py (0.6); sglang's
//! model_executor/model_runner.py (0.4); ollama's server/sched.go; ggml/src/ggml-cuda; tensorflow's bfc_allocator.cc (2.16); XLA's
//! tpu_program and bfc_allocator.cc; paddle/phi/core/memory/allocation/cuda_allocator.cc; cupy/cuda/memory.pyx; onnxruntime's
//! bfc_arena.cc; RMM's error.hpp; CUDA.jl's pool.jl.

use super::artifact::{Framework, StatedOom};
use super::normalize::Normalized;
use super::size;
use super::stated::StatedBytes;

/// The meaning of a number.
#[derive(Clone, Copy)]
enum Figure {
    Requested,
    Total,
    Free,
    Allocated,
    Reserved,
    Allowed,
}

use Figure::{Allocated, Allowed, Free, Requested, Reserved, Total};
use Framework::{
    CuPy, Jax, Julia, LlamaCpp, Ollama, OnnxRuntime, Paddle, Rapids, Sglang, TensorFlow, TensorRt, TensorRtLlm, Vllm,
};

/// The words before a number and behind it (without blanks, in lower case), and its meaning.
const CLAUSES: &[(Framework, &str, &str, Figure)] = &[
    (Vllm, "desiredgpumemoryutilization(", "", Figure::Allowed),
    (Vllm, "", "kvcacheisneeded", Requested),
    (Vllm, "", "kvcachememoryisneeded", Requested),
    (Vllm, "theavailablekvcachememory(", "", Free),
    (Sglang, "avail_mem=", "", Free),
    (Ollama, "systemmemory(", "thanisavailable", Requested),
    (Ollama, "moresystemmemory(", "", Requested),
    (Ollama, "thanisavailable(", "", Free),
    (LlamaCpp, "allocating", "ondevice", Requested),
    (LlamaCpp, "bufferofsize", "", Requested),
    (LlamaCpp, "allocationofsize", "", Requested),
    (Ollama, "allocating", "ondevice", Requested),
    (Ollama, "bufferofsize", "", Requested),
    (TensorFlow, "tryingtoallocate", "", Requested),
    (TensorFlow, "failedtoallocate", ":", Requested),
    (TensorFlow, "(", ")fromdevice", Requested),
    (TensorFlow, "limit:", "", Total),
    (TensorFlow, "inuse:", "", Allocated),
    (Jax, "tryingtoallocate", "", Requested),
    (Jax, "memoryallocating", "", Requested),
    (Jax, "requestfor", "", Requested),
    (Jax, "used", "of", Requested),
    (Jax, "of", "hbm.", Total),
    (Jax, "failedtoallocate", ":", Requested),
    (Jax, "(", ")fromdevice", Requested),
    (Jax, "limit:", "", Total),
    (Jax, "inuse:", "", Allocated),
    (Paddle, "cannotallocate", "memory", Requested),
    (Paddle, "", "memoryhasbeenallocated", Allocated),
    (Paddle, "availablememoryisonly", "", Free),
    (CuPy, "outofmemoryallocating", "", Requested),
    (CuPy, "allocatedsofar:", "", Allocated),
    (CuPy, "limitsetto:", "", Allowed),
    (OnnxRuntime, "requestedbufferofsize", "", Requested),
    (OnnxRuntime, "requestedbytesof", "", Requested),
    (OnnxRuntime, "availablememoryof", "", Free),
    (Rapids, "failedtoallocate", "", Requested),
    (Julia, "tryingtoallocate", "", Requested),
    (Julia, "memorypoolusage:", "", Allocated),
    (Julia, "", "reserved)", Reserved),
    (TensorRt, "ofgpumemory(", "", Requested),
    (TensorRt, "request:", "available:", Requested),
    (TensorRt, "available:", "", Free),
    (TensorRt, "requestedsizewas", "", Requested),
    (TensorRtLlm, "totalgpumemory(gib):", "", Total),
    (TensorRtLlm, "creationattempt(gib):", "", Free),
];

/// Two numbers of the form `14.90/22.04 GiB` behind these words: the first meaning, then the second.
const PAIRS: &[(Framework, &str, Figure, Figure)] = &[
    (Vllm, "freememoryondevice", Free, Total),
    // `Effective GPU memory usage: 99.12% (7.9 GiB/8.0 GiB)`: the first number is in use.
    (Julia, "gpumemoryusage:", Allocated, Total),
];

/// The letters between the words of a pair and its numbers: the device, or a percentage.
const PAIR_GAP: usize = 16;

/// Reads the numbers of `message` into `oom`.
pub(super) fn read(message: &Normalized, oom: &mut StatedOom) {
    let text = message.bytes.to_ascii_lowercase();
    let mut at = 0;
    while at < text.len() {
        if !is_number_start(&text, at) {
            at += 1;
            continue;
        }
        let length = read_pair(&text, at, oom).or_else(|| read_one(&message.bytes, &text, at, oom));
        at += length.unwrap_or_else(|| number_length(&text[at..])).max(1);
    }
}

fn is_number_start(text: &[u8], at: usize) -> bool {
    text[at].is_ascii_digit() && (at == 0 || !(text[at - 1].is_ascii_digit() || text[at - 1] == b'.'))
}

fn number_length(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count()
}

/// Reads `14.90/22.04GiB` or `7.9GiB/8.0GiB` at `at`; returns its length.
fn read_pair(text: &[u8], at: usize, oom: &mut StatedOom) -> Option<usize> {
    let before = &text[at.saturating_sub(64)..at];
    let (_, _, first, second) = PAIRS.iter().find(|(framework, words, ..)| {
        let end = memchr::memmem::rfind(before, words.as_bytes()).map(|start| start + words.len());
        *framework == oom.framework && end.is_some_and(|end| before.len() - end <= PAIR_GAP)
    })?;
    let number = number_length(&text[at..]);
    let unit = text[at + number..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let slash = at + number + unit;
    if text.get(slash) != Some(&b'/') {
        return None;
    }
    let (total, length) = size::parse_any(&text[slash + 1..])?;
    // The first number may lack a unit.
    let behind = slash + 1 + number_length(&text[slash + 1..]);
    let shared = &text[behind..slash + 1 + length];
    let (part, _) = size::parse_any(&[&text[at..at + number], shared].concat())?;
    let is_used = matches!(first, Allocated);
    set(oom, if is_used { Free } else { *first }, if is_used { total - part } else { part });
    set(oom, *second, total);
    Some(slash + 1 + length - at)
}

/// Reads the number at `at` with its unit; returns its length.
fn read_one(original: &[u8], text: &[u8], at: usize, oom: &mut StatedOom) -> Option<usize> {
    let (found, length) = size_at(original, text, at)?;
    let (before, behind) = (before_share(&text[..at]), &text[at + length..]);
    let (.., figure) = CLAUSES.iter().find(|(framework, left, right, _)| {
        *framework == oom.framework && before.ends_with(left.as_bytes()) && behind.starts_with(right.as_bytes())
    })?;
    set(oom, *figure, found);
    Some(length)
}

/// The text before a size without the share before it: `utilization (0.9, 19.84 GiB)`.
fn before_share(before: &[u8]) -> &[u8] {
    let Some(rest) = before.strip_suffix(b",") else { return before };
    let digits = rest.iter().rev().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    if rest[..rest.len() - digits].ends_with(b"utilization(") { &rest[..rest.len() - digits] } else { before }
}

/// The size at `at`; a unit may stand before it: `Total GPU memory (GiB): 47.40`.
fn size_at(original: &[u8], text: &[u8], at: usize) -> Option<(StatedBytes, usize)> {
    if !text[..at].ends_with(b"(gib):") {
        return size::parse_any(&original[at..]);
    }
    let length = number_length(&text[at..]);
    let (found, _) = size::parse_any(&[&text[at..at + length], b"GiB"].concat())?;
    Some((found, length))
}

/// Sets a figure, unless it is known.
fn set(oom: &mut StatedOom, figure: Figure, size: StatedBytes) {
    let place = match figure {
        Requested => &mut oom.requested_bytes,
        Total => &mut oom.total_bytes,
        Free => &mut oom.free_bytes,
        Allocated => &mut oom.allocated_bytes,
        Reserved => &mut oom.reserved_bytes,
        Allowed => &mut oom.allowed_bytes,
    };
    place.get_or_insert(size);
}
