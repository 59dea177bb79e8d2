//! Growth from step to step, and the lines that allocate the surviving memory.

use std::collections::{BTreeMap, BTreeSet};

use report::{Contents, Growth, Location, Peak};
use trace::run::DeviceStats;
use trace::{Bytes, EventIndex, Lifetime, LifetimeId, Moment, StackId};

use super::iterations::Iterations;
use super::life::Life;
use super::rising::foresee;
use super::view::View;

/// The rises in each half of the steps of memory that does not rise with every step.
const LEAST_RISES: usize = 2;

/// The allocations of a line that outlived the step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Survivors {
    /// The user's line; `None` if no stack names a line.
    pub(crate) location: Option<Location>,
    /// Their bytes.
    pub(crate) bytes: Bytes,
    /// The number of allocations.
    pub(crate) count: u64,
    /// The allocating stacks.
    pub(crate) stacks: BTreeSet<StackId>,
}

impl Survivors {
    /// Adds one survivor.
    pub(crate) fn add(&mut self, life: &Lifetime) {
        self.bytes += life.block();
        self.count += 1;
        self.stacks.insert(life.stack);
    }

    /// Adds all survivors of `others`.
    pub(crate) fn merge(&mut self, others: Survivors) {
        self.bytes += others.bytes;
        self.count += others.count;
        self.stacks.extend(others.stacks);
    }
}

/// Returns the growth of `view`'s device, if its memory grows steadily; `usable` is the memory that the program may
/// take.
///
/// Tensors that replace the previous step's tensors are no growth, even if each batch is longer than the last.
pub(crate) fn find_step_growth(view: &View, peak: &Peak, usable: Bytes) -> Option<Growth> {
    let (after, is_known) = in_program_steps(view, allocated_after_steps(view));
    let steady = steady_rises(&after).and_then(|(first, rises)| Some((first, Bytes::median(rises)?)));
    let (first_iteration, bytes_per_iteration) = steady.or_else(|| rare_rises(&after).filter(|_| is_known))?;
    if outliving(view).next().is_none() && !view.trace.events.is_empty() {
        return None;
    }
    Some(Growth {
        keeper: None,
        loop_at: None,
        bytes_per_iteration,
        first_iteration,
        of_iterations: None,
        full_at: full_at(view, peak, usable, bytes_per_iteration),
        location: survivors(view).into_iter().next().and_then(|most| most.location),
    })
}

/// Returns the bytes allocated after each recorded step, in order. A real run records a step four times a second at most.
fn allocated_after_steps(view: &View) -> Vec<(u32, Bytes)> {
    let on_device = |devices: &[DeviceStats]| {
        let stats = devices.iter().find(|stats| stats.device == view.trace.device.0)?;
        Some(Bytes(stats.allocated_bytes))
    };
    view.trace.process.steps.iter().filter_map(|step| Some((step.step, on_device(&step.devices)?))).collect()
}

/// Returns the first step of steady growth, and the rises of a step, one from each record to the next; `None` unless every record rises.
///
/// The first step also allocates memory that stays for good (optimizer state, workspaces). Its successor is compared
/// with it only in a history of at most three steps, and then both rises must be equal.
fn steady_rises(after: &[(u32, Bytes)]) -> Option<(u32, Vec<Bytes>)> {
    let warm = if after.len() > 3 { &after[1..] } else { after };
    let rises: Vec<Bytes> = warm.windows(2).filter_map(|pair| rise(pair[0], pair[1])).collect();
    let first = warm.get(1)?.0;
    let same = rises.windows(2).all(|pair| pair[0] == pair[1]);
    let steady = rises.len() >= 2 && !rises.contains(&Bytes::ZERO) && (after.len() > 3 || same);
    steady.then_some((first, rises))
}

/// Returns the first step after the first rise, and the mean rise of a step, of memory that rises in some of the steps and never falls, as by
/// every hundredth output that is kept: at least two rises in each half of the steps. A buffer that has filled rises no more.
fn rare_rises(after: &[(u32, Bytes)]) -> Option<(u32, Bytes)> {
    let warm = after.get(1..)?;
    let (half, last) = (warm.get(warm.len() / 2)?.0, warm.last()?);
    let mut rises: Vec<u32> = Vec::new();
    for pair in warm.windows(2) {
        let ((_, before), (step, now)) = (pair[0], pair[1]);
        if now < before {
            return None;
        }
        rises.extend((now > before).then_some(step));
    }
    let late = rises.iter().filter(|step| **step > half).count();
    let is_spread = late >= LEAST_RISES && rises.len() - late >= LEAST_RISES;
    let first = warm.first().filter(|_| is_spread)?;
    Some((*rises.first()?, rise(*first, *last)?))
}

