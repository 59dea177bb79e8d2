//! The lines of two runs, numbered so that equal lines have equal numbers.

use std::collections::{BTreeMap, HashMap};

use report::Location;
use report::against::ComparedLine;
use trace::{Phase, StackId};

use crate::measure::own::{is_agent, is_own};
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
    /// The function of each line.
    functions: Vec<u32>,
    function_ids: HashMap<(String, String), u32>,
    /// The numbers of B's lines that an edit has moved.
    moved: BTreeMap<PlaceId, PlaceId>,
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

    /// True for a line of a library.
    pub(super) fn is_of_library(&self, id: PlaceId) -> bool {
        self.lines.get(id.0 as usize).is_some_and(|line| line.is_of_library)
    }

    /// The number of the function around a line.
    pub(super) fn function(&self, id: PlaceId) -> u32 {
        self.functions.get(id.0 as usize).copied().unwrap_or_default()
    }

    /// A further number for a line.
    pub(super) fn copy(&mut self, id: PlaceId) -> PlaceId {
        self.push(self.line(id), self.function(id))
    }

    /// Renumbers lines of B.
    pub(super) fn move_lines(&mut self, moves: impl Iterator<Item = (PlaceId, PlaceId)>) {
        self.moved.extend(moves);
    }

    /// The number of a line of B, as in A if an edit has moved it.
    pub(super) fn moved(&self, id: PlaceId) -> PlaceId {
        self.moved.get(&id).copied().unwrap_or(id)
    }

    fn push(&mut self, line: ComparedLine, function: u32) -> PlaceId {
        let id = PlaceId(u32::try_from(self.lines.len()).unwrap_or(u32::MAX));
        self.lines.push(line);
        self.functions.push(function);
        id
    }

    /// Numbers a line; `function` may stay the same where the line does not.
    fn intern(&mut self, key: Key, function: (&str, &str), line: impl FnOnce() -> ComparedLine) -> PlaceId {
        if let Some(id) = self.ids.get(&key) {
            return *id;
        }
        let next = u32::try_from(self.function_ids.len()).unwrap_or(u32::MAX);
        let function = *self.function_ids.entry((function.0.to_owned(), function.1.to_owned())).or_insert(next);
        let id = self.push(line(), function);
        self.ids.insert(key, id);
        id
    }

    #[cfg(test)]
    pub(super) fn intern_line(&mut self, file: &str, function: &str, line: u32) -> PlaceId {
        let location = Some(Location { file: file.to_owned(), line, column: None });
        let made = || ComparedLine { location, ..ComparedLine::default() };
        self.intern(Key::Program(file.to_owned(), line), (file, function), made)
    }

    /// A line of the program, else the innermost line of a library; `None` without Python frames.
    fn find(&mut self, view: &View, stack: StackId) -> Option<PlaceId> {
        let script_dir = view.trace.process.identity.script_dir.as_str();
        // In a dry run the agent stands in autograd's threads, which run no Python of the program.
        let mut frames = view.frames_of(stack).filter(|frame| !is_agent(&frame.file));
        let innermost = frames.next()?;
        let own = std::iter::once(innermost).chain(frames).find(|frame| is_own(&frame.file, script_dir));
        let frame = own.unwrap_or(innermost);
        let file = shared_part(&frame.file, script_dir);
        let key = if own.is_some() { Key::Program } else { Key::Library }(file.to_owned(), frame.line);
        let location = Some(Location { file: frame.file.clone(), line: frame.line, column: None });
        let line = || ComparedLine { location, phase: None, is_of_library: own.is_none() };
        Some(self.intern(key, (file, &frame.function), line))
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
        let name = phase.map_or("", Phase::name);
        found.unwrap_or_else(|| places.intern(Key::Phase(phase), ("", name), line))
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
