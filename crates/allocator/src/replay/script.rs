//! A device that repeats the recorded results.

use trace::{Action, Address, Event, EventIndex};

use super::difference::Difference;
use crate::device::{Device, Pages, Space};
use crate::size::SMALL_SEGMENT_BYTES;

/// The recorded device calls, in order. A call of the allocator that differs is the difference.
#[derive(Clone, Debug)]
pub(super) struct Script<'a> {
    events: &'a [Event],
    /// The next event that reserved or released memory, or an `oom`.
    next: usize,
    /// The number of matching calls.
    pub(super) matched: usize,
    pub(super) difference: Option<Difference>,
    /// Reserved address space: its start, and the end of its highest mapping.
    reserved: Vec<(u64, u64)>,
    /// The next address for calls that the recording lacks.
    invented: u64,
}

impl<'a> Script<'a> {
    pub(super) fn new(events: &'a [Event]) -> Script<'a> {
        let mut script =
            Script { events, next: 0, matched: 0, difference: None, reserved: Vec::new(), invented: 1 << 54 };
        script.skip();
        script
    }

    fn is_scripted(action: Action) -> bool {
        matches!(
            action,
            Action::SegmentAlloc | Action::SegmentFree | Action::SegmentMap | Action::SegmentUnmap | Action::Oom
        )
    }

    fn skip(&mut self) {
        let rest = &self.events[self.next.min(self.events.len())..];
        self.next += rest.iter().take_while(|event| !Script::is_scripted(event.action)).count();
    }

    /// The next recorded device call.
    pub(super) fn peek(&self) -> Option<&'a Event> {
        self.events.get(self.next)
    }

    pub(super) fn position(&self) -> EventIndex {
        EventIndex(u32::try_from(self.next).unwrap_or(u32::MAX))
    }

    pub(super) fn advance(&mut self) {
        self.matched += 1;
        self.next += 1;
        self.skip();
    }

    /// Consumes the next event if it matches.
    fn take(&mut self, action: Action, address: Option<Address>, bytes: u64) -> Option<Address> {
        let event = self.peek().filter(|event| event.action == action && event.size.0 == bytes)?;
        if address.is_some_and(|address| address != event.address) {
            return None;
        }
        let address = event.address;
        self.advance();
        Some(address)
    }

    /// Reserves memory if the recording did; reports out of memory if the recording released memory or failed here.
    fn match_reserve(&mut self, action: Action, address: Option<Address>, bytes: u64) -> Option<Address> {
        if self.difference.is_some() {
            return Some(address.unwrap_or_else(|| self.invent(bytes)));
        }
        if let Some(address) = self.take(action, address, bytes) {
            return Some(address);
        }
        let failed = |event: &Event| !matches!(event.action, Action::SegmentAlloc | Action::SegmentMap);
        if self.peek().is_some_and(failed) {
            return None;
        }
        self.differ(action, address, bytes);
        Some(address.unwrap_or_else(|| self.invent(bytes)))
    }

    fn match_release(&mut self, action: Action, address: Address, bytes: u64) {
        if self.difference.is_none() && self.take(action, Some(address), bytes).is_none() {
            self.differ(action, Some(address), bytes);
        }
    }

    fn differ(&mut self, action: Action, address: Option<Address>, bytes: u64) {
        let recorded = self.peek().map(|event| (event.action, event.address, event.size.0));
        let replayed = (action, address, bytes);
        self.difference = Some(Difference::Segment { event: self.position(), replayed, recorded });
    }

    fn invent(&mut self, bytes: u64) -> Address {
        let address = self.invented;
        self.invented += bytes.next_multiple_of(1 << 30);
        Address(address)
    }

    /// Tests that a mapping continues a known reservation, or lies within it.
    fn is_known(&self, address: Address) -> bool {
        self.reserved.iter().any(|&(start, end)| start <= address.0 && address.0 <= end)
    }

    fn note_mapped(&mut self, address: Address, bytes: u64) {
        let of = |space: &&mut (u64, u64)| space.0 <= address.0 && address.0 <= space.1;
        if let Some(space) = self.reserved.iter_mut().find(of) {
            space.1 = space.1.max(address.0 + bytes);
        }
    }
}

impl Device for Script<'_> {
    /// Not recorded; large enough for every address space in the events.
    fn total_bytes(&self) -> u64 {
        1 << 40
    }

    fn free_bytes(&self) -> u64 {
        self.peek().filter(|event| event.action == Action::Oom).map_or(0, |event| event.address.0)
    }

    fn allocate(&mut self, bytes: u64) -> Option<Address> {
        self.match_reserve(Action::SegmentAlloc, None, bytes)
    }

    fn release(&mut self, address: Address, bytes: u64) {
        self.match_release(Action::SegmentFree, address, bytes);
    }

    /// A new reservation begins at the next mapping of this stream and page size that continues no known reservation.
    fn reserve(&mut self, space: Space) -> Address {
        let rest = &self.events[self.next.min(self.events.len())..];
        let meant = |event: &&Event| {
            event.action == Action::SegmentMap && event.stream == space.stream && is_mapped_in(event, space.page_bytes)
        };
        let first = rest.iter().filter(meant).map(|event| event.address).find(|&address| !self.is_known(address));
        let address = first.unwrap_or_else(|| self.invent(space.bytes));
        self.reserved.push((address.0, address.0));
        address
    }

    fn unreserve(&mut self, address: Address) {
        self.reserved.retain(|&(start, _)| start != address.0);
    }

    fn map(&mut self, address: Address, pages: Pages) -> bool {
        let mapped = self.match_reserve(Action::SegmentMap, Some(address), pages.bytes()).is_some();
        if mapped {
            self.note_mapped(address, pages.bytes());
        }
        mapped
    }

    fn unmap(&mut self, address: Address, pages: Pages) {
        self.match_release(Action::SegmentUnmap, address, pages.bytes());
    }
}

/// Tests the pool of a mapping by its size. The small pool maps one small page at a time, and the large pool has larger
/// pages.
fn is_mapped_in(event: &Event, page_bytes: u64) -> bool {
    let is_small = event.size.0 == SMALL_SEGMENT_BYTES;
    is_small == (page_bytes == SMALL_SEGMENT_BYTES)
}
