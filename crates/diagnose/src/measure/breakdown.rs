//! What the allocated bytes at the peak hold, adding up to what the allocator itself counted.

use std::collections::BTreeMap;

use report::{Breakdown, Contents, DoesNotAddUp, Part};
use trace::Bytes;

use super::life::Life;
use super::view::View;

/// `allocated`, the allocator's own peak, by what it holds.
///
/// Bytes that the trace does not show are the part `unattributed`. A trace that shows more than the allocator counted
/// is not believed at all: everything is unattributed then.
pub(crate) fn breakdown(view: &View, allocated: Bytes) -> Result<Breakdown, DoesNotAddUp> {
    let mut held: BTreeMap<Contents, Bytes> = BTreeMap::new();
    if let Some(peak) = view.found.peaks().allocated {
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
