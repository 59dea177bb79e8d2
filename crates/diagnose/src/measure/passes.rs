//! Growth from pass to pass of a loop of the user's own, where no optimizer steps.
//!
//! # Note [Passes]
//! The agent names the loops around the refused request (`python/oomph/agent/position/enclosing.py`). An allocation belongs to a loop if the stack has a
//! line of the body outside every module: a loop inside a model is part of a pass. A pass begins with an allocation by the *beat*, a stack with
//! one allocation per pass: outside modules and inner loops, throughout the loop, and the rarest stack with company, because a line that runs in
//! every tenth pass is mostly alone. Without such a stack, the rarest stack with survivors is the beat, in a real run outside modules only. In a loop with one stack only, the
//! survivors are the beat.
//!
//! The memory grows if each quarter of the passes left a part until the end, and the usual pass left something. So a ring buffer does not grow,
//! nor does a cache that filled and stopped, nor an inner loop whose last result the outer loop keeps, nor, in a program that fits, a loop that
//! only makes tensors for later. The run without a limit shows whether
//! what repeats are passes, or layers of one long pass. Parameters, and allocations by constructors, are not the work of a pass, nor are those of an
//! optimizer's step, which repeat for each parameter.

use std::collections::BTreeMap;

use report::Location;
use trace::run::LoopRecord;
use trace::{Bytes, EventIndex, Frame, Lifetime, LifetimeId, Moment, Phase, StackId};

use super::fate::Fate;
use super::growth::{Survivors, stays};
use super::iterations::Iterations;
use super::life::Life;
use super::view::View;

/// Fewer passes show no growth.
const LEAST_PASSES: usize = 12;
/// The parts of the passes that are compared.
const QUARTERS: usize = 4;
/// A stack with a smaller part of the surviving bytes is no beat.
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
    /// The bytes of all survivors.
    pub(crate) bytes: Bytes,
    /// The survivors of all passes, by the user's line outside modules, most bytes first.
    pub(crate) survivors: Vec<Survivors>,
    /// The survivors of all passes but the last, each with the last event of its pass.
    pub(crate) kept: Vec<(LifetimeId, EventIndex)>,
    /// The stack and the size of an allocation of each pass.
    beat: (StackId, Bytes),
    /// The number of passes up to the refused request.
    passes: usize,
    /// The allocations like the beat; more than the passes in a loop with one stack only.
    alike: usize,
}

impl PassGrowth {
    /// Counts the passes in another run of the program, by frames: stack ids differ between runs.
    pub(crate) fn count_in(&self, own: &View, other: &View) -> u64 {
        let (stack, size) = self.beat;
        let beat: Vec<&Frame> = own.trace.python(stack).collect();
        let mut is_beat: BTreeMap<StackId, bool> = BTreeMap::new();
        let lives = other.trace.history.lifetimes().iter();
        let passes = lives.filter(|life| {
            life.requested == size
                && *is_beat.entry(life.stack).or_insert_with(|| other.trace.python(life.stack).eq(beat.iter().copied()))
        });
        u64::try_from(passes.count() * self.passes / self.alike.max(1)).unwrap_or(u64::MAX)
    }
}

/// Returns the growth of the loop around the last refused request. See Note [Passes].
///
/// `later`: the run without a limit.
pub(crate) fn find_pass_growth(view: &View, later: Option<&View>) -> Option<PassGrowth> {
    let refused = view.trace.history.ooms().last()?.event;
    let fate = later.and_then(|later| Fate::of(view, refused.into(), later));
    let loops = &view.trace.loops;
    let is_unsure = view.trace.is_guessed() || fate.is_none();
    let mut found: Vec<(u32, PassGrowth)> = loops
        .iter()
        .enumerate()
        .filter_map(|(index, one)| {
            let inner = &loops[index + 1..];
            if fate.as_ref().is_some_and(|fate| count_passes(fate, one, inner) < LEAST_PASSES) {
                return None;
            }
            Some((one.depth, Passes::of(view, one, inner, refused.into(), is_unsure)?.find_growth()?))
        })
        .collect();
    // The outermost function with a loop that grows, and in it the innermost loop.
    let outermost = found.first()?.0;
    found.retain(|(depth, _)| *depth == outermost);
    let (_, innermost) = found.pop()?;
    // See Note `[Guessed loops]`.
    let is_same = |growth: &PassGrowth| view.trace.is_guessed() && growth.passes.abs_diff(innermost.passes) <= 1;
    Some(found.into_iter().map(|(_, growth)| growth).find(is_same).unwrap_or(innermost))
}

