//! The sizes of blocks older than the history: from the dump, else from their neighbours.

// Note [Older blocks]
// ~~~~~~~~~~~~~~~~~~~
// For a block older than the history and freed in it, the trace states only the requested size. Small blocks and blocks
// of expandable segments have the rounded size. A large block may be up to 1 MiB longer, if its neighbour at that time
// was so near. All blocks of large segments are longer than 1 MiB (Note [Block sizes]), so a block that begins within 1
// MiB of the rounded end during the lifetime begins exactly at the end; so does the end of the segment. Without such
// evidence the rounded size is used, and the block is counted as unsure.

use super::lifetime::{Lifetime, Moment};
use super::neighbours::Neighbours;
use super::pairing::Paired;
use super::size::{LARGEST_SLACK, LARGEST_SMALL};
use crate::bytes::Bytes;

/// A block with an unknown end: between its rounded end and 1 MiB more.
struct Open {
    /// The least possible end.
    end: u64,
    /// The index in the list.
    at: usize,
    /// The end, once evidence was found.
    seen: Option<u64>,
    until: Moment,
}

/// Computes the sizes of blocks older than the history that the dump lacks. Returns the number of blocks that may be up
/// to 1 MiB longer.
///
/// `neighbours` has the segments before the first event, and no blocks yet.
pub(super) fn size_older(paired: &mut Paired, neighbours: &Neighbours) -> u64 {
    size_by_rules(&mut paired.lifetimes[..paired.older], neighbours);
    let mut open = list_open(&paired.lifetimes[..paired.older], neighbours);
    look_for_ends(&mut open, &paired.lifetimes);
    close(&open, &mut paired.lifetimes)
}

fn size_by_rules(older: &mut [Lifetime], neighbours: &Neighbours) {
    for life in older.iter_mut().filter(|life| life.block == Bytes::ZERO) {
        let by_segment = neighbours.block(life.address, life.requested);
        life.block = by_segment.unwrap_or_else(|_| neighbours.rounded(life.requested));
    }
}

/// The blocks with unknown ends, sorted by end.
fn list_open(older: &[Lifetime], neighbours: &Neighbours) -> Vec<Open> {
    let freed = older.iter().enumerate().filter(|(_, life)| life.free_completed != Moment::NEVER);
    let unsure = freed.filter(|(_, life)| {
        let rounded = neighbours.rounded(life.requested);
        life.block == rounded
            && neighbours.may_have_slack(life.address, rounded)
            && !neighbours.ends_segment(life.end())
    });
    let mut open: Vec<Open> =
        unsure.map(|(at, life)| Open { end: life.end().0, at, seen: None, until: life.free_completed }).collect();
    open.sort_unstable_by_key(|open| open.end);
    open
}

/// At most this number of blocks above 1 MiB end within 1 MiB; forged histories with more are not searched further.
const NEAR: usize = 2;

/// Searches for large blocks that begin at an open end.
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
