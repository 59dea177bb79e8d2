//! The allocated bytes at the peak by category; the parts add up to the allocator's counter.

use std::collections::BTreeMap;

use report::{Breakdown, Contents, DoesNotAddUp, Part};
use trace::{Bytes, Moment};

use super::life::Life;
use super::view::View;

/// Splits `allocated`, the allocator's own peak, by category.
///
/// Bytes missing in the trace are the part `unattributed`. If the trace shows more bytes than the allocator counted,
/// the trace is discarded and all bytes are unattributed.
pub(crate) fn breakdown(view: &View, allocated: Bytes) -> Result<Breakdown, DoesNotAddUp> {
    breakdown_after(view, view.trace.history.peaks().allocated.map(|peak| peak.at), allocated)
}

/// Splits `allocated`, the allocator's own figure after `at`, in the same way.
pub(crate) fn breakdown_after(view: &View, at: Option<Moment>, allocated: Bytes) -> Result<Breakdown, DoesNotAddUp> {
    let mut held: BTreeMap<Contents, Bytes> = BTreeMap::new();
    for (life, contents) in at.into_iter().flat_map(|at| view.live_after(at)) {
        *held.entry(contents).or_default() += life.block();
    }
    let shown: Bytes = held.values().copied().sum();
    if shown > allocated {
        held.clear();
    }
    let shown: Bytes = held.values().copied().sum();
    held.insert(Contents::Unattributed, allocated - shown);
    let parts = held.into_iter().map(|(category, bytes)| Part { category, bytes });
    Breakdown::new(allocated, parts.collect())
}