/// Returns the growth of a loop until `peak`, in a program that ended in time: the loop whose passes left most, and of loops that left as much the
/// innermost.
pub(crate) fn find_ended_growth(view: &View, peak: Moment) -> Option<PassGrowth> {
    let loops = &view.trace.process.loops;
    let inner_of = |one: &LoopRecord| {
        let is_inside = |other: &&LoopRecord| {
            *other != one && other.file == one.file && one.line <= other.line && other.last_line <= one.last_line
        };
        loops.iter().filter(is_inside).cloned().collect::<Vec<LoopRecord>>()
    };
    let grows = |one: &LoopRecord| {
        let inner = inner_of(one);
        let passes = Passes::of(view, one, &inner, peak, true)?;
        passes.find_growth().filter(|_| !passes.only_make())
    };
    loops.iter().filter_map(grows).max_by_key(|growth| growth.bytes)
}

/// True if the request is served without what earlier passes left.
pub(crate) fn fills(growth: &PassGrowth, view: &View, usable: Bytes, requested: Bytes) -> bool {
    let live = view.trace.last_oom().map_or(Bytes::ZERO, |event| view.live_total(event));
    live - growth.bytes + growth.bytes_per_pass + requested <= usable
}

/// Returns the passes that a loop had begun when the request was refused, seen from the run without a limit: there, a pass that was cut is
/// whole, and a loop inside a pass is not taken for passes.
fn count_passes(fate: &Fate, one: &LoopRecord, inner: &[LoopRecord]) -> usize {
    let passes = Iterations::of_loop(fate.later, one, inner, Moment::from(fate.later.trace.end()));
    passes.and_then(|passes| passes.number(fate.request)).map_or(0, |number| number + 1)
}

/// The allocations of a loop's passes.
struct Passes<'v> {
    view: &'v View<'v>,
    at: Location,
    /// The moment of the refused request.
    end: Moment,
    /// The allocations in the loop, in the order of their beginnings.
    lives: Vec<&'v Lifetime>,
    /// The survivors of each stack in the loop.
    left: BTreeMap<StackId, Survivors>,
    /// The loops inside the loop.
    inner: &'v [LoopRecord],
    /// True if calls of modules may be layers of one pass: neither the program nor a run without a limit tells.
    is_unsure: bool,
}

