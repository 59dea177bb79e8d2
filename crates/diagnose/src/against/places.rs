//! The lines of two runs, numbered so that equal lines have equal numbers.

use std::collections::HashMap;

use report::Location;
use report::against::ComparedLine;
use trace::{Phase, StackId};

use crate::measure::view::View;

/// The number of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct PlaceId(pub(super) u32);

/// A line that two runs may share: the folders of script and packages may differ.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Program(String, u32),
    Library(String, u32),
    Phase(Option<Phase>),
}

/// All lines of both runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    ids: HashMap<Key, PlaceId>,
    lines: Vec<ComparedLine>,
}

/// The lines of the stacks of one history, each found once.
#[derive(Debug)]
pub(super) struct StackPlaces<'v, 'a> {
    view: &'v View<'a>,
    known: HashMap<StackId, Option<PlaceId>>,
}

impl Places {
    /// The line of a number.
    pub(super) fn line(&self, id: PlaceId) -> ComparedLine {
        self.lines.get(id.0 as usize).cloned().unwrap_or_default()
    }

    fn intern(&mut self, key: Key, line: impl FnOnce() -> ComparedLine) -> PlaceId {
        let next = PlaceId(u32::try_from(self.lines.len()).unwrap_or(u32::MAX));
        let id = *self.ids.entry(key).or_insert(next);
        if id == next {
            self.lines.push(line());
        }
        id
    }

    /// A line of the program, else the innermost line of a library; `None` without Python frames.
    fn find(&mut self, view: &View, stack: StackId) -> Option<PlaceId> {
        let script_dir = view.trace.process.identity.script_dir.as_str();
        if let Some(location) = view.own_line(stack) {
            let key = Key::Program(shared_part(&location.file, script_dir).to_owned(), location.line);
            return Some(self.intern(key, || ComparedLine { location: Some(location), ..ComparedLine::default() }));
        }
        let (file, line) = view.innermost(stack)?;
        let key = Key::Library(shared_part(&file, script_dir).to_owned(), line);
        let location = Some(Location { file, line, column: None });
        Some(self.intern(key, || ComparedLine { location, phase: None, is_of_library: true }))
    }
}

impl<'v, 'a> StackPlaces<'v, 'a> {
    pub(super) fn new(view: &'v View<'a>) -> StackPlaces<'v, 'a> {
        StackPlaces { view, known: HashMap::new() }
    }

    /// The line of a stack; `phase` stands for the line of a stack without Python frames.
    pub(super) fn find(&mut self, places: &mut Places, stack: StackId, phase: Option<Phase>) -> PlaceId {
        let found = *self.known.entry(stack).or_insert_with(|| places.find(self.view, stack));
        let line = || ComparedLine { phase, ..ComparedLine::default() };
        found.unwrap_or_else(|| places.intern(Key::Phase(phase), line))
    }
}

/// The part of a path that does not depend on the machine.
fn shared_part<'f>(file: &'f str, script_dir: &str) -> &'f str {
    if let Some((_, inside)) = file.rsplit_once("-packages/") {
        return inside;
    }
    report::words::relative(file, script_dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_compared_below_the_folders_of_script_and_packages() {
        let cases = [
            ("/home/ann/x/train.py", "/home/ann/x", "train.py"),
            ("/srv/lib/model.py", "/home/ann/x", "/srv/lib/model.py"),
            ("/v/lib/python3.11/site-packages/torch/nn/f.py", "/home", "torch/nn/f.py"),
            ("/usr/lib/python3/dist-packages/torch/nn/f.py", "", "torch/nn/f.py"),
        ];
        for (file, script_dir, expected) in cases {
            assert_eq!(shared_part(file, script_dir), expected);
        }
    }
}
