//! Compares the run without a limit with the run within the limit, by the sizes that both requested.
//!
//! A program with unseeded random lengths, or a program that queries the free memory, takes another course in its
//! second run. The need then belongs to the second course, and the report says so.

use trace::{Action, Bytes, Event, EventIndex, Process};

use super::case::Case;
use crate::measure::view::View;

/// Requests below this size come from the allocator's small pool (`kSmallSize` in `c10/core/AllocatorConfig.h`, 2.11.0); they decide no
/// need.
const LEAST_BYTES: u64 = 1 << 20;

/// Returns the remark on the first request in which the two runs differ.
pub(super) fn say_difference(case: &Case, view: &View) -> Option<String> {
    let again = &case.unlimited?.run;
    let repeated = find_counterpart(view.trace.process, &again.processes)?;
    let events = repeated.snapshot.as_ref()?.traces.get(view.trace.device.0 as usize)?;
    let is_whole = view.trace.history.older().is_empty();
    let (event, first, second) = find_difference(view.trace.events, events).filter(|_| is_whole)?;
    let place = view.place(event);
    let step = place.step.map_or_else(String::new, |step| format!(" at step {step}"));
    let line = view.own_line(view.trace.events.get(event.0 as usize)?.stack);
    let line = line.map_or_else(String::new, |at| format!(" ({}:{})", case.show(&at.file), at.line));
    Some(format!(
        "the run without a limit did not repeat the first run:{step}{line} it requested {second} in place of {first}. `needs` is the \
         need of the run without a limit"
    ))
}

/// Returns the process of the same rank and arguments, if it is unique.
fn find_counterpart<'a>(process: &Process, among: &'a [Process]) -> Option<&'a Process> {
    let identity = &process.identity;
    let is_alike = |other: &&Process| other.identity.rank == identity.rank && other.identity.argv == identity.argv;
    let mut alike = among.iter().filter(is_alike);
    alike.next().filter(|_| alike.next().is_none())
}

/// Returns the first differing request before the first run ran out: its event in the first run, and both sizes.
fn find_difference(first: &[Event], second: &[Event]) -> Option<(EventIndex, Bytes, Bytes)> {
    let both = list_requests(first).zip(list_requests(second));
    both.map(|((event, one), (_, other))| (event, one, other)).find(|(_, one, other)| one != other)
}

/// Lists the large requests before the first out-of-memory error. Left out are blocks freed before the next event:
/// workspaces of a library, sized by the free memory.
fn list_requests(events: &[Event]) -> impl Iterator<Item = (EventIndex, Bytes)> {
    let is_program = |event: &&Event| matches!(event.action, Action::Alloc | Action::FreeRequested);
    let next_is_its_free = move |at: EventIndex, event: &Event| {
        let next = events.get(at.0 as usize + 1..).and_then(|rest| rest.iter().find(is_program));
        next.is_some_and(|next| next.action == Action::FreeRequested && next.address == event.address)
    };
    let before = events.iter().take_while(|event| event.action != Action::Oom);
    let large = (0..)
        .map(EventIndex)
        .zip(before)
        .filter(|(_, event)| event.action == Action::Alloc && event.size.0 >= LEAST_BYTES);
    large.filter(move |(at, event)| !next_is_its_free(*at, event)).map(|(at, event)| (at, event.size))
}

#[cfg(test)]
mod tests {
    use trace::Address;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn alloc(address: u64, mebibytes: u64) -> Event {
        Event::new(Action::Alloc, Address(address), Bytes(mebibytes * MIB))
    }

    fn free(address: u64) -> Event {
        Event::new(Action::FreeRequested, Address(address), Bytes(MIB))
    }

    fn oom() -> Event {
        Event::new(Action::Oom, Address(0), Bytes(MIB))
    }

    #[test]
    fn the_first_large_request_that_differs_before_the_error_is_found() {
        let small = |bytes| Event::new(Action::Alloc, Address(9), Bytes(bytes));
        let cases = [
            (vec![alloc(1, 2), alloc(2, 4)], vec![alloc(7, 2), alloc(8, 4), alloc(9, 6)], None),
            (vec![alloc(1, 2), alloc(2, 4)], vec![alloc(1, 2), alloc(2, 6)], Some((1, 4, 6))),
            // Small requests, and workspaces that come and go.
            (vec![small(512), alloc(2, 4)], vec![small(1024), small(2), alloc(2, 4)], None),
            (vec![alloc(1, 9), free(1), alloc(2, 4)], vec![alloc(1, 99), free(1), alloc(2, 4)], None),
            // After the error the program may do anything.
            (vec![alloc(1, 2), oom(), alloc(2, 4)], vec![alloc(1, 2), alloc(2, 8)], None),
        ];
        for (first, second, expected) in cases {
            let found = find_difference(&first, &second);
            let expected = expected
                .map(|(event, one, other): (u32, u64, u64)| (EventIndex(event), Bytes(one * MIB), Bytes(other * MIB)));
            assert_eq!(found, expected, "{first:?}\n{second:?}");
        }
    }
}