impl<'v> Passes<'v> {
    fn of(
        view: &'v View<'v>,
        one: &LoopRecord,
        inner: &'v [LoopRecord],
        end: Moment,
        is_unsure: bool,
    ) -> Option<Passes<'v>> {
        let mut is_inside: BTreeMap<StackId, bool> = BTreeMap::new();
        let all = view.trace.history.lifetimes().iter().zip(&view.contents);
        let in_loop = all
            .filter(|(life, _)| *is_inside.entry(life.stack).or_insert_with(|| view.is_in_loop(life.stack, one)))
            .filter(|(life, _)| view.phase_of(life) != Some(Phase::Optimizer));
        let mut passes = Passes {
            view,
            at: Location { file: one.file.clone(), line: one.line, column: None },
            end,
            lives: Vec::new(),
            left: BTreeMap::new(),
            inner,
            is_unsure,
        };
        for (life, contents) in in_loop {
            passes.lives.push(life);
            if life.is_live_after(end) && !stays(*contents) {
                passes.left.entry(life.stack).or_default().add(life);
            }
        }
        (!passes.left.is_empty()).then_some(passes)
    }

    fn find_growth(&self) -> Option<PassGrowth> {
        let bytes: Bytes = self.left.values().map(|left| left.bytes).sum();
        let most = self.left.iter().filter(|(_, left)| left.count >= LEAST_PASSES as u64);
        let (most, _) = most.max_by_key(|(stack, left)| (left.bytes, stack.0))?;
        let beats = self.find_beats(bytes)?;
        let bytes_per_pass = self.bytes_per_pass(&beats);
        let is_lasting = self.is_lasting(&self.list_made(*most)) && bytes_per_pass > Bytes::ZERO;
        let beat = beats.first()?;
        is_lasting.then(|| PassGrowth {
            at: self.at.clone(),
            bytes_per_pass,
            full_at: self.full_at(&beats),
            bytes,
            survivors: self.survivors(),
            kept: self.list_kept(&beats),
            beat: (beat.stack, beat.requested),
            passes: beats.len(),
            alike: self.list_made(beat.stack).into_iter().filter(|life| life.requested == beat.requested).count(),
        })
    }

    /// True if the passes make tensors and compute nothing: every allocation stays, and none is a module's, as in a list of caches.
    fn only_make(&self) -> bool {
        self.lives.iter().all(|life| life.is_live_after(self.end) && self.view.is_outside(life.stack, &[]))
    }

    /// Returns the allocations by a stack.
    fn list_made(&self, stack: StackId) -> Vec<&'v Lifetime> {
        self.lives.iter().filter(|life| life.stack == stack).copied().collect()
    }

    /// Returns an allocation of each pass. See Note [Passes].
    fn find_beats(&self, bytes: Bytes) -> Option<Vec<&'v Lifetime>> {
        if let Some(kept) = self.find_kept_beats(bytes).filter(|_| self.has_one_stack()) {
            return Some(kept);
        }
        let mut steady: Vec<Vec<&Lifetime>> = self.list_steady();
        steady.sort_by_key(|beats| (beats.len(), beats.first().map(|life| life.begun)));
        let has_company = |pair: &&[Vec<&Lifetime>]| pair[1].len() - pair[0].len() <= 1;
        let shared = steady.windows(2).find(has_company).and_then(|pair| pair.first());
        shared.or(steady.first()).cloned().or_else(|| self.find_kept_beats(bytes))
    }

    /// True if one statement makes all allocations, of which the stacks do not tell one from another.
    fn has_one_stack(&self) -> bool {
        let mut stacks = self.lives.iter().map(|life| life.stack);
        let first = stacks.next();
        stacks.all(|stack| Some(stack) == first)
    }

    /// Lists the allocations of each steady stack and size, outside modules and inner loops.
    fn list_steady(&self) -> Vec<Vec<&'v Lifetime>> {
        let mut made: BTreeMap<(StackId, Bytes), Vec<&'v Lifetime>> = BTreeMap::new();
        for life in &self.lives {
            made.entry((life.stack, life.requested)).or_default().push(life);
        }
        let is_plain = |stack: StackId| self.view.is_outside(stack, self.inner);
        let steady = made.into_iter().filter(|((stack, _), lives)| self.is_steady(lives) && is_plain(*stack));
        steady.map(|(_, lives)| lives).collect()
    }

    /// True if each quarter of the loop has at least half of the usual share of `lives`.
    fn is_steady(&self, lives: &[&Lifetime]) -> bool {
        let starts: Vec<Moment> = lives.iter().map(|life| life.begun).collect();
        let mut quarters = self.lives.chunks(self.lives.len().div_ceil(QUARTERS));
        let count = |quarter: &[&Lifetime]| {
            let [first, .., last] = quarter else { return 0 };
            starts.partition_point(|start| *start <= last.begun) - starts.partition_point(|start| *start < first.begun)
        };
        lives.len() >= LEAST_PASSES
            && quarters.all(|quarter| count(quarter) * 2 * self.lives.len() >= lives.len() * quarter.len())
    }

    /// Returns the survivors of the rarest stack with enough passes and enough bytes.
    fn find_kept_beats(&self, bytes: Bytes) -> Option<Vec<&'v Lifetime>> {
        let is_beat =
            |left: &Survivors| left.count >= LEAST_PASSES as u64 && left.bytes.0.saturating_mul(LEAST_PART) >= bytes.0;
        // Layers in one pass look like passes.
        let is_pass = |stack: StackId| !self.is_unsure || self.view.is_outside(stack, self.inner);
        let beats = self.left.iter().filter(|(stack, left)| is_beat(left) && is_pass(**stack));
        let (stack, _) = beats.min_by_key(|(stack, left)| (left.count, stack.0))?;
        let lives = self.list_made(*stack).into_iter();
        Some(lives.filter(|life| life.is_live_after(self.end)).collect())
    }

    /// True if each quarter of a stack's allocations has at least half of the usual share of survivors.
    fn is_lasting(&self, made: &[&Lifetime]) -> bool {
        let alive = |part: &[&Lifetime]| part.iter().filter(|life| life.is_live_after(self.end)).count();
        let mut quarters = made.chunks(made.len().div_ceil(QUARTERS));
        quarters.all(|quarter| alive(quarter) * 2 * made.len() >= alive(made) * quarter.len())
    }

    /// Returns the median of the surviving bytes of a pass, without the last pass, which was cut.
    fn bytes_per_pass(&self, beats: &[&Lifetime]) -> Bytes {
        let mut left = vec![Bytes::ZERO; beats.len()];
        for life in self.lives.iter().filter(|life| life.is_live_after(self.end) && self.left.contains_key(&life.stack))
        {
            // Allocations before the first beat belong to the first pass.
            let pass = beats.partition_point(|beat| beat.begun <= life.begun).saturating_sub(1);
            left[pass] += life.block();
        }
        left.pop();
        Bytes::median(left).unwrap_or_default()
    }

    /// Lists the survivors of the passes that another one followed.
    fn list_kept(&self, beats: &[&Lifetime]) -> Vec<(LifetimeId, EventIndex)> {
        let starts: Vec<EventIndex> = beats.iter().filter_map(|beat| beat.begun()).collect();
        let all = (0..).map(LifetimeId).zip(self.view.trace.history.lifetimes());
        let left = all.filter(|(_, life)| self.left.contains_key(&life.stack) && life.is_live_after(self.end));
        left.filter_map(|(id, life)| {
            let begun = life.begun()?;
            let next = starts.get(starts.partition_point(|start| *start <= begun).max(1))?;
            Some((id, EventIndex(next.0.saturating_sub(1))))
        })
        .collect()
    }

    /// Returns the pass of the refused request. The first pass shows how many allocations come before the beat, and so how many come after the
    /// beat: after as many, the next pass has begun.
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
        // Survivors of few passes were made once, such as a workspace.
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
