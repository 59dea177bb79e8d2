//! The program of a history: its operations in a compact form.

use std::collections::HashSet;

use trace::{Address, EventIndex, Pool, State, Stream};

/// The slot in which a replay stores the block of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockSlot(pub(super) u32);

/// Index into [`Program::streams`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StreamIndex(pub(super) u16);

/// A private pool of the program. Requests to the shared pool have `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PoolNumber(pub(super) u8);

/// An operation. A program has millions; a test holds the size at 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Malloc {
        requested: u64,
        slot: BlockSlot,
        stream: StreamIndex,
    },
    /// A request to a private pool. [`Program::pool_streams`] has the stream.
    MallocPrivate {
        requested: u64,
        slot: BlockSlot,
        pool: PoolNumber,
    },
    /// A request that failed in the recording, by its rounded size.
    Failed {
        rounded: u64,
        stream: StreamIndex,
    },
    /// A request freed by the next operation. After its first failure the program does without requests of this size.
    Optional {
        requested: u64,
        stream: StreamIndex,
    },
    Free(BlockSlot),
    /// A free of a block that another stream still uses.
    FreeLater(BlockSlot),
    /// The end of the other streams' uses.
    Complete(BlockSlot),
    EmptyCache,
}

/// A block older than the first event, allocated once at the start of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Older {
    pub(super) slot: BlockSlot,
    pub(super) address: Address,
    pub(super) requested: u64,
    pub(super) stream: StreamIndex,
    pub(super) pool: Option<PoolNumber>,
    /// Set if the block was freed, but not completed, before the first event.
    pub(super) pending: bool,
}

/// A recorded program of one device, ready to be replayed.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub(super) ops: Vec<Op>,
    /// The event of each operation.
    pub(super) events: Vec<EventIndex>,
    pub(super) streams: Vec<Stream>,
    pub(super) pools: Vec<Pool>,
    /// The stream of the requests to each private pool.
    pub(super) pool_streams: Vec<StreamIndex>,
    pub(super) slots: usize,
    /// Sorted by address.
    pub(super) older: Vec<Older>,
    /// The state before the first event.
    pub(super) start: State,
    pub(super) history_events: usize,
}

impl Program {
    /// The program with the requests at `events` made optional: after one of them fails, all of that size are skipped.
    /// Only requests freed by the very next operation are considered.
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

    /// Tests that the history begins with an empty allocator.
    pub fn is_whole(&self) -> bool {
        self.start.segments.is_empty() && self.older.is_empty()
    }

    /// The number of entries of the history.
    pub fn event_count(&self) -> usize {
        self.history_events
    }

    /// The number of operations.
    pub fn operation_count(&self) -> usize {
        self.ops.len()
    }

    /// The number of `empty_cache` calls, as far as the history shows them.
    pub fn empty_cache_count(&self) -> usize {
        self.ops.iter().filter(|op| matches!(op, Op::EmptyCache)).count()
    }

    /// The number of requests that failed in the recording.
    pub fn failed_count(&self) -> usize {
        self.ops.iter().filter(|op| matches!(op, Op::Failed { .. })).count()
    }

    /// The program without its calls of `empty_cache`.
    #[must_use]
    pub fn without_empty_cache(&self) -> Program {
        let keeps = |op: &Op| !matches!(op, Op::EmptyCache);
        let kept = self.ops.iter().zip(&self.events).filter(|(op, _)| keeps(op));
        let (ops, events) = kept.map(|(&op, &event)| (op, event)).unzip();
        Program { ops, events, ..self.clone() }
    }

    /// The program with a call of `empty_cache` right after each event of `events`, which is sorted.
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

    /// Tests for optional requests.
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

    /// Two allocations of a workspace, then a tensor that stays; each of 64 MiB.
    fn twice_with_a_workspace() -> Program {
        let mut program = Program { streams: vec![Stream(0)], slots: 3, ..Program::default() };
        let malloc = |slot| Op::Malloc { requested: 64 * MIB, slot: BlockSlot(slot), stream: StreamIndex(0) };
        let ops = [malloc(0), malloc(1), Op::Free(BlockSlot(1)), malloc(2), malloc(1), Op::Free(BlockSlot(1))];
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
        // The tensor is not freed by the next operation.
        check(&[3], 64, Some(1));
    }
}
