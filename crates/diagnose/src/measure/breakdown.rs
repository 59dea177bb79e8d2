//! The allocated bytes at the peak by category; the parts add up to the allocator's counter.

use std::collections::BTreeMap;

use report::{Breakdown, Contents, DoesNotAddUp, Part};
use trace::Bytes;

use super::life::Life;
use super::view::View;

/// Splits `allocated`, the allocator's own peak, by category.
///
/// Bytes missing in the trace are the part `unattributed`. If the trace shows more bytes than the allocator counted,
/// the trace is discarded and all bytes are unattributed.
pub(crate) fn breakdown(view: &View, allocated: Bytes) -> Result<Breakdown, DoesNotAddUp> {
    let mut held: BTreeMap<Contents, Bytes> = BTreeMap::new();
    if let Some(peak) = view.trace.history.peaks().allocated {
        for (life, contents) in view.live_after(peak.at) {
            *held.entry(contents).or_default() += life.block();
        }
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
