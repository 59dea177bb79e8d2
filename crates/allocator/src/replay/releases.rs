//! Attributes releases of cached memory: to `empty_cache`, or to a request that found no memory.
//!
//! # Note [Releases]
//!
//! Both look alike: `free_completed` of blocks that were waited for, then `segment_free` and `segment_unmap`. A run of
//! these events was a call of `empty_cache` if no new segment and no `oom` follows. Otherwise the stacks decide: a
//! request and its releases share one stack. Without stacks the need decides: a request that one of the released
//! segments would have served, or that would have fitted below the peak of reserved memory, had no reason to release
//! memory.

use trace::{Action, Bytes, Event, EventIndex, StackId};

/// A run of events that released memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// The first event, including the blocks that were waited for.
    pub first: EventIndex,
    /// The first event after the run.
    pub end: EventIndex,
    /// Set for a call of `empty_cache`.
    pub is_call: bool,
}

/// Lists all runs, in order. `reserved` is the memory reserved before the first event. With `max_split`, oversize
/// segments serve no smaller request.
pub fn find_releases(events: &[Event], reserved: Bytes, max_split: Option<Bytes>) -> Vec<Release> {
    let most = most_reserved(events, reserved);
    let mut runs = Vec::new();
    let (mut reserved, mut index) = (reserved.0, 0);
    while let Some(event) = events.get(index) {
        if !is_release(event.action) {
            reserved = after(reserved, event);
            index += 1;
            continue;
        }
        let waited = waited_for(&events[..index]);
        let length = events[index..].iter().take_while(|event| belongs(event.action)).count();
        let end = index + length;
        let run = &events[index..end];
        let is_call = match events.get(end).filter(|next| obtains(next.action) || next.action == Action::Oom) {
            None => true,
            Some(next) if next.stack != event.stack => true,
            Some(next) if next.stack != StackId::EMPTY => false,
            Some(next) => would_be_served(run, next, max_split) || would_fit(reserved, next, most),
        };
        runs.push(Release { first: at(index - waited), end: at(end), is_call });
        reserved = events[index..end].iter().fold(reserved, after);
        index = end;
    }
    runs
}

/// The number of trailing `free_completed` events without a `free_requested` just before.
fn waited_for(events: &[Event]) -> usize {
    let freed_now = |pair: &[Event]| pair[0].action == Action::FreeRequested && pair[0].address == pair[1].address;
    let pairs = events.windows(2).rev();
    pairs.take_while(|pair| pair[1].action == Action::FreeCompleted && !freed_now(pair)).count()
}

fn at(index: usize) -> EventIndex {
    EventIndex(u32::try_from(index).unwrap_or(u32::MAX))
}

fn is_release(action: Action) -> bool {
    matches!(action, Action::SegmentFree | Action::SegmentUnmap)
}

fn belongs(action: Action) -> bool {
    is_release(action) || action == Action::FreeCompleted
}

/// Tests that a released segment would have served the request of `next` from the cache.
fn would_be_served(run: &[Event], next: &Event, max_split: Option<Bytes>) -> bool {
    let oversize = |bytes: Bytes| max_split.is_some_and(|max| bytes >= max);
    let serves = |freed: &Event| {
        freed.action == Action::SegmentFree
            && freed.stream == next.stream
            && freed.size >= next.size
            && !oversize(freed.size)
    };
    next.action == Action::SegmentAlloc && run.iter().any(serves)
}

/// Tests that the segment of `next` fitted without a release.
fn would_fit(reserved: u64, next: &Event, most: u64) -> bool {
    obtains(next.action) && reserved.saturating_add(next.size.0) <= most
}

fn obtains(action: Action) -> bool {
    matches!(action, Action::SegmentAlloc | Action::SegmentMap)
}

fn after(reserved: u64, event: &Event) -> u64 {
    match event.action {
        action if obtains(action) => reserved.saturating_add(event.size.0),
        action if is_release(action) => reserved.saturating_sub(event.size.0),
        _ => reserved,
    }
}

fn most_reserved(events: &[Event], reserved: Bytes) -> u64 {
    let (_, most) = events.iter().fold((reserved.0, reserved.0), |(now, most), event| {
        let now = after(now, event);
        (now, most.max(now))
    });
    most
}
