//! `pairwise-by-broadcasting`: broadcasting makes a tensor with an element for each pair.
//!
//! Role request, order 102.

use causes::CauseId;

use crate::rules::advice::advice;
use crate::rules::facts::input::Facts;
use crate::rules::families::operation::{Failed, elements, words_of_shape};
use crate::rules::rule::{Cause, Check, Rule};

/// A result this many times larger than its largest operand is a product of two sets.
const MIN_RATIO: u64 = 8;

pub(super) const RULE: Rule = Rule { cause: CauseId::PairwiseByBroadcasting, check: Check::One(find) };

fn find(facts: &Facts) -> Option<Cause> {
    let failed = Failed::of(facts)?;
    let operation = failed.operation;
    let [one, other] = operation.operands.as_slice() else { return None };
    let largest = elements(one).max(elements(other));
    let pairs = broadcast(one, other);
    let is_product = elements(&pairs) >= largest.saturating_mul(MIN_RATIO) && failed.is_of_shape(&pairs);
    if !is_product || ["one_hot", "eye("].iter().any(|word| operation.text.contains(word)) {
        return None;
    }
    let [one, other] = [one, other].map(|shape| words_of_shape(shape));
    let what = format!("broadcasting {one} with {other} takes");
    failed.cause(
        RULE.cause,
        &what,
        advice(
            "compute in chunks, or by a matrix product",
            "torch.cdist or a matrix product makes no third dimension, and a loop over blocks of rows bounds the rest; where no pairs are \
             meant, give both tensors one shape: [N, 1] with [N] makes [N, N]",
        ),
    )
}

/// The shape of two operands together; PyTorch has checked that they fit.
fn broadcast(one: &[u64], other: &[u64]) -> Vec<u64> {
    let length = one.len().max(other.len());
    let size =
        |shape: &[u64], place: usize| (place + shape.len()).checked_sub(length).and_then(|at| shape.get(at)).copied();
    (0..length).map(|place| size(one, place).unwrap_or(1).max(size(other, place).unwrap_or(1))).collect()
}
