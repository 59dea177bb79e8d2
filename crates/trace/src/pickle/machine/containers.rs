//! Marks, the memo, and the instructions that fill containers.

use std::io::Read;

use super::super::arena::{Slot, within};
use super::super::builder::Fold;
use super::super::error::PickleErrorKind;
use super::super::opcode;
use super::{Machine, Step};

impl<R: Read, F: Fold> Machine<R, F> {
    /// The number of values below the last mark, which are out of reach.
    #[inline]
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    #[inline]
    pub(super) fn peek_top(&self) -> Step<Slot<F::Folded>> {
        let reachable = self.builder.stack.get(self.floor()..).unwrap_or_default();
        reachable.last().copied().ok_or(PickleErrorKind::StackEmpty)
    }

    pub(super) fn pop(&mut self) -> Step<Slot<F::Folded>> {
        let top = self.peek_top()?;
        self.builder.pop();
        Ok(top)
    }

    pub(super) fn pop_value_or_mark(&mut self) -> Step {
        if self.pop().is_err() && self.marks.pop().is_none() {
            return Err(PickleErrorKind::StackEmpty);
        }
        Ok(())
    }

    #[inline]
    pub(super) fn push_mark(&mut self) -> Step {
        within(self.marks.len(), self.builder.limits.depth, "open containers")?;
        self.marks.push(self.builder.stack.len());
        Ok(())
    }

    #[inline]
    pub(super) fn mark(&mut self) -> Step<usize> {
        self.marks.pop().ok_or(PickleErrorKind::NoMark)
    }

    /// The height of the stack below its last `count` values.
    pub(super) fn reach(&self, count: usize) -> Step<usize> {
        let start = self.builder.stack.len().checked_sub(count).filter(|&start| start >= self.floor());
        start.ok_or(PickleErrorKind::StackEmpty)
    }

    /// `start`, if the value below it is in reach.
    #[inline]
    pub(super) fn above_mark(&self, start: usize) -> Step<usize> {
        if start > self.floor() { Ok(start) } else { Err(PickleErrorKind::StackEmpty) }
    }

    pub(super) fn tuple_of(&mut self, count: usize) -> Step {
        let start = self.reach(count)?;
        self.builder.tuple(start)
    }

    pub(super) fn dict_from_mark(&mut self) -> Step {
        let start = self.mark()?;
        self.pairs_above(start)?;
        self.builder.dict(start)
    }

    #[inline]
    pub(super) fn set_items(&mut self) -> Step {
        let start = self.mark()?;
        self.pairs_above(start)?;
        self.builder.add_to_dict(self.above_mark(start)?)
    }

    #[inline]
    pub(super) fn appends(&mut self) -> Step {
        let start = self.mark()?;
        self.builder.add_to_list(self.above_mark(start)?)
    }

    #[inline]
    fn pairs_above(&self, start: usize) -> Step {
        let count = self.builder.stack.len().saturating_sub(start);
        if count.is_multiple_of(2) { Ok(()) } else { Err(PickleErrorKind::OddPairs(count)) }
    }

    /// Entries are numbered in sequence, so a number above the count of bytes so far is an error.
    #[inline]
    pub(super) fn memoize(&mut self, index: u64) -> Step {
        let top = self.peek_top()?;
        let at = usize::try_from(index).unwrap_or(usize::MAX);
        if index <= self.offset && self.memo.set(at, top) { Ok(()) } else { Err(PickleErrorKind::MemoIndex(index)) }
    }

    /// Runs this `LONG_BINGET` and all directly following. Lists of frames consist of such instructions.
    #[inline]
    pub(super) fn recall_all(&mut self) -> Step {
        loop {
            let index = self.input.length_u32()?;
            self.recall(index)?;
            self.offset = self.input.position();
            if !self.input.skip(opcode::LONG_BINGET) {
                return Ok(());
            }
        }
    }

    #[inline]
    pub(super) fn recall(&mut self, index: u64) -> Step {
        let entry = usize::try_from(index).ok().and_then(|at| self.memo.get(at));
        self.builder.push(entry.ok_or(PickleErrorKind::MemoMissing(index))?)
    }
}
