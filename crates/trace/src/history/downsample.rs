//! A smaller history for drawings, with all extremes.

use super::History;
use super::lifetime::LifetimeId;
use super::totals::Totals;
use crate::bytes::Bytes;
use crate::ids::EventIndex;

/// The totals right after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TotalsAt {
    /// The event.
    pub event: EventIndex,
    /// The totals after it.
    pub totals: Totals,
}

/// The most points kept of a stretch: its first, the most and the least allocated, the most reserved.
const POINTS: usize = 4;

impl History {
    /// The totals over time in at most `points` points, by event. The history is cut into stretches of equal length;
    /// each keeps its first event and its extremes, so no peak is lost.
    pub fn timeline(&self, points: usize) -> Vec<TotalsAt> {
        let stretches = (points / POINTS).max(1);
        let length = self.event_count().div_ceil(stretches).max(1);
        let mut timeline = Vec::new();
        let mut stretch = Stretch::default();
        for (event, totals) in (0..).map(EventIndex).zip(self.totals()) {
            if (event.0 as usize).is_multiple_of(length) {
                std::mem::take(&mut stretch).end(&mut timeline);
            }
            stretch.add(TotalsAt { event, totals });
        }
        stretch.end(&mut timeline);
        timeline
    }

    /// The `n` largest allocations, in the order of allocation; among equals the longer-lived.
    pub fn largest(&self, n: usize) -> Vec<LifetimeId> {
        let mut ids: Vec<LifetimeId> = (0..).map(LifetimeId).take(self.lifetimes.len()).collect();
        if n < ids.len() {
            ids.select_nth_unstable_by_key(n, |&id| std::cmp::Reverse(self.weight(id)));
            ids.truncate(n);
        }
        ids.sort_unstable();
        ids
    }

    /// The sort key of an allocation for drawings. No two are equal.
    fn weight(&self, id: LifetimeId) -> (Bytes, u32, std::cmp::Reverse<LifetimeId>) {
        let life = &self.lifetimes[id.0 as usize];
        (life.block, life.free_requested.since(life.begun), std::cmp::Reverse(id))
    }
}

/// The kept points of a stretch.
#[derive(Default)]
struct Stretch {
    first: Option<TotalsAt>,
    most: Option<TotalsAt>,
    least: Option<TotalsAt>,
    most_reserved: Option<TotalsAt>,
}

impl Stretch {
    fn add(&mut self, point: TotalsAt) {
        self.first.get_or_insert(point);
        keep(&mut self.most, point, |old, new| new.allocated > old.allocated);
        keep(&mut self.least, point, |old, new| new.allocated < old.allocated);
        keep(&mut self.most_reserved, point, |old, new| new.reserved > old.reserved);
    }

    fn end(self, timeline: &mut Vec<TotalsAt>) {
        let mut points: Vec<TotalsAt> =
            [self.first, self.most, self.least, self.most_reserved].into_iter().flatten().collect();
        points.sort_unstable_by_key(|point| point.event);
        points.dedup();
        timeline.append(&mut points);
    }
}

fn keep(kept: &mut Option<TotalsAt>, point: TotalsAt, better: impl Fn(&Totals, &Totals) -> bool) {
    if kept.is_none_or(|old| better(&old.totals, &point.totals)) {
        *kept = Some(point);
    }
}
