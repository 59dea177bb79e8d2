//! The lines that allocated the bytes alive at the peak.

use std::collections::{BTreeMap, BTreeSet};

use report::{Contents, Location, Place, Site};
use trace::{Bytes, Lifetime, Moment, Phase, StackId};

use super::life::Life;
use super::view::View;

/// A report names at most this many sites.
const SITES: usize = 10;

/// The key that groups allocations into a site: the user's line and its callee, else the innermost frame, else the
/// time of the allocation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// The user's line, and the innermost line outside PyTorch below it: otherwise a library's model would be a single
    /// site.
    Own(Location, Option<(String, u32)>),
    /// A stack without a line of the user's code.
    Foreign(String, u32),
    /// A stack without Python frames, as in autograd's threads. Modules that differ in numbers alone are layers of one model: `h.*.mlp`.
    Stretch(Option<Phase>, Option<String>),
}

#[derive(Default)]
struct Group {
    bytes: Bytes,
    count: u64,
    largest: Option<Lifetime>,
    modules: BTreeSet<String>,
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

/// Returns the largest sites of the bytes live right after `at`, largest first. Allocations of one line with different
/// categories are separate sites: a library's workspace must not hide the loss of the same line.
pub(crate) fn sites(view: &View, at: impl Into<Moment>) -> Vec<Site> {
    let mut groups: BTreeMap<(Key, Contents), Group> = BTreeMap::new();
    let mut keys: BTreeMap<StackId, Option<Key>> = BTreeMap::new();
    for (life, contents) in view.live_after(at) {
        let stack = life.stack;
        let by_stack = keys.entry(stack).or_insert_with(|| key(view, stack)).clone();
        let key = by_stack.unwrap_or_else(|| stretch(view, life));
        let group = groups.entry((key.clone(), contents)).or_default();
        group.add(life);
        if matches!(key, Key::Stretch(..)) {
            group.modules.extend(view.place_of(life).module);
        }
    }
    let mut groups: Vec<((Key, Contents), Group)> = groups.into_iter().collect();
    groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.bytes));
    groups.truncate(SITES);
    groups.into_iter().map(|((key, contents), group)| site(view, key, contents, &group)).collect()
}

/// Returns the key of a stack; `None` without Python frames.
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
    Key::Stretch(place.phase, place.module.map(|module| number_free(&module)))
}

/// Replaces the numbers in a module's path: `h.3.mlp` becomes `h.*.mlp`.
fn number_free(module: &str) -> String {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts = module.split('.').map(|part| if is_number(part) { "*" } else { part });
    parts.collect::<Vec<_>>().join(".")
}

fn site(view: &View, key: Key, contents: Contents, group: &Group) -> Site {
    let largest = group.largest.as_ref();
    let mut place = largest.map_or_else(Place::default, |life| view.place_of(life));
    if group.modules.len() > 1 {
        place.module = group.modules.first().map(|module| number_free(module));
    }
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
        place,
    }
}
