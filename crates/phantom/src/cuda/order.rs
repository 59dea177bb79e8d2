//! The waits of each stream for other streams: a host's wait for a stream also completes the work that the stream
//! waited for.
//!
//! Only pending work has an order: Notes [Held events] and [Late streams] in `event.rs`.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A stream, by its handle as a number.
type StreamKey = usize;

/// Work recorded on a stream, and the stream's earlier waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recorded {
    stream: StreamKey,
    /// The position among all records of the process.
    order: u64,
    waited_for: BTreeMap<StreamKey, u64>,
}

/// For each stream, the position up to which it has waited for each other stream.
static WAITS: Mutex<BTreeMap<StreamKey, BTreeMap<StreamKey, u64>>> = Mutex::new(BTreeMap::new());

fn lock() -> MutexGuard<'static, BTreeMap<StreamKey, BTreeMap<StreamKey, u64>>> {
    WAITS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The record of a stream's work so far.
pub(crate) fn record(stream: StreamKey, order: u64) -> Recorded {
    Recorded { stream, order, waited_for: lock().get(&stream).cloned().unwrap_or_default() }
}

/// Notes that a stream waits for a record.
pub(crate) fn wait(stream: StreamKey, recorded: &Recorded) {
    let mut waits = lock();
    let reached = waits.entry(stream).or_default();
    let behind = recorded.waited_for.iter().map(|(stream, order)| (*stream, *order));
    for (other, order) in behind.chain([(recorded.stream, recorded.order)]) {
        let before = reached.entry(other).or_default();
        *before = order.max(*before);
    }
}

/// True if `recorded` is done once all work of a stream is.
pub(crate) fn is_done_with_stream(recorded: &Recorded, stream: StreamKey) -> bool {
    let reached = lock().get(&stream).and_then(|reached| reached.get(&recorded.stream).copied());
    recorded.stream == stream || reached.is_some_and(|reached| recorded.order <= reached)
}

/// True if `recorded` is done once `last` is.
pub(crate) fn is_done_with(recorded: &Recorded, last: &Recorded) -> bool {
    let reached = last.waited_for.get(&recorded.stream);
    (recorded.stream == last.stream && recorded.order <= last.order)
        || reached.is_some_and(|reached| recorded.order <= *reached)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Streams 101 to 104: the second waits for the first, the third for the second.
    #[test]
    fn a_stream_is_behind_what_it_waited_for() {
        let first = record(101, 1);
        wait(102, &first);
        let second = record(102, 2);
        let later = record(101, 3);
        wait(103, &second);
        let third = record(103, 4);
        assert!(is_done_with(&first, &second) && is_done_with(&first, &third) && is_done_with(&second, &third));
        assert!(!is_done_with(&later, &third) && !is_done_with(&third, &first));
        assert!(
            is_done_with_stream(&first, 103) && !is_done_with_stream(&later, 103) && !is_done_with_stream(&first, 104)
        );
    }
}
