//! `attention-matrix`: attention materialises its matrix, length times length for every head.
//!
//! Role request, order 101.
//!
//! The request has the bytes of the scores: of a product of queries and keys, or of a result of their shape. A tensor of batch, length and width
//! in a module of attention is no such matrix.

use causes::CauseId;
use report::Remedy;

use crate::rules::advice::advice;
use crate::rules::facts::input::Facts;
use crate::rules::families::operation::{Failed, elements, words_of_shape};
use crate::rules::rule::{Cause, Check, Rule};

/// A matrix with a shorter side is no attention over a sequence.
const MIN_LENGTH: u64 = 256;

/// The bytes of the widest element of attention, float64.
const WIDEST_ELEMENT: u64 = 8;
/// A request by so many times larger than an operand is none of the operands' size.
const BEYOND: u64 = 8;

pub(super) const RULE: Rule = Rule { cause: CauseId::AttentionMatrix, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    let failed = Failed::of(facts)?;
    let scores = &failed.operation.scores;
    let kernel = "attention without a fused kernel: its matrix";
    if failed.operation.is_sdpa && scores.is_empty() && is_beyond_operands(&failed) {
        return failed.cause(RULE.cause, &format!("{kernel} of length times length takes"), choose_kernel());
    }
    if failed.operation.is_sdpa && is_long(scores) {
        return failed.cause_of_shape(
            RULE.cause,
            &format!("{kernel} {} takes", words_of_shape(scores)),
            scores,
            choose_kernel(),
        );
    }
    let is_pytorchs = failed.calls(&["multi_head_attention_forward", "eager_attention_forward"])
        && !failed.calls(&["_in_projection_packed", "_in_projection", "linear"]);
    let shape = [scores, &failed.operation.result].into_iter().find(|shape| is_matrix(&failed, shape));
    let of = shape.map(|shape| format!(" {}", words_of_shape(shape)));
    // Without the operands, the function alone tells.
    let of = of.or_else(|| (is_pytorchs && scores.is_empty()).then(String::new))?;
    failed.cause(RULE.cause, &format!("attention's matrix of length times length{of} takes"), avoid_matrix())
}

/// True for a request many times larger than the tensors that the line names: a fused kernel makes tensors of the size of its queries alone.
fn is_beyond_operands(failed: &Failed) -> bool {
    let largest = failed.operation.shapes.iter().map(|shape| elements(shape)).max();
    largest.is_some_and(|largest| failed.requested.0 > largest.saturating_mul(WIDEST_ELEMENT * BEYOND))
}

fn is_long(shape: &[u64]) -> bool {
    shape.len() >= 3 && shape.iter().rev().take(2).all(|size| *size >= MIN_LENGTH)
}

/// True for the shape of scores: the request has its bytes, both sides are lengths, and a product of attention or its softmax is computed.
fn is_matrix(failed: &Failed, shape: &[u64]) -> bool {
    let [.., rows, columns] = shape else { return false };
    if !is_long(shape) || !failed.is_of_shape(shape) {
        return false;
    }
    let is_product =
        failed.operation.text.contains('@') || ["matmul", "einsum", "bmm"].iter().any(|word| failed.names(word));
    if is_product {
        return is_over_features(&failed.operation.shapes, *rows, *columns);
    }
    let is_named = ["attention", "attn", "softmax", "score"].iter().any(|word| failed.names(word));
    is_named && (rows == columns || shape.len() >= 4) && !failed.is_beside_images()
}

/// True for a product of two batches of matrices over a dimension that is shorter than both sides of the result: features, not positions. A
/// product with a plain matrix is a linear layer.
fn is_over_features(shapes: &[Vec<u64>], rows: u64, columns: u64) -> bool {
    if shapes.iter().any(|shape| shape.len() == 2) {
        return false;
    }
    let sides = shapes.iter().filter_map(|shape| shape.get(shape.len().checked_sub(2)?..));
    let inner = sides.filter_map(|sides| match sides {
        [side, inner] if *side == rows => Some(*inner),
        _ => None,
    });
    inner.min().map_or(rows == columns, |inner| inner < rows.min(columns))
}

fn avoid_matrix() -> Remedy {
    advice(
        "attention that does not materialise its matrix",
        "torch.nn.functional.scaled_dot_product_attention, need_weights=False of nn.MultiheadAttention, or \
         attn_implementation=\"sdpa\" of Hugging Face models; else attend within windows or in blocks of queries",
    )
}

fn choose_kernel() -> Remedy {
    advice(
        "attention with shapes and types that a fused kernel takes",
        "float16 or bfloat16, heads of at most 256 elements, k and v repeated for every head instead of enable_gqa=True; \
         torch.nn.attention.sdpa_kernel says why a kernel does not take them",
    )
}
