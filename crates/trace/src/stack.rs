//! Python stacks, interned: a trace of a million events has a few thousand different stacks.

use std::collections::HashMap;

use crate::interner::{Element, Interner};
use crate::source_file::is_agent;

/// One line of a stack, as PyTorch records it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The function's name, e.g. `forward`.
    pub function: String,
    /// The source file, as the interpreter names it; for a C++ frame a library, or `??`.
    pub file: String,
    /// The line, counted from 1; 0 where unknown.
    pub line: u32,
}

/// Index of a [`Frame`] in its [`StackTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameId(pub u32);

impl Element for FrameId {
    fn words(slice: &[FrameId]) -> impl Iterator<Item = u64> {
        let (pairs, rest) = slice.as_chunks::<2>();
        let pairs = pairs.iter().map(|[first, second]| u64::from(first.0) << 32 | u64::from(second.0));
        pairs.chain(rest.iter().map(|last| u64::from(last.0)))
    }
}

/// Index of a stack in its [`StackTable`]. [`StackId::EMPTY`] is the stack without frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StackId(pub u32);

impl StackId {
    /// The stack without frames: nothing was recorded.
    pub const EMPTY: StackId = StackId(0);
}

/// All stacks of a snapshot, each stored once.
#[derive(Clone, Debug)]
pub struct StackTable {
    frames: Vec<Frame>,
    frame_ids: HashMap<Frame, FrameId>,
    stacks: Interner<FrameId>,
    /// The frames of oomph's agent, in their order.
    of_agent: Vec<FrameId>,
}

impl Default for StackTable {
    fn default() -> StackTable {
        let mut stacks = Interner::new();
        stacks.intern(&[]); // StackId::EMPTY
        StackTable { frames: Vec::new(), frame_ids: HashMap::new(), stacks, of_agent: Vec::new() }
    }
}

impl StackTable {
    /// The id of `frame`, which is stored if new.
    pub fn intern_frame(&mut self, frame: Frame) -> FrameId {
        if let Some(&id) = self.frame_ids.get(&frame) {
            return id;
        }
        let id = FrameId(u32::try_from(self.frames.len()).unwrap_or(u32::MAX));
        if is_agent(&frame.file) {
            self.of_agent.push(id);
        }
        self.frames.push(frame.clone());
        self.frame_ids.insert(frame, id);
        id
    }

    /// The id of the stack of `frames`, innermost first, which is stored if new. The frames of oomph's agent between those of the program are left
    /// out: one line of the program may reach PyTorch with and without them.
    pub fn intern_stack(&mut self, frames: &[FrameId]) -> StackId {
        let is_agents = |id: &FrameId| self.of_agent.binary_search(id).is_ok();
        if self.of_agent.is_empty() || !frames.iter().any(is_agents) {
            return StackId(self.stacks.intern(frames));
        }
        let rest: Vec<FrameId> = frames.iter().filter(|id| !is_agents(id)).copied().collect();
        StackId(self.stacks.intern(if rest.is_empty() { frames } else { &rest }))
    }

    /// The frames of a stack, innermost first.
    pub fn frames(&self, stack: StackId) -> impl DoubleEndedIterator<Item = &Frame> {
        self.frame_ids(stack).iter().filter_map(|id| self.frames.get(id.0 as usize))
    }

    /// The frames of a stack by their numbers, innermost first.
    pub fn frame_ids(&self, stack: StackId) -> &[FrameId] {
        self.stacks.get(stack.0)
    }

    /// All different frames.
    pub fn list_frames(&self) -> impl Iterator<Item = &Frame> {
        self.frames.iter()
    }

    /// The number of different frames.
    pub fn frame_count(&self) -> usize {
        self.frames.len()
    }

    /// The number of different stacks, including the empty one.
    pub fn len(&self) -> usize {
        self.stacks.len()
    }

    /// Tests that no stack but the empty one is known.
    pub fn is_empty(&self) -> bool {
        self.stacks.len() <= 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_the_agent_are_left_out() {
        let mut table = StackTable::default();
        let mut frame =
            |file: &str| table.intern_frame(Frame { function: "f".to_owned(), file: file.to_owned(), line: 3 });
        let (program, torch, agent) =
            (frame("/w/train.py"), frame("/t/torch/a.py"), frame("/c/oomph/agent/overrides.py"));
        let plain = table.intern_stack(&[torch, program]);
        assert_eq!(table.intern_stack(&[torch, agent, program]), plain);
        assert_eq!(table.intern_stack(&[agent, torch, program]), plain);
        // A stack of the agent alone is not one without frames.
        assert_ne!(table.intern_stack(&[agent]), StackId::EMPTY);
    }
}
