//! The figures of the size with which a program goes on after its last out-of-memory error.
//!
//! # Note [Own reserve]
//! The cache keeps the segments of the sizes that failed, so that the reserved bytes of the last size are theirs. PyTorch empties its cache before
//! a request is refused: the program is replayed without the blocks that were freed before its first request after the last error.

use report::Usage;
use trace::{EventIndex, Moment};

use crate::measure::life::Life;
use crate::measure::usage::peak_after_errors;
use crate::measure::view::View;
use crate::rules::proof::replayed::Replayable;

/// Returns the peaks after the last error, and the moment of the most allocated bytes, of a device with the peaks `whole`; `None` if no request
/// followed.
pub(super) fn measure_attempt(view: &View, whole: Usage) -> Option<(Usage, Moment)> {
    let (usage, at) = peak_after_errors(view, whole)?;
    let reserved = own_reserve(view, usage).unwrap_or(usage);
    Some((reserved, at))
}

/// See Note [Own reserve]; `None` where the requests cannot be replayed.
fn own_reserve(view: &View, usage: Usage) -> Option<Usage> {
    let error = view.trace.last_oom()?;
    let begun =
        view.trace.history.lifetimes().iter().filter_map(|life| life.begun().filter(|event| *event > error)).min()?;
    let started = EventIndex(begun.0.saturating_sub(1));
    let lives = view.trace.history.lifetimes().iter();
    let over = lives.filter(|life| life.begun < Moment::from(started) && !life.is_active_after(started));
    let reserved = Replayable::of(view)?.reserved_without(over)?.max(usage.allocated_bytes);
    let device_bytes = usage.device_bytes - usage.reserved_bytes + reserved;
    (reserved < usage.reserved_bytes).then_some(Usage { reserved_bytes: reserved, device_bytes, ..usage })
}
