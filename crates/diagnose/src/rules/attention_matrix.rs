//! `attention-matrix`: attention materialises its matrix, length times length for every head.
//!
//! Role request, order 101.

use causes::CauseId;

use super::input::Facts;
use super::operation::{Failed, words_of_shape};
use super::rule::{Cause, Check, Rule};
use super::shared::advice;

/// A matrix with a shorter side is no attention over a sequence.
const MIN_LENGTH: u64 = 256;

pub(super) const RULE: Rule = Rule { cause: CauseId::AttentionMatrix, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    let failed = Failed::of(facts)?;
    let shape = &failed.operation.result;
    let is_matrix = shape.len() >= 3 && shape.iter().rev().take(2).all(|size| *size >= MIN_LENGTH);
    let is_named = ["attention", "attn", "softmax"].iter().any(|word| failed.mentions(word));
    let is_scores = failed.operation.text.contains('@') || failed.mentions("matmul") || failed.mentions("einsum");
    let is_pytorchs = failed.calls(&["multi_head_attention_forward", "eager_attention_forward"])
        && !failed.calls(&["_in_projection_packed", "_in_projection", "linear"]);
    if !is_pytorchs && !(is_matrix && (is_named || is_scores)) {
        return None;
    }
    let of = if is_matrix { format!(" {}", words_of_shape(shape)) } else { String::new() };
    let what = format!("attention's matrix of length times length{of}");
    failed.cause(
        RULE.cause,
        &what,
        advice(
            "attention that does not materialise its matrix",
            "torch.nn.functional.scaled_dot_product_attention, need_weights=False of nn.MultiheadAttention, or \
             attn_implementation=\"sdpa\" of Hugging Face models; else attend within windows or in blocks of queries",
        ),
    )
}
