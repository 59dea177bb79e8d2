//! A program as the allocator sees it.

use trace::{Address, EventIndex, Pool, State, Stream};

/// Where a replay keeps the block of a request while it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot(pub(super) u32);

/// Index into [`Program::streams`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StreamIndex(pub(super) u16);

/// A private pool of the program; `None` at the requests of the shared one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PoolNumber(pub(super) u8);

/// What a program does. There are millions: 16 bytes, and a test holds them there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Malloc {
        requested: u64,
        slot: Slot,
        stream: StreamIndex,
    },
    /// A request to a private pool. Its stream is that of [`Program::pool_requests`].
    MallocPrivate {
        requested: u64,
        slot: Slot,
        pool: PoolNumber,
    },
    /// A request that failed when it was recorded, by its rounded size.
    Failed {
        rounded: u64,
        stream: StreamIndex,
    },
    Free(Slot),
    /// Let go of, while another stream still uses it.
    FreeLater(Slot),
    /// No stream uses it any more.
    Complete(Slot),
    EmptyCache,
}

/// What was there before the first event and had to be asked for once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Older {
    pub(super) slot: Slot,
    pub(super) address: Address,
    pub(super) requested: u64,
    pub(super) stream: StreamIndex,
    pub(super) pool: Option<PoolNumber>,
    /// The program had let go of it.
    pub(super) pending: bool,
}

/// A recorded program of one device, ready to be replayed.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub(super) ops: Vec<Op>,
    /// The event that each operation was read off.
    pub(super) events: Vec<EventIndex>,
    pub(super) streams: Vec<Stream>,
    pub(super) pools: Vec<Pool>,
    /// The stream of the requests to each private pool.
    pub(super) pool_streams: Vec<StreamIndex>,
    pub(super) slots: usize,
    /// By address.
    pub(super) older: Vec<Older>,
    /// The memory before the first event.
    pub(super) start: State,
    pub(super) history_events: usize,
}

impl Program {
    /// Whether the history begins with the program: nothing was there before it.
    pub fn is_whole(&self) -> bool {
        self.start.segments.is_empty() && self.older.is_empty()
    }

    /// How many entries of the history it was read off.
    pub fn event_count(&self) -> usize {
        self.history_events
    }

    /// How many operations it has.
    pub fn operation_count(&self) -> usize {
        self.ops.len()
    }

    /// How often the program emptied the cache, as far as the history shows.
    pub fn empty_cache_count(&self) -> usize {
        self.ops.iter().filter(|op| matches!(op, Op::EmptyCache)).count()
    }

    /// How many requests failed when it was recorded.
    pub fn failed_count(&self) -> usize {
        self.ops.iter().filter(|op| matches!(op, Op::Failed { .. })).count()
    }

    /// The same program without its calls of `empty_cache`.
    #[must_use]
    pub fn without_empty_cache(&self) -> Program {
        let keeps = |op: &Op| !matches!(op, Op::EmptyCache);
        let kept = self.ops.iter().zip(&self.events).filter(|(op, _)| keeps(op));
        let (ops, events) = kept.map(|(&op, &event)| (op, event)).unzip();
        Program { ops, events, ..self.clone() }
    }

    /// The same program with a call of `empty_cache` right after each of these events, which are in order.
    #[must_use]
    pub fn with_empty_cache_after(&self, events: &[EventIndex]) -> Program {
        let mut program = Program { ops: Vec::new(), events: Vec::new(), ..self.clone() };
        let mut calls = events.iter().copied().peekable();
        for (&op, &event) in self.ops.iter().zip(&self.events) {
            while let Some(call) = calls.next_if(|&call| call < event) {
                program.push(Op::EmptyCache, call);
            }
            program.push(op, event);
        }
        for call in calls {
            program.push(Op::EmptyCache, call);
        }
        program
    }

    pub(super) fn push(&mut self, op: Op, event: EventIndex) {
        self.ops.push(op);
        self.events.push(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_takes_16_bytes() {
        assert_eq!(size_of::<Op>(), 16);
    }
}
