//! The requests of one device, in order.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use report::Contents;
use trace::run::EndReason;
use trace::{EventIndex, Lifetime};

use super::places::{PlaceId, Places, StackPlaces};
use crate::measure::life::Life;
use crate::measure::view::View;

/// PyTorch rounds a request up to this multiple (`kMinBlockSize` of `c10/cuda/CUDACachingAllocator.cpp`, 2.11).
const UNIT: u64 = 512;
/// A block of the large pool may be longer than its request by up to this, when the rest is too small to be split off (`kSmallSize`, ibid.).
const LARGEST_REMAINDER: u64 = 1 << 20;

/// A request for memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) place: PlaceId,
    pub(super) bytes: u64,
    /// The step under way, counted from 1; 0 if unknown.
    pub(super) step: u32,
    /// The step in which the program frees the block; `None` for never.
    pub(super) freed: Option<u32>,
    pub(super) is_failed: bool,
    /// Set for the workspace of a library.
    pub(super) is_workspace: bool,
}

/// The requests of a run on one device.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests {
    pub(super) list: Vec<Request>,
    /// The number of completed steps.
    pub(super) done: u32,
    /// Set if the recording lost its beginning.
    pub(super) is_headless: bool,
    /// Set if the run was ended before its own end.
    pub(super) is_cut: bool,
}

impl Requests {
    /// Lists the requests of a history. `is_real`: a recording, which states blocks and no requested sizes. `failed`: the run did not end well.
    pub(super) fn of(view: &View, places: &mut Places, is_real: bool, failed: bool) -> Requests {
        let history = &view.trace.history;
        let mut stacks = StackPlaces::new(view);
        let begun = view.trace.history.lifetimes().iter().zip(&view.contents);
        let served = begun.filter_map(|(life, contents)| {
            let at = life.begun()?;
            let place = stacks.find(places, life.stack, view.timeline.phase(at));
            Some((at, serve(view, life, *contents, place, is_real)))
        });
        let mut list: Vec<(EventIndex, Request)> = served.collect();
        for oom in history.ooms() {
            let stack = view.trace.events.get(oom.event.0 as usize).map(|event| event.stack).unwrap_or_default();
            let place = stacks.find(places, stack, view.timeline.phase(oom.event));
            let step = view.timeline.step(oom.event).unwrap_or_default();
            let bytes = oom.requested.0;
            list.push((oom.event, Request { place, bytes, step, is_failed: true, ..Request::default() }));
        }
        list.sort_by_key(|(event, _)| *event);
        let mut list: Vec<Request> = list.into_iter().map(|(_, request)| request).collect();
        if is_real {
            drop_remainders(&mut list);
        }
        let end = view.trace.process.end.as_ref();
        let is_cut = failed || end.is_none_or(|end| !matches!(end.reason, EndReason::Exit));
        Requests { list, done: view.trace.process.step_count(), is_headless: !history.older().is_empty(), is_cut }
    }

    /// The requests of a step.
    pub(super) fn of_step(&self, step: u32) -> Range<usize> {
        let start = self.list.partition_point(|request| request.step < step);
        start..self.list.partition_point(|request| request.step <= step)
    }

    /// The requests after a step.
    pub(super) fn after(&self, step: u32) -> Range<usize> {
        self.list.partition_point(|request| request.step <= step)..self.list.len()
    }

    /// The first step that has requests.
    pub(super) fn first_step(&self) -> u32 {
        self.list.first().map_or(0, |request| request.step)
    }
}

fn serve(view: &View, life: &Lifetime, contents: Contents, place: PlaceId, is_real: bool) -> Request {
    let (block, rounded) = (life.block().0, life.requested().0.next_multiple_of(UNIT));
    // A difference of more than a remainder is made by a setting, such as `roundup_power2_divisions`.
    let is_remainder = !is_real && block.saturating_sub(rounded) <= LARGEST_REMAINDER;
    Request {
        place,
        bytes: if is_remainder { rounded } else { block },
        step: view.step_of(life).unwrap_or_default(),
        freed: life.freed().map(|event| view.timeline.step(event).unwrap_or_default()),
        is_failed: false,
        is_workspace: contents == Contents::Workspaces,
    }
}

/// Replaces the size of a block that may be longer than its request, if the same line also made a block without the remainder.
fn drop_remainders(list: &mut [Request]) {
    let mut sizes: BTreeMap<PlaceId, BTreeSet<u64>> = BTreeMap::new();
    for request in list.iter().filter(|request| request.bytes > LARGEST_REMAINDER) {
        sizes.entry(request.place).or_default().insert(request.bytes);
    }
    sizes.retain(|_, known| known.len() > 1);
    for request in list.iter_mut().filter(|request| request.bytes > LARGEST_REMAINDER && !request.is_failed) {
        let near = request.bytes.saturating_sub(LARGEST_REMAINDER).max(LARGEST_REMAINDER + 1);
        let smaller = sizes.get(&request.place).and_then(|known| known.range(near..).next());
        request.bytes = smaller.copied().unwrap_or(request.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_remainder_is_dropped_where_the_line_shows_the_size_without_it() {
        let cases: [(&[u64], &[u64]); 4] = [
            (&[20 * MIB, 20 * MIB + 512], &[20 * MIB, 20 * MIB]),
            (&[20 * MIB + 512, 22 * MIB], &[20 * MIB + 512, 22 * MIB]),
            (&[512, 1024], &[512, 1024]),
            (&[8 * MIB, 10 * MIB, 8 * MIB + 4096], &[8 * MIB, 10 * MIB, 8 * MIB]),
        ];
        for (blocks, expected) in cases {
            let mut list: Vec<Request> =
                blocks.iter().map(|bytes| Request { bytes: *bytes, ..Request::default() }).collect();
            drop_remainders(&mut list);
            assert_eq!(list.iter().map(|request| request.bytes).collect::<Vec<_>>(), expected, "{blocks:?}");
        }
    }
}
