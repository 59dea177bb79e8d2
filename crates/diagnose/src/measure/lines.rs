//! Live bytes by the user's line, to compare two histories.

use std::collections::BTreeMap;

use report::Location;
use trace::{Bytes, Moment};

use super::life::Life;
use super::view::View;

/// Returns the line with the largest excess of bytes in `here` over `there`.
pub(crate) fn more(here: BTreeMap<Location, Bytes>, there: &BTreeMap<Location, Bytes>) -> Option<(Bytes, Location)> {
    let more = here.into_iter().map(|(line, bytes)| (bytes - there.get(&line).copied().unwrap_or_default(), line));
    more.filter(|(bytes, _)| *bytes > Bytes::ZERO).max()
}

/// Returns the live bytes at a moment, by the user's line.
pub(crate) fn by_line(view: &View, moment: Option<Moment>) -> BTreeMap<Location, Bytes> {
    let mut stacks = BTreeMap::new();
    let mut lines = BTreeMap::new();
    for (life, _) in moment.into_iter().flat_map(|moment| view.live_after(moment)) {
        *stacks.entry(life.stack).or_insert(Bytes::ZERO) += life.block();
    }
    for (stack, bytes) in stacks {
        if let Some(line) = view.own_line(stack) {
            *lines.entry(line).or_insert(Bytes::ZERO) += bytes;
        }
    }
    lines
}
