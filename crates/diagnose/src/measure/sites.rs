//! The lines that made what was alive at the peak.

use std::collections::BTreeMap;

use report::{Contents, Location, Place, Site};
use trace::{Bytes, Lifetime, Moment, Phase, StackId};

use super::life::Life;
use super::view::View;

/// How many sites a report names.
const SITES: usize = 10;

/// What makes allocations belong together: the user's line and what it called, else the innermost frame, else when
/// they were made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// The user's line, and the innermost line outside PyTorch that it led to: a model out of a library would
    /// otherwise be one site.
    Own(Location, Option<(String, u32)>),
    /// No line is the user's.
    Foreign(String, u32),
    /// No frame of Python was recorded, as in autograd's own threads.
    Stretch(Option<Phase>, Option<String>),
}

#[derive(Default)]
struct Group {
    bytes: Bytes,
    count: u64,
    largest: Option<Lifetime>,
}

impl Group {
    fn add(&mut self, life: &Lifetime) {
        let block = life.block();
        self.bytes += block;
        self.count += 1;
        if self.largest.is_none_or(|largest| block > largest.block()) {
            self.largest = Some(*life);
        }
    }
}

/// The largest sites of what is live right after `at`, largest first. What one line made for several purposes is
/// several sites: a library's workspace must not hide the loss that was computed beside it.
pub(crate) fn sites(view: &View, at: impl Into<Moment>) -> Vec<Site> {
    let mut groups: BTreeMap<(Key, Contents), Group> = BTreeMap::new();
    let mut keys: BTreeMap<StackId, Option<Key>> = BTreeMap::new();
    for (life, contents) in view.live_after(at) {
        let stack = life.stack;
        let by_stack = keys.entry(stack).or_insert_with(|| key(view, stack)).clone();
        let key = by_stack.unwrap_or_else(|| stretch(view, life));
        groups.entry((key, contents)).or_default().add(life);
    }
    let mut groups: Vec<((Key, Contents), Group)> = groups.into_iter().collect();
    groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.bytes));
    groups.truncate(SITES);
    groups.into_iter().map(|((key, contents), group)| site(view, key, contents, &group)).collect()
}

/// `None` where no frame of Python was recorded.
fn key(view: &View, stack: StackId) -> Option<Key> {
    if let Some(line) = view.own_line(stack) {
        let called = view.library_line(stack).map(|(file, line)| (file.to_owned(), line));
        return Some(Key::Own(line, called));
    }
    let frame = view.frames(stack).into_iter().next()?;
    Some(Key::Foreign(frame.file, frame.line))
}

fn stretch(view: &View, life: &Lifetime) -> Key {
    let place = view.place_of(life);
    Key::Stretch(place.phase, place.module)
}

fn site(view: &View, key: Key, contents: Contents, group: &Group) -> Site {
    let largest = group.largest.as_ref();
    let location = match key {
        Key::Own(location, _) => Some(location),
        Key::Foreign(..) | Key::Stretch(..) => None,
    };
    Site {
        bytes: group.bytes,
        count: group.count,
        category: contents,
        location,
        frames: largest.map_or_else(Vec::new, |life| view.frames(life.stack)),
        place: largest.map_or_else(Place::default, |life| view.place_of(life)),
    }
}
