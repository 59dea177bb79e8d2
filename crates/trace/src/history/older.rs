//! The sizes of blocks that are older than the history: what the dump says, else what their neighbours show.

// Note [Older blocks]
// ~~~~~~~~~~~~~~~~~~~
// A block that is older than the history and freed in it states only what was requested. Small blocks and those of
// expandable segments are the rounded request. A large one may have got up to 1 MiB more, namely where its neighbour at
// that time was so near. All blocks of large segments are longer than 1 MiB (Note [Block sizes]), so whatever begins
// within 1 MiB of its rounded end while it lives, begins at its very end; so does the end of its segment. Where nothing
// of the kind is seen, the rounded request is taken, and the block is counted as unsure.

use super::lifetime::{Lifetime, Moment};
use super::pairing::Paired;
use super::room::Room;
use super::size::{LARGEST_SLACK, LARGEST_SMALL};
use crate::bytes::Bytes;

/// A block whose end is not known: between its rounded end and 1 MiB more.
struct Open {
    /// The least that its end can be.
    end: u64,
    /// Where it is in the list.
    at: usize,
    /// What was seen of its end.
    seen: Option<u64>,
    until: Moment,
}

/// Gives the blocks older than the history their sizes where the dump did not. Returns how many might be up to 1 MiB longer.
///
/// `room` knows the segments before the first event, and no block yet.
pub(super) fn size_older(paired: &mut Paired, room: &Room) -> u64 {
    size_by_rules(&mut paired.lifetimes[..paired.older], room);
    let mut open = open(&paired.lifetimes[..paired.older], room);
    look_for_ends(&mut open, &paired.lifetimes);
    close(&open, &mut paired.lifetimes)
}

fn size_by_rules(older: &mut [Lifetime], room: &Room) {
    for life in older.iter_mut().filter(|life| life.block == Bytes::ZERO) {
        let by_segment = room.block(life.address, life.requested);
        life.block = by_segment.unwrap_or_else(|_| room.rounded(life.requested));
    }
}

/// Those that the dump does not show and that end nowhere yet, by their end.
fn open(older: &[Lifetime], room: &Room) -> Vec<Open> {
    let freed = older.iter().enumerate().filter(|(_, life)| life.free_completed != Moment::NEVER);
    let unsure = freed.filter(|(_, life)| {
        let rounded = room.rounded(life.requested);
        life.block == rounded && room.may_have_slack(life.address, rounded) && !room.ends_segment(life.end())
    });
    let mut open: Vec<Open> =
        unsure.map(|(at, life)| Open { end: life.end().0, at, seen: None, until: life.free_completed }).collect();
    open.sort_unstable_by_key(|open| open.end);
    open
}

/// At most so many blocks of more than 1 MiB end within 1 MiB; a history that says otherwise is not worth the time.
const NEAR: usize = 2;

/// Looks where other large blocks begin.
fn look_for_ends(open: &mut [Open], lifetimes: &[Lifetime]) {
    if open.is_empty() {
        return;
    }
    for life in lifetimes.iter().filter(|life| life.requested.0 > LARGEST_SMALL) {
        let start = life.address.0;
        let from = open.partition_point(|open| open.end < start.saturating_sub(LARGEST_SLACK));
        let near = open[from..].iter_mut().take_while(|open| open.end <= start);
        for open in near.take(NEAR) {
            if life.begun < open.until {
                open.seen = Some(open.seen.map_or(start, |seen| seen.min(start)));
            }
        }
    }
}

fn close(open: &[Open], lifetimes: &mut [Lifetime]) -> u64 {
    let mut unsure = 0;
    for open in open {
        match (open.seen, lifetimes.get_mut(open.at)) {
            (Some(seen), Some(life)) => life.block = Bytes(seen - life.address.0),
            _ => unsure += 1,
        }
    }
    unsure
}
