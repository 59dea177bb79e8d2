//! Changes to single allocations of a recorded program.
//!
//! # Note [Edits]
//! All other requests and frees of the program stay. A change shows the cost of an allocation, and nothing of the program's use of the freed
//! memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};
use trace::{Address, EventIndex, Lifetime};

use super::op::{BlockSlot, Op, Program};

/// A change to one allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocationChange {
    /// The block is freed right after the event, unless the program frees it earlier.
    FreeAfter(EventIndex),
    /// The request is not made.
    LeaveOut,
    /// The request asks for this number of bytes.
    Resize(u64),
}

impl Program {
    /// The program with changed allocations. See Note `[Edits]`.
    #[must_use]
    pub fn edited<'l>(&self, edits: impl IntoIterator<Item = (&'l Lifetime, AllocationChange)>) -> Program {
        let mut editor = Editor::new(self, edits);
        editor.edit_older(self);
        for (&op, &event) in self.ops.iter().zip(&self.events) {
            editor.free_until(event);
            editor.edit(op, event);
        }
        editor.program
    }

    /// The program with a request that failed in the recording left out, or of another size.
    #[must_use]
    pub fn with_failed(&self, event: EventIndex, edit: AllocationChange) -> Program {
        let is_meant = |op: &Op, at: EventIndex| at == event && matches!(op, Op::Failed { .. });
        let mut program = Program { ops: Vec::new(), events: Vec::new(), ..self.clone() };
        for (&op, &at) in self.ops.iter().zip(&self.events) {
            match (is_meant(&op, at), edit, op) {
                (true, AllocationChange::LeaveOut, _) => {}
                (true, AllocationChange::Resize(rounded), Op::Failed { stream, .. }) => {
                    program.push(Op::Failed { rounded, stream }, at);
                }
                _ => program.push(op, at),
            }
        }
        program
    }
}

struct Editor {
    program: Program,
    by_event: FxHashMap<EventIndex, AllocationChange>,
    by_address: FxHashMap<Address, AllocationChange>,
    /// The blocks to free early, by the event.
    early: BinaryHeap<Reverse<(EventIndex, u32)>>,
    /// The slots of allocations that are left out or freed early. The program's own free has no effect.
    ended: FxHashSet<u32>,
}

impl Editor {
    fn new<'l>(of: &Program, edits: impl IntoIterator<Item = (&'l Lifetime, AllocationChange)>) -> Editor {
        let program = Program { ops: Vec::new(), events: Vec::new(), older: Vec::new(), ..of.clone() };
        let (mut by_event, mut by_address) = (FxHashMap::default(), FxHashMap::default());
        for (life, edit) in edits.into_iter().filter(|(life, edit)| changes(life, *edit)) {
            match life.allocation_event() {
                Some(event) => _ = by_event.insert(event, edit),
                None => _ = by_address.insert(life.address, edit),
            }
        }
        Editor { program, by_event, by_address, early: BinaryHeap::new(), ended: FxHashSet::default() }
    }

    fn edit_older(&mut self, of: &Program) {
        for older in &of.older {
            let edit = self.by_address.get(&older.address).filter(|_| !older.pending).copied();
            let requested = match edit {
                Some(AllocationChange::Resize(bytes)) => bytes,
                _ => older.requested,
            };
            match edit {
                Some(AllocationChange::LeaveOut) => _ = self.ended.insert(older.slot.0),
                edit => {
                    self.end_early(older.slot, edit);
                    self.program.older.push(super::op::Older { requested, ..*older });
                }
            }
        }
    }

    /// Frees the blocks whose event is before `event`.
    fn free_until(&mut self, event: EventIndex) {
        while let Some(&Reverse((at, slot))) = self.early.peek().filter(|Reverse((at, _))| *at < event) {
            self.early.pop();
            self.program.push(Op::Free(BlockSlot(slot)), at);
        }
    }

    fn end_early(&mut self, slot: BlockSlot, edit: Option<AllocationChange>) {
        if let Some(AllocationChange::FreeAfter(at)) = edit {
            self.early.push(Reverse((at, slot.0)));
            self.ended.insert(slot.0);
        }
    }

    fn edit(&mut self, op: Op, event: EventIndex) {
        match op {
            Op::Malloc { slot, .. } | Op::MallocPrivate { slot, .. } => self.request(op, slot, event),
            Op::Free(slot) | Op::Complete(slot) if self.ended.remove(&slot.0) => {}
            Op::FreeLater(slot) if self.ended.contains(&slot.0) => {}
            op => self.program.push(op, event),
        }
    }

    fn request(&mut self, op: Op, slot: BlockSlot, event: EventIndex) {
        // A release may have completed the block of the slot without an operation.
        self.ended.remove(&slot.0);
        match (self.by_event.get(&event).copied(), op) {
            (Some(AllocationChange::LeaveOut), _) => _ = self.ended.insert(slot.0),
            (Some(AllocationChange::Resize(requested)), Op::Malloc { slot, stream, .. }) => {
                self.program.push(Op::Malloc { requested, slot, stream }, event);
            }
            (Some(AllocationChange::Resize(requested)), Op::MallocPrivate { slot, pool, .. }) => {
                self.program.push(Op::MallocPrivate { requested, slot, pool }, event);
            }
            (edit, op) => {
                self.program.push(op, event);
                self.end_early(slot, edit);
            }
        }
    }
}

