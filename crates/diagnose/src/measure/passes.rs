//! Growth from pass to pass of a loop of the user's own, where no optimizer steps.
//!
//! # Note [Passes]
//! The agent names the loops around the request that was refused (`python/oomph/agent/enclosing.py`). Allocations belong to a loop if their stack
//! has a line of its body, outside every module: a loop inside a model is part of a pass. A pass begins with an allocation by the *beat*, the
//! stack which left tensors in the loop least often, but at least [`LEAST_PASSES`] times: a stack of an inner loop does so more often.
//!
//! The memory grows if each quarter of the beats left its part until the end. So a ring buffer does not grow, nor does a cache that filled and
//! stopped. Parameters, and what constructors allocate, are no passes' work.

use std::collections::BTreeMap;

use report::Location;
use trace::run::LoopRecord;
use trace::{Bytes, Frame, Lifetime, Moment, StackId};

use super::growth::{Survivors, stays};
use super::life::Life;
use super::view::View;

/// Growth shows in at least this many passes.
const LEAST_PASSES: usize = 12;
/// The parts of the passes that are compared.
const QUARTERS: usize = 4;
/// A stack with less than this part of the surviving bytes is no beat.
const LEAST_PART: u64 = 1000;

/// The growth of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PassGrowth {
    /// The first line of the loop.
    pub(crate) at: Location,
    /// The median of the bytes that a pass leaves.
    pub(crate) bytes_per_pass: Bytes,
    /// The pass in which the request was refused, counted from 1.
    pub(crate) full_at: u32,
    /// All bytes that the passes left.
    pub(crate) bytes: Bytes,
    /// What they left, by the user's line that called the outermost module or the operator, most bytes first.
    pub(crate) survivors: Vec<Survivors>,
    /// The stack and the size of an allocation that each pass makes.
    beat: (StackId, Bytes),
    /// The number of these allocations in each pass.
    each: u64,
}

impl PassGrowth {
    /// Counts the passes in another run of the program, which has other stack ids.
    pub(crate) fn count_in(&self, own: &View, other: &View) -> u64 {
        let (stack, size) = self.beat;
        let beat: Vec<&Frame> = own.trace.python(stack).collect();
        let mut is_beat: BTreeMap<StackId, bool> = BTreeMap::new();
        let lives = other.trace.history.lifetimes().iter();
        let passes = lives.filter(|life| {
            life.requested == size
                && *is_beat.entry(life.stack).or_insert_with(|| other.trace.python(life.stack).eq(beat.iter().copied()))
        });
        u64::try_from(passes.count()).unwrap_or(u64::MAX) / self.each
    }
}

/// Returns the growth of the loop around the last refused request. See Note [Passes].
pub(crate) fn find_pass_growth(view: &View) -> Option<PassGrowth> {
    let refused = view.trace.history.ooms().last()?.event;
    let loops = &view.trace.process.loops;
    let mut found: Vec<(u32, PassGrowth)> =
        loops.iter().filter_map(|one| Some((one.depth, Passes::of(view, one, refused.into())?.growth()?))).collect();
    // The outermost function with a loop that grows, and in it the innermost loop.
    let outermost = found.first()?.0;
    found.retain(|(depth, _)| *depth == outermost);
    found.pop().map(|(_, growth)| growth)
}

/// The allocations of a loop's passes.
struct Passes<'v> {
    view: &'v View<'v>,
    at: Location,
    /// The moment of the refused request.
    end: Moment,
    /// The allocations in the loop, in the order of their beginnings.
    lives: Vec<&'v Lifetime>,
    /// The stacks of the loop that left something, with their survivors.
    left: BTreeMap<StackId, Survivors>,
}

