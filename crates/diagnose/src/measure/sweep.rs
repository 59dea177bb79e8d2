//! The peak without some of the allocations: the basis of estimates.

use trace::{Bytes, EventIndex, Lifetime, Moment};

use super::life::Life;
use super::view::View;

/// Returns the peak of the live bytes without the blocks that satisfy `left_out`.
///
/// Exact for the omitted allocations themselves; their effect on other allocations is not modelled.
pub(crate) fn peak_without(view: &View, left_out: impl Fn(usize, &Lifetime) -> bool) -> Bytes {
    let (mut older, mut changes) = (Bytes::ZERO, Vec::new());
    for (index, life) in view.trace.history.lifetimes().iter().enumerate() {
        if left_out(index, life) || life.free_requested == Moment::BEFORE {
            continue;
        }
        let block = life.block();
        match life.begun() {
            Some(begun) => changes.push((begun, true, block)),
            None => older += block,
        }
        changes.extend(life.freed().map(|event| (event, false, block)));
    }
    changes.sort_unstable();
    highest(older, &changes)
}

fn highest(older: Bytes, changes: &[(EventIndex, bool, Bytes)]) -> Bytes {
    let (mut now, mut most) = (older, older);
    for &(_, begins, block) in changes {
        if begins {
            now += block;
        } else {
            now -= block;
        }
        most = most.max(now);
    }
    most
}