/// False if the program frees the block before the wanted end, or allocates the block after it.
fn changes(life: &Lifetime, edit: AllocationChange) -> bool {
    match edit {
        AllocationChange::FreeAfter(at) => life.begun <= at.into() && life.is_live_after(at),
        AllocationChange::LeaveOut | AllocationChange::Resize(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use trace::{Bytes, Moment, Release, StackId, Stream};

    use super::super::op::StreamIndex;
    use super::super::run::replay;
    use super::*;
    use crate::{Rules, Settings, SimulatedDevice};

    const MIB: u64 = 1 << 20;

    /// Three blocks of 64 MiB in slots 0 to 2; block 0 is freed after all, block 1 in the middle; then a request that failed.
    fn program() -> Program {
        let mut program = Program { streams: vec![Stream(0)], slots: 3, ..Program::default() };
        let malloc = |slot| Op::Malloc { requested: 64 * MIB, slot: BlockSlot(slot), stream: StreamIndex(0) };
        let failed = Op::Failed { rounded: 64 * MIB, stream: StreamIndex(0) };
        let ops = [malloc(0), malloc(1), Op::Free(BlockSlot(1)), malloc(2), malloc(1), failed, Op::Free(BlockSlot(0))];
        (0..).zip(ops).for_each(|(index, op)| program.push(op, EventIndex(index)));
        program
    }

    fn life(begun: u32, freed: Option<u32>) -> Lifetime {
        let at = |event: u32| Moment::from(EventIndex(event));
        Lifetime {
            address: Address(u64::from(begun)),
            block: Bytes(64 * MIB),
            requested: Bytes(64 * MIB),
            stack: StackId::EMPTY,
            begun: at(begun),
            free_requested: freed.map_or(Moment::NEVER, at),
            free_completed: freed.map_or(Moment::NEVER, at),
        }
    }

    /// The peak in MiB, and whether a device of three such blocks serves the failed request.
    fn check(edits: &[(Lifetime, AllocationChange)], peak: u64, is_served: bool) {
        let edited = program().edited(edits.iter().map(|(life, edit)| (life, *edit)));
        let rules = Rules::of(Release { major: 2, minor: 11 });
        let run = |bytes| replay(&edited, &Settings::default(), rules, SimulatedDevice::new(bytes, 0));
        let most = run(SimulatedDevice::NEVER_FULL_BYTES).peak_allocated_bytes();
        assert_eq!(most, Bytes(peak * MIB), "{edits:?}");
        let outcome = run(192 * MIB);
        assert_eq!(outcome.served.contains(&EventIndex(5)), is_served, "{edits:?}");
        assert!(outcome.failed.is_none(), "{edits:?}");
    }

    #[test]
    fn allocations_end_earlier_or_are_not_made() {
        let (first, middle, third) = (life(0, Some(6)), life(1, Some(2)), life(3, None));
        check(&[], 256, false);
        check(&[(first, AllocationChange::FreeAfter(EventIndex(1)))], 192, true);
        check(&[(first, AllocationChange::FreeAfter(EventIndex(4)))], 192, true);
        check(&[(third, AllocationChange::LeaveOut)], 192, true);
        check(&[(third, AllocationChange::LeaveOut), (first, AllocationChange::LeaveOut)], 128, true);
        check(&[(middle, AllocationChange::LeaveOut)], 256, false);
        // The program frees this block earlier by itself.
        check(&[(middle, AllocationChange::FreeAfter(EventIndex(4)))], 256, false);
        check(&[(third, AllocationChange::Resize(32 * MIB))], 224, false);
    }

    #[test]
    fn a_failed_request_is_changed() {
        let rules = Rules::of(Release { major: 2, minor: 11 });
        let check = |edit, is_served: bool, mib: u64| {
            let program = program().with_failed(EventIndex(5), edit);
            let outcome = replay(&program, &Settings::default(), rules, SimulatedDevice::new(mib * MIB, 0));
            assert_eq!(!outcome.served.is_empty(), is_served, "{edit:?}");
        };
        check(AllocationChange::Resize(32 * MIB), true, 224);
        check(AllocationChange::Resize(64 * MIB), false, 224);
        check(AllocationChange::LeaveOut, false, 256);
    }
}
