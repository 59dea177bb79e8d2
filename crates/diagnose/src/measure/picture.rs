//! Thins a device's history out to a drawable size.

use std::collections::{BTreeMap, HashMap};

use report::explain::{BlockPicture, Picture, SegmentPicture, Span, StackPicture, TotalsPoint};
use report::{Contents, DevicePicture};
use trace::{Bytes, LifetimeId, Moment, StackId};

use super::life::Life;
use super::peak::find_history_peak;
use super::view::View;

/// The picture has at most this many points of the totals.
const POINTS: usize = 2000;
/// The picture has at most this many allocations.
const SPANS: usize = 5000;

/// Returns a device as the page of a run draws it.
pub(crate) fn draw_device(view: &View) -> DevicePicture {
    DevicePicture {
        rank: view.trace.process.identity.rank,
        device: view.trace.device,
        events: u64::try_from(view.trace.events.len()).unwrap_or(u64::MAX),
        peak: find_history_peak(view),
        oom_event: view.trace.last_oom().map(|event| event.0),
        picture: picture(view),
    }
}

/// Returns the picture of `view`.
pub(crate) fn picture(view: &View) -> Picture {
    let mut stacks = Stacks { view, ids: HashMap::new(), order: Vec::new() };
    let spans = view.trace.history.largest(SPANS).into_iter().filter_map(|id| span(view, id, &mut stacks)).collect();
    let at = view.trace.history.peaks().allocated.map_or(Moment::BEFORE, |peak| peak.at);
    let segments = segments(view, at, &mut stacks);
    Picture { totals: totals(view), spans, segments, stacks: stacks.pictures(at), steps: steps(view) }
}

fn totals(view: &View) -> Vec<TotalsPoint> {
    let points = view.trace.history.timeline(POINTS).into_iter().map(|point| TotalsPoint {
        event: point.event.0,
        time_us: view.trace.events.get(point.event.0 as usize).and_then(|event| event.time).map(trace::Time::micros),
        allocated_bytes: point.totals.allocated,
        reserved_bytes: point.totals.reserved,
    });
    points.collect()
}

fn steps(view: &View) -> Vec<u32> {
    let mut last = None;
    let begins = view.timeline.stretches().iter().filter(|stretch| {
        let step = stretch.at.map(|(step, _)| step);
        std::mem::replace(&mut last, step) != step
    });
    begins.map(|stretch| stretch.first.0).collect()
}

fn span(view: &View, id: LifetimeId, stacks: &mut Stacks) -> Option<Span> {
    let life = view.trace.history.lifetimes().get(id.0 as usize)?;
    Some(Span {
        from: life.begun().map_or(0, |event| event.0),
        to: life.freed().unwrap_or(view.trace.end()).0,
        bytes: life.block(),
        stack: stacks.index(life.stack),
    })
}

fn segments(view: &View, at: Moment, stacks: &mut Stacks) -> Vec<SegmentPicture> {
    let state = view.trace.history.state_after(at);
    let segments = state.segments.iter().map(|segment| SegmentPicture {
        address: segment.address,
        bytes: segment.size,
        kind: segment.kind,
        is_expandable: segment.is_expandable,
        blocks: segment.used.iter().map(|block| used(view, block, segment.address.0, stacks)).collect(),
    });
    segments.collect()
}

fn used(view: &View, block: &trace::history::UsedBlock, start: u64, stacks: &mut Stacks) -> BlockPicture {
    let stack = view.trace.history.lifetimes().get(block.lifetime.0 as usize).map_or(StackId::EMPTY, |life| life.stack);
    BlockPicture { offset: block.address.0.saturating_sub(start), bytes: block.size, stack: stacks.index(stack) }
}

/// The stacks of the picture, in the order of their first use.
struct Stacks<'a> {
    view: &'a View<'a>,
    ids: HashMap<StackId, u32>,
    order: Vec<StackId>,
}

impl Stacks<'_> {
    fn index(&mut self, stack: StackId) -> u32 {
        let next = u32::try_from(self.order.len()).unwrap_or(u32::MAX);
        *self.ids.entry(stack).or_insert_with(|| {
            self.order.push(stack);
            next
        })
    }

    /// Returns the stacks, each with its live bytes at `at`.
    fn pictures(&self, at: Moment) -> Vec<StackPicture> {
        let mut alive: HashMap<StackId, (u64, BTreeMap<Contents, Bytes>)> = HashMap::new();
        for (life, contents) in self.view.live_after(at) {
            let (count, held) = alive.entry(life.stack).or_default();
            *count += 1;
            *held.entry(contents).or_default() += life.block();
        }
        self.order.iter().map(|stack| self.picture(*stack, alive.get(stack))).collect()
    }

    fn picture(&self, stack: StackId, alive: Option<&(u64, BTreeMap<Contents, Bytes>)>) -> StackPicture {
        let held = alive.map(|(_, held)| held);
        let most = held.and_then(|held| held.iter().max_by_key(|(_, bytes)| **bytes));
        StackPicture {
            frames: self.view.frames(stack),
            category: most.map_or(Contents::Other, |(contents, _)| *contents),
            bytes: held.map(|held| held.values().copied().sum()).unwrap_or_default(),
            count: alive.map_or(0, |(count, _)| *count),
        }
    }
}