/// Replaces the numbers of the steps by those of the program, if these are known (Note [Program steps] in `program_steps.rs`). Else a rare rise may
/// be that of many steps; a loop whose memory rises in every step is never shortened.
fn in_program_steps(view: &View, after: Vec<(u32, Bytes)>) -> (Vec<(u32, Bytes)>, bool) {
    let steps = &view.trace.program_steps;
    let known = after.iter().map(|(step, bytes)| Some((steps.find(*step)?, *bytes))).collect::<Option<Vec<_>>>();
    known.map_or((after, false), |known| (known, true))
}

/// The rise of a step between two records; `None` for two records of one step.
fn rise((step, bytes): (u32, Bytes), (later, more): (u32, Bytes)) -> Option<Bytes> {
    let steps = later.checked_sub(step)?;
    (more - bytes).0.checked_div(steps.into()).map(Bytes)
}

/// Returns the first step whose peak exceeds `usable`, if the trace's peak rises by `rise` per step, or faster as its rises do.
fn full_at(view: &View, peak: &Peak, usable: Bytes, rise: Bytes) -> Option<u32> {
    let from = peak.place.step.or_else(|| last_step(view))?;
    let room = usable - peak.usage.allocated_bytes;
    let more = room.0.checked_div(rise.0)?.checked_add(1)?;
    let steady = u32::try_from(more).ok().and_then(|more| from.checked_add(more));
    let (after, _) = in_program_steps(view, allocated_after_steps(view));
    steady.into_iter().chain(full_by_faster_rises(&after, room)).min()
}

/// Returns the step after which `room` is gone, if each rise is larger than the one before: what is kept may grow with the step.
fn full_by_faster_rises(after: &[(u32, Bytes)], room: Bytes) -> Option<u32> {
    let warm = after.get(1..)?;
    let (first, last) = (warm.first()?, warm.last()?);
    let is_whole = usize::try_from(last.0 - first.0).is_ok_and(|steps| steps + 1 == warm.len());
    let sizes: Vec<Bytes> = warm.iter().map(|(_, bytes)| *bytes).collect();
    let rises: Vec<Bytes> = sizes.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let is_faster = rises.last()?.0 > rises.first()?.0.saturating_mul(2);
    let is_full = |more: u32| foresee(&sizes, more.into()).is_some_and(|bytes| bytes > last.1 + room);
    let most = u32::MAX - last.0;
    if !is_whole || !is_faster || !is_full(most) {
        return None;
    }
    let (mut too_few, mut enough) = (0, most);
    while enough - too_few > 1 {
        let more = too_few + (enough - too_few) / 2;
        if is_full(more) { enough = more } else { too_few = more }
    }
    Some(last.0 + enough)
}

fn last_step(view: &View) -> Option<u32> {
    allocated_after_steps(view).last().map(|(step, _)| *step)
}

fn last_rising_step(view: &View) -> Option<u32> {
    let after = allocated_after_steps(view);
    let (_, before_last) = after.split_last()?;
    let rising = before_last.windows(2).rev().find(|pair| pair[1].1 > pair[0].1)?;
    Some(rising[1].0)
}

/// Returns the survivors of one step that were alive at the end of the next step, by the user's line, most bytes
/// first.
pub(crate) fn survivors(view: &View) -> Vec<Survivors> {
    let mut lines: BTreeMap<Location, Survivors> = BTreeMap::new();
    for life in outliving(view) {
        if let Some(line) = view.own_line(life.stack) {
            lines.entry(line).or_default().add(life);
        }
    }
    let survivors = lines.into_iter().map(|(location, line)| Survivors { location: Some(location), ..line });
    let mut survivors: Vec<Survivors> = survivors.collect();
    survivors.sort_by_key(|line| std::cmp::Reverse(line.bytes));
    survivors
}

/// Lists the tensors by the stacks of `survivors` that outlived their step, each with the last event of the step: those alive at the end of the
/// history, or at its last error.
pub(crate) fn list_kept(view: &View, survivors: &[Survivors]) -> Vec<(LifetimeId, EventIndex)> {
    let stacks: BTreeSet<StackId> = survivors.iter().flat_map(|line| line.stacks.iter().copied()).collect();
    let last_event = EventIndex(view.trace.end().0.saturating_sub(1));
    let end = Moment::from(view.trace.last_oom().unwrap_or(last_event));
    let Some(steps) = Iterations::list(view, end, None).into_iter().find(|level| level.at.is_none()) else {
        return Vec::new();
    };
    let lives = (0..).map(LifetimeId).zip(view.trace.history.lifetimes());
    let left = lives.filter(|(_, life)| stacks.contains(&life.stack) && life.is_live_after(end));
    left.filter_map(|(id, life)| Some((id, steps.last_event(steps.of(life)?)?))).collect()
}

