//! The lines that made what was alive at the peak.

use std::collections::BTreeMap;

use report::{Contents, Location, Place, Site};
use trace::{Bytes, EventIndex, Lifetime, StackId};

use super::view::View;

/// How many sites a report names.
const SITES: usize = 10;

/// What makes allocations belong together: the user's line, else the innermost library line, else when it was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Line(Location),
    Library(String, u32),
    Place(Option<trace::Phase>, Option<String>),
}

#[derive(Default)]
struct Group {
    bytes: Bytes,
    count: u64,
    held: BTreeMap<Contents, Bytes>,
    largest: Option<Lifetime>,
}

impl Group {
    fn add(&mut self, life: &Lifetime, contents: Contents) {
        let block = life.allocation.block;
        self.bytes += block;
        self.count += 1;
        *self.held.entry(contents).or_default() += block;
        if self
            .largest
            .is_none_or(|largest| block > largest.allocation.block)
        {
            self.largest = Some(*life);
        }
    }

    fn mostly(&self) -> Contents {
        let most = self
            .held
            .iter()
            .max_by_key(|&(contents, bytes)| (*bytes, std::cmp::Reverse(*contents)));
        most.map_or(Contents::Other, |(contents, _)| *contents)
    }
}

/// The largest sites of what is live right after `event`, largest first.
pub(crate) fn sites(view: &View, event: EventIndex) -> Vec<Site> {
    let mut groups: BTreeMap<Key, Group> = BTreeMap::new();
    let mut keys: BTreeMap<StackId, Option<Key>> = BTreeMap::new();
    for (life, contents) in view.live_after(event) {
        let stack = view.stack(life);
        let by_stack = keys
            .entry(stack)
            .or_insert_with(|| key(view, stack))
            .clone();
        let key = by_stack.unwrap_or_else(|| by_place(&view.place(life.allocation.event)));
        groups.entry(key).or_default().add(life, contents);
    }
    let mut groups: Vec<(Key, Group)> = groups.into_iter().collect();
    groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.bytes));
    groups.truncate(SITES);
    groups
        .into_iter()
        .map(|(key, group)| site(view, key, &group))
        .collect()
}

/// `None` where no frame was recorded, as in autograd's own threads.
fn key(view: &View, stack: StackId) -> Option<Key> {
    if let Some(line) = view.own_line(stack) {
        return Some(Key::Line(line));
    }
    let frame = view.frames(stack).into_iter().next()?;
    Some(Key::Library(frame.file, frame.line))
}

fn by_place(place: &Place) -> Key {
    Key::Place(place.phase, place.module.clone())
}

fn site(view: &View, key: Key, group: &Group) -> Site {
    let largest = group.largest.as_ref();
    let location = match key {
        Key::Line(location) => Some(location),
        Key::Library(..) | Key::Place(..) => None,
    };
    Site {
        bytes: group.bytes,
        count: group.count,
        category: group.mostly(),
        location,
        frames: largest.map_or_else(Vec::new, |life| view.frames(view.stack(life))),
        place: largest.map_or_else(Place::default, |life| view.place(life.allocation.event)),
    }
}
