//! What the peak would have been if some allocations had cost less: the reckoning behind estimates.

use trace::{Bytes, EventIndex, Lifetime, Moment};

use super::life::Life;
use super::view::View;

/// The largest sum of live blocks over the history without those that `left_out` holds of.
///
/// Exact for allocations that are not made at all; what their absence would change elsewhere is not modelled.
pub(crate) fn peak_without(view: &View, left_out: impl Fn(usize, &Lifetime) -> bool) -> Bytes {
    let (mut older, mut changes) = (Bytes::ZERO, Vec::new());
    for (index, life) in view.found.lifetimes().iter().enumerate() {
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
