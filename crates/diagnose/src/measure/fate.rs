//! The fate of the blocks that are alive at an error: their frees in the same program on a device that is never full.
//!
//! # Note [Fate]
//! Both runs make the same requests up to the error, except for workspaces, because a library asks for a size that the device has free. The
//! allocations are paired in order, and a few extra allocations of one run are passed over.

use trace::{EventIndex, Lifetime, Moment};

use super::life::Life;
use super::view::View;

/// At most this many allocations are passed over at once, in both runs together.
const MOST_EXTRA: usize = 8;
/// As many pairs must agree behind allocations that are passed over.
const LEAST_EQUAL: usize = 3;

/// The rest of a program that ran out of memory. See Note [Fate].
#[derive(Clone, Debug)]
pub(crate) struct Fate<'v> {
    /// The run without a limit.
    pub(crate) later: &'v View<'v>,
    /// The event, in that run, of the request that failed under the limit.
    pub(crate) request: EventIndex,
    /// The number of each allocation in that run.
    numbers: Vec<Option<usize>>,
}

impl<'v> Fate<'v> {
    /// Returns the rest of `view`'s program after `error`; `None` if the runs differ before.
    pub(crate) fn of(view: &View, error: Moment, later: &'v View<'v>) -> Option<Fate<'v>> {
        let made: Vec<&Lifetime> =
            view.trace.history.lifetimes().iter().take_while(|life| life.begun <= error).collect();
        let others = later.trace.history.lifetimes();
        let (mut numbers, mut next) = (vec![None; made.len()], 0);
        let mut index = 0;
        while index < made.len() {
            let (skipped, passed) = find_pair(made.get(index..)?, others.get(next..)?)?;
            (index, next) = (index + skipped, next + passed);
            if let Some(number) = numbers.get_mut(index) {
                *number = Some(next);
            }
            (index, next) = (index + 1, next + 1);
        }
        let request = others.get(next)?.begun()?;
        Some(Fate { later, request, numbers })
    }

    /// Returns the number of an allocation in the run without a limit.
    pub(crate) fn number(&self, index: usize) -> Option<usize> {
        *self.numbers.get(index)?
    }

    /// Returns the allocation with a number.
    pub(crate) fn life(&self, index: usize) -> Option<&'v Lifetime> {
        self.later.trace.history.lifetimes().get(self.number(index)?)
    }

    /// Returns the event after the failed request in which the program frees an allocation; `None` without such an event.
    pub(crate) fn freed(&self, index: usize) -> Option<EventIndex> {
        self.life(index)?.freed().filter(|freed| *freed > self.request)
    }

    /// True if the program keeps an allocation as long as it makes requests: the end of a function, or of the program, frees all that is left.
    pub(crate) fn is_kept(&self, index: usize) -> bool {
        let last = self.later.trace.history.lifetimes().last().and_then(Life::begun);
        self.freed(index).is_none_or(|freed| last.is_some_and(|last| freed > last))
    }

    /// Returns the number of the allocation that begins at an event of the run without a limit, or the number behind the last for an event
    /// from the failed request on.
    pub(crate) fn number_at(&self, event: EventIndex) -> usize {
        let is_before = |number: &Option<usize>| {
            let life = number.and_then(|number| self.later.trace.history.lifetimes().get(number));
            life.is_none_or(|life| life.begun().is_some_and(|begun| begun < event))
        };
        self.numbers.iter().take_while(|number| is_before(number)).count()
    }
}

/// Returns the numbers of allocations to pass over in each run before the next pair.
fn find_pair(ours: &[&Lifetime], theirs: &[Lifetime]) -> Option<(usize, usize)> {
    let agree = |skipped: usize, passed: usize, least: usize| {
        let pairs = ours.get(skipped..)?.iter().zip(theirs.get(passed..)?).take(least);
        let mut count = 0;
        let all = pairs.inspect(|_| count += 1).all(|(one, other)| one.requested == other.requested);
        Some(all && count > 0)
    };
    if agree(0, 0, 1) == Some(true) {
        return Some((0, 0));
    }
    // The end of the shorter run needs no agreement.
    let mut extra = (1..=MOST_EXTRA).flat_map(|sum| (0..=sum).map(move |skipped| (skipped, sum - skipped)));
    extra.find(|(skipped, passed)| *skipped == ours.len() || agree(*skipped, *passed, LEAST_EQUAL) == Some(true))
}
