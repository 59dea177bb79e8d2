//! Assembles the histories from the folded events with as few copies as possible, since they are most of the memory.

use std::ops::Range;

use crate::event::Event;

/// The events of one history.
pub(super) enum Trace {
    /// Consecutive among the records.
    Folded(Range<u32>),
    /// Read or copied singly.
    Own(Vec<Event>),
}

/// The histories, in order. Histories at the end of `events` are split off, so that no event is in memory twice.
pub(super) fn assemble(mut events: Vec<Event>, traces: Vec<Trace>) -> Vec<Vec<Event>> {
    let mut order: Vec<usize> = (0..traces.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(start(&traces, index)));
    let lowest = disjoint(&traces, &order);
    let mut histories: Vec<Vec<Event>> = traces.iter().map(|_| Vec::new()).collect();
    for index in order {
        let Some(place) = histories.get_mut(index) else { continue };
        if let Some(Trace::Folded(range)) = traces.get(index) {
            *place = if lowest { cut(&mut events, range) } else { copy(&events, range) };
        }
    }
    for (place, trace) in histories.iter_mut().zip(traces) {
        if let Trace::Own(events) = trace {
            *place = events;
        }
    }
    histories
}

fn start(traces: &[Trace], index: usize) -> Option<u32> {
    match traces.get(index) {
        Some(Trace::Folded(range)) => Some(range.start),
        _ => None,
    }
}

/// Tests that no event belongs to two histories; `order` has the last history first.
fn disjoint(traces: &[Trace], order: &[usize]) -> bool {
    let ranges = order.iter().filter_map(|&index| match traces.get(index) {
        Some(Trace::Folded(range)) => Some(range),
        _ => None,
    });
    let mut end = u32::MAX;
    ranges.into_iter().all(|range| range.end <= std::mem::replace(&mut end, range.start))
}

/// Splits a range off the end, and drops the events after it.
fn cut(events: &mut Vec<Event>, range: &Range<u32>) -> Vec<Event> {
    events.truncate(range.end as usize);
    if range.start == 0 {
        return std::mem::take(events);
    }
    let tail = events.split_off((range.start as usize).min(events.len()));
    events.shrink_to_fit();
    tail
}

fn copy(events: &[Event], range: &Range<u32>) -> Vec<Event> {
    events.get(range.start as usize..range.end as usize).unwrap_or_default().to_vec()
}
