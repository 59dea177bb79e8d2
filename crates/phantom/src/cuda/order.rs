//! The waits of each stream for other streams: a host's wait for a stream also completes the work that the stream
//! waited for.
//!
//! Only pending work has an order: Notes [Held events] and [Late streams] in `event.rs`.

use std::collections::BTreeMap;

/// A stream, by its handle as a number.
pub(crate) type StreamKey = usize;

/// Work recorded on a stream, and the stream's earlier waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recorded {
    stream: StreamKey,
    /// The position among all records of the process.
    order: u64,
    waited_for: BTreeMap<StreamKey, u64>,
}

impl Recorded {
    /// True if the work is done once `last` is.
    pub(crate) fn is_done_with(&self, last: &Recorded) -> bool {
        let reached = last.waited_for.get(&self.stream);
        (self.stream == last.stream && self.order <= last.order)
            || reached.is_some_and(|reached| self.order <= *reached)
    }
}

/// For each stream, the position up to which it has waited for each other stream.
#[derive(Debug)]
pub(crate) struct Waits(BTreeMap<StreamKey, BTreeMap<StreamKey, u64>>);

impl Waits {
    /// No stream has waited.
    pub(crate) const fn new() -> Waits {
        Waits(BTreeMap::new())
    }

    /// The record of a stream's work so far.
    pub(crate) fn record(&self, stream: StreamKey, order: u64) -> Recorded {
        Recorded { stream, order, waited_for: self.0.get(&stream).cloned().unwrap_or_default() }
    }

    /// Notes that a stream waits for a record.
    pub(crate) fn wait(&mut self, stream: StreamKey, recorded: &Recorded) {
        let reached = self.0.entry(stream).or_default();
        let behind = recorded.waited_for.iter().map(|(stream, order)| (*stream, *order));
        for (other, order) in behind.chain([(recorded.stream, recorded.order)]) {
            let before = reached.entry(other).or_default();
            *before = order.max(*before);
        }
    }

    /// True if `recorded` is done once all work of a stream is.
    pub(crate) fn is_done_with_stream(&self, recorded: &Recorded, stream: StreamKey) -> bool {
        let reached = self.0.get(&stream).and_then(|reached| reached.get(&recorded.stream).copied());
        recorded.stream == stream || reached.is_some_and(|reached| recorded.order <= reached)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Streams 101 to 104: the second waits for the first, the third for the second.
    #[test]
    fn a_stream_is_behind_what_it_waited_for() {
        let mut waits = Waits::new();
        let first = waits.record(101, 1);
        waits.wait(102, &first);
        let second = waits.record(102, 2);
        let later = waits.record(101, 3);
        waits.wait(103, &second);
        let third = waits.record(103, 4);
        let rows = [
            (&first, &second, true),
            (&first, &third, true),
            (&second, &third, true),
            (&first, &later, true),
            (&later, &third, false),
            (&third, &first, false),
        ];
        for (recorded, last, is_done) in rows {
            assert_eq!(recorded.is_done_with(last), is_done, "{recorded:?} once {last:?}");
        }
        let rows = [
            (&first, 101, true),
            (&first, 102, true),
            (&first, 103, true),
            (&first, 104, false),
            (&later, 101, true),
            (&later, 103, false),
            (&third, 101, false),
        ];
        for (recorded, stream, is_done) in rows {
            assert_eq!(waits.is_done_with_stream(recorded, stream), is_done, "{recorded:?} once {stream}");
        }
    }
}
