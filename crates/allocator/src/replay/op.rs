//! A program as the allocator sees it.

use std::collections::HashSet;

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
    /// A request that the program lets go of at once, and does without for good after it failed the first time.
    Optional {
        requested: u64,
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
    /// The same program, which does without the requests at `events` where they cannot be served, and from then on without all of that
    /// size. Only such count as are let go of by the next operation.
    #[must_use]
    pub fn with_optional(&self, events: &HashSet<EventIndex>) -> Program {
        let mut program = Program { ops: Vec::new(), events: Vec::new(), ..self.clone() };
        let mut skipped = None;
        for (index, (op, event)) in self.ops.iter().zip(&self.events).enumerate() {
            if let (Op::Malloc { requested, slot, stream }, Some(Op::Free(freed))) = (*op, self.ops.get(index + 1))
                && slot == *freed
                && events.contains(event)
            {
                program.push(Op::Optional { requested, stream }, *event);
                skipped = Some(index + 1);
            } else if skipped != Some(index) {
                program.push(*op, *event);
            }
        }
        program
    }

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

    /// Whether it can do without a request.
    pub fn has_optional(&self) -> bool {
        self.ops.iter().any(|op| matches!(op, Op::Optional { .. }))
    }

    pub(super) fn push(&mut self, op: Op, event: EventIndex) {
        self.ops.push(op);
        self.events.push(event);
    }
}

#[cfg(test)]
mod tests {
    use super::super::run::replay;
    use super::*;
    use crate::{Rules, Settings, SimulatedDevice};
    use trace::Release;

    #[test]
    fn an_operation_takes_16_bytes() {
        assert_eq!(size_of::<Op>(), 16);
    }

    const MIB: u64 = 1 << 20;

    /// Twice a workspace, then a tensor that stays; each of 64 MiB.
    fn twice_with_a_workspace() -> Program {
        let mut program = Program { streams: vec![Stream(0)], slots: 3, ..Program::default() };
        let malloc = |slot| Op::Malloc { requested: 64 * MIB, slot: Slot(slot), stream: StreamIndex(0) };
        let ops = [malloc(0), malloc(1), Op::Free(Slot(1)), malloc(2), malloc(1), Op::Free(Slot(1))];
        (0..).zip(ops).for_each(|(index, op)| program.push(op, EventIndex(index)));
        program
    }

    #[test]
    fn what_is_optional_is_done_without() {
        let check = |optional: &[u32], mib: u64, expected: Option<u32>| {
            let events = optional.iter().copied().map(EventIndex).collect();
            let device = SimulatedDevice::new(mib * MIB, 0);
            let outcome = replay(
                &twice_with_a_workspace().with_optional(&events),
                &Settings::default(),
                Rules::of(Release { major: 2, minor: 11 }),
                device,
            );
            assert_eq!(
                outcome.failed.and_then(|failed| failed.event),
                expected.map(EventIndex),
                "{optional:?} of {mib} MiB"
            );
        };
        check(&[], 192, None);
        check(&[], 128, Some(4));
        check(&[4], 128, None);
        check(&[4], 64, Some(1));
        check(&[1, 4], 128, None);
        // It stays: not let go of at once.
        check(&[3], 64, Some(1));
    }
}