/// Returns the allocations of one step that were alive at the end of the next step.
///
/// The step is the last one after which more was allocated than before, and which a whole step follows, or the step before that one, whose
/// tensors a program may keep after the step; without such a step, the last but one. Persistent categories are excluded.
fn outliving<'a>(view: &'a View) -> impl Iterator<Item = &'a Lifetime> {
    let risen = last_rising_step(view);
    let steps = [risen.or_else(|| last_step(view)?.checked_sub(1)), risen.and_then(|step| step.checked_sub(1))];
    let mut survivors = steps.into_iter().flatten().map(|step| list_outliving(view, step));
    survivors.find(|lives| !lives.is_empty()).unwrap_or_default().into_iter()
}

fn list_outliving<'a>(view: &'a View, step: u32) -> Vec<&'a Lifetime> {
    let after = view.trace.first_event(|mark| mark.step > step + 1);
    let all = view.trace.history.lifetimes().iter().zip(&view.contents);
    let lives = all.filter(|(life, contents)| {
        let alive = life.freed().is_none_or(|freed| freed >= after);
        view.step_of(life) == Some(step) && alive && !stays(**contents)
    });
    lives.map(|(life, _)| life).collect()
}

/// Checks that a category persists from step to step.
pub(crate) fn stays(contents: Contents) -> bool {
    matches!(
        contents,
        Contents::Parameters
            | Contents::Gradients
            | Contents::OptimizerState
            | Contents::Buffers
            | Contents::Workspaces
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    type Rises = (u32, Vec<u64>);
    /// Recorded steps, and the allocated bytes after each.
    type Recorded = [(u32, u64)];

    fn rises(after: &[u64]) -> Option<Rises> {
        rises_at(&(1..).zip(after.iter().copied()).collect::<Vec<_>>())
    }

    fn rises_at(after: &Recorded) -> Option<Rises> {
        let after: Vec<(u32, Bytes)> = after.iter().map(|(step, bytes)| (*step, Bytes(*bytes))).collect();
        let (first, rises) = steady_rises(&after)?;
        Some((first, rises.into_iter().map(|rise| rise.0).collect()))
    }

    #[test]
    fn only_what_every_step_adds_to_is_growth() {
        let cases: [(&[u64], Option<Rises>); 7] = [
            (&[], None),
            (&[10, 20], None),
            (&[10, 20, 30], Some((2, vec![10, 10]))),
            (&[10, 90, 100], None),
            (&[10, 90, 100, 120], Some((3, vec![10, 20]))),
            (&[10, 90, 100, 100], None),
            (&[10, 90, 100, 95], None),
        ];
        for (after, expected) in cases {
            assert_eq!(rises(after), expected, "{after:?}");
        }
    }

    #[test]
    fn rises_in_some_steps_are_growth_until_they_stop() {
        let every = |steps: u32, apart: u32, until: u32| -> Vec<(u32, Bytes)> {
            (1..=steps).map(|step| (step, Bytes(u64::from(step.min(until) / apart) * 100))).collect()
        };
        // From step 2 to the last: 40 rises of 100 in 398 steps, 5 in 48.
        assert_eq!(rare_rises(&every(400, 10, 400)), Some((10, Bytes(40 * 100 / 398))));
        assert_eq!(rare_rises(&every(50, 10, 50)), Some((10, Bytes(5 * 100 / 48))));
        // One rise in the second half; a buffer that is full; a fall.
        assert_eq!(rare_rises(&every(39, 10, 39)), None);
        assert_eq!(rare_rises(&every(400, 10, 100)), None);
        let mut falls = every(400, 10, 400);
        falls[399].1 = Bytes(100);
        assert_eq!(rare_rises(&falls), None);
    }

    #[test]
    fn faster_rises_fill_the_device_earlier() {
        // After step i, 1 + 2 + … + i KiB are kept: 5,050 KiB after step 100.
        let kept = |step: u32| Bytes(u64::from(step) * u64::from(step + 1) * 512);
        let after: Vec<(u32, Bytes)> = (1..=50).map(|step| (step, kept(step))).collect();
        assert_eq!(full_by_faster_rises(&after, kept(100) - kept(50) - Bytes(1)), Some(100));
        let steady: Vec<(u32, Bytes)> = (1..=50).map(|step| (step, Bytes(u64::from(step) << 10))).collect();
        assert_eq!(full_by_faster_rises(&steady, Bytes(1 << 20)), None);
    }

    #[test]
    fn steps_without_a_record_share_the_rise() {
        let cases: [(&Recorded, Option<Rises>); 3] = [
            (&[(1, 10), (2, 90), (3, 100), (8, 150), (12, 190)], Some((3, vec![10, 10, 10]))),
            (&[(1, 10), (2, 90), (7, 140)], None),
            (&[(1, 10), (2, 90), (3, 100), (3, 110)], None),
        ];
        for (after, expected) in cases {
            assert_eq!(rises_at(after), expected, "{after:?}");
        }
    }
}