impl<'v> Passes<'v> {
    fn of(view: &'v View<'v>, one: &LoopRecord, end: Moment) -> Option<Passes<'v>> {
        let mut is_inside: BTreeMap<StackId, bool> = BTreeMap::new();
        let all = view.trace.history.lifetimes().iter().zip(&view.contents);
        let in_loop =
            all.filter(|(life, _)| *is_inside.entry(life.stack).or_insert_with(|| view.is_in_loop(life.stack, one)));
        let mut passes = Passes {
            view,
            at: Location { file: one.file.clone(), line: one.line, column: None },
            end,
            lives: Vec::new(),
            left: BTreeMap::new(),
        };
        for (life, contents) in in_loop {
            passes.lives.push(life);
            if life.is_live_after(end) && !stays(*contents) {
                passes.left.entry(life.stack).or_default().add(life);
            }
        }
        (!passes.left.is_empty()).then_some(passes)
    }

    fn growth(&self) -> Option<PassGrowth> {
        let bytes: Bytes = self.left.values().map(|left| left.bytes).sum();
        let beat = self.find_beat(bytes)?;
        let made: Vec<&Lifetime> = self.lives.iter().filter(|life| life.stack == beat).copied().collect();
        let beats: Vec<&Lifetime> = made.iter().filter(|life| life.is_live_after(self.end)).copied().collect();
        let size = Bytes::median(beats.iter().map(|life| life.requested).collect())?;
        let of_size = made.iter().filter(|life| life.requested == size).count();
        self.is_lasting(&made).then(|| PassGrowth {
            at: self.at.clone(),
            bytes_per_pass: self.bytes_per_pass(&beats),
            full_at: self.full_at(&beats),
            bytes,
            survivors: self.survivors(),
            beat: (beat, size),
            each: u64::try_from((of_size / beats.len()).max(1)).unwrap_or(1),
        })
    }

    /// Returns the stack that left tensors least often, but in enough passes and enough bytes.
    fn find_beat(&self, bytes: Bytes) -> Option<StackId> {
        let is_beat =
            |left: &Survivors| left.count >= LEAST_PASSES as u64 && left.bytes.0.saturating_mul(LEAST_PART) >= bytes.0;
        let beats = self.left.iter().filter(|(_, left)| is_beat(left));
        beats.min_by_key(|(stack, left)| (left.count, stack.0)).map(|(stack, _)| *stack)
    }

    /// True if as many of the first allocations by a stack are alive as of the last: a quarter of them has a good part of the survivors.
    fn is_lasting(&self, made: &[&Lifetime]) -> bool {
        let alive = |part: &[&Lifetime]| part.iter().filter(|life| life.is_live_after(self.end)).count();
        let quarters = made.chunks(made.len().div_ceil(QUARTERS));
        quarters.map(alive).all(|part| part * 2 * QUARTERS >= alive(made))
    }

    /// Returns the median of the bytes that each pass left, without the last, which was cut.
    fn bytes_per_pass(&self, beats: &[&Lifetime]) -> Bytes {
        let mut left = vec![Bytes::ZERO; beats.len()];
        for life in self.lives.iter().filter(|life| life.is_live_after(self.end) && self.left.contains_key(&life.stack))
        {
            // What comes before the first beat belongs to its pass.
            let pass = beats.partition_point(|beat| beat.begun <= life.begun).saturating_sub(1);
            left[pass] += life.block();
        }
        left.pop();
        Bytes::median(left).unwrap_or_default()
    }

    /// Returns the pass of the refused request. The first pass shows how many allocations come before the beat, and so how many come after it: if as
    /// many were made since the last beat, the next pass has begun.
    fn full_at(&self, beats: &[&Lifetime]) -> u32 {
        let mut counts: BTreeMap<StackId, usize> = BTreeMap::new();
        for life in &self.lives {
            *counts.entry(life.stack).or_default() += 1;
        }
        let usual =
            self.lives.iter().filter(|life| counts.get(&life.stack).is_some_and(|count| *count >= LEAST_PASSES));
        let begun: Vec<Moment> = usual.map(|life| life.begun).collect();
        let until = |beat: &Lifetime| begun.partition_point(|begun| *begun <= beat.begun);
        let [first, .., last_but_one, last] = beats else { return 0 };
        // Both counts include a beat.
        let (prefix, whole) = (until(first), until(last) - until(last_but_one));
        let rest = begun.len() - until(last);
        let is_next = rest + prefix >= whole;
        u32::try_from(beats.len() + usize::from(is_next)).unwrap_or(u32::MAX)
    }

    fn survivors(&self) -> Vec<Survivors> {
        let mut lines: BTreeMap<Option<Location>, Survivors> = BTreeMap::new();
        // What a few passes left was made once, such as a workspace.
        let many = self.left.iter().filter(|(_, left)| left.count >= LEAST_PASSES as u64);
        for (stack, left) in many {
            lines.entry(self.view.call_location(*stack)).or_default().merge(left.clone());
        }
        let mut lines: Vec<Survivors> =
            lines.into_iter().map(|(location, left)| Survivors { location, ..left }).collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.bytes));
        lines
    }
}
