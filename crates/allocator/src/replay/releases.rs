//! Who released cached memory: the program by `empty_cache`, or a request that found none.
//!
//! # Note [Releases]
//!
//! Both look alike: `free_completed` of blocks that were waited for, then `segment_free` and `segment_unmap`. A run of
//! these that no new segment and no `oom` follows was a call of `empty_cache`. Where one does follow, stacks tell: a request
//! and what it releases share theirs. Without stacks it is a question of room: a request that would have fitted
//! below the most that was ever reserved had no reason to release anything.

use trace::{Action, Bytes, Event, EventIndex, StackId};

/// A run of events that released memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Release {
    /// The first event, among them blocks that were waited for.
    pub(super) first: EventIndex,
    /// The first event behind it.
    pub(super) end: EventIndex,
    /// It was a call of `empty_cache`.
    pub(super) is_call: bool,
}

/// All runs, in order. `reserved` is what was reserved before the first event.
pub(super) fn releases(events: &[Event], reserved: Bytes) -> Vec<Release> {
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
        let is_call = is_call(event.stack, reserved, most, events.get(end));
        runs.push(Release { first: at(index - waited), end: at(end), is_call });
        reserved = events[index..end].iter().fold(reserved, after);
        index = end;
    }
    runs
}

/// How many blocks came back last that were not freed right then.
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

fn is_call(stack: StackId, reserved: u64, most: u64, next: Option<&Event>) -> bool {
    let Some(next) = next.filter(|next| obtains(next.action) || next.action == Action::Oom) else { return true };
    if stack != StackId::EMPTY || next.stack != StackId::EMPTY {
        return stack != next.stack;
    }
    next.action != Action::Oom && reserved.saturating_add(next.size.0) <= most
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
