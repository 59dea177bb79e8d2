//! Turns dicts into frames, and lists of frames into stacks, each stored once.

use std::collections::HashMap;

use super::fields::{FieldValue, WrongValue};
use super::names::Name;
use super::record::{Arena, Record};
use crate::pickle::{NodeId, Slot, StrId};
use crate::stack::{Frame, FrameId, StackId, StackTable};

/// Names are copied for each different frame. A forged file could have a million frames share one long name; real files
/// stay far below this sum.
const MOST_TEXT: usize = 256 << 20;

/// The stacks read so far.
#[derive(Default)]
pub(super) struct Frames {
    table: StackTable,
    /// Frames by their strings and line.
    frame_of_names: HashMap<(Option<StrId>, Option<StrId>, u32), FrameId>,
    text: usize,
    /// Set during the walk: all lists are complete.
    walking: bool,
    /// Stacks of lists that were not folded.
    stack_of: HashMap<NodeId, StackId>,
    frame_of_node: HashMap<NodeId, FrameId>,
    /// Reused from stack to stack to save allocations.
    ids: Vec<FrameId>,
}

impl Frames {
    pub(super) fn into_table(self) -> StackTable {
        self.table
    }

    /// Also reads lists that were not folded, from now on. Before the walk, a list shared by many events would be read
    /// for each.
    pub(super) fn walk(&mut self) {
        self.walking = true;
    }

    /// The frames of a stack, innermost first.
    pub(super) fn ids(&self, stack: StackId) -> &[FrameId] {
        self.table.frame_ids(stack)
    }

    /// The stack of `inner` followed by the frames of `added`; `None` if a value is not a frame.
    pub(super) fn extend(&mut self, arena: &Arena, inner: StackId, added: &[Slot<Record>]) -> Option<StackId> {
        self.ids.clear();
        self.ids.extend_from_slice(self.table.frame_ids(inner));
        for &slot in added {
            let Some(Record::Frame(frame)) = arena.folded(slot) else { return None };
            self.ids.push(frame);
        }
        Some(self.table.intern_stack(&self.ids))
    }

    /// The stack of a list of frames.
    #[inline]
    pub(super) fn stack(&mut self, list: FieldValue<'_>) -> Result<StackId, WrongValue> {
        match list.folded() {
            Some(Record::Stack(stack)) => Ok(stack),
            _ => self.stack_of_list(list),
        }
    }

    fn stack_of_list(&mut self, list: FieldValue<'_>) -> Result<StackId, WrongValue> {
        let mut items = list.items()?;
        if !self.walking {
            return self.short_stack(list, items.next(), items.next());
        }
        let known = list.node().and_then(|node| self.stack_of.get(&node));
        if let Some(&known) = known {
            return Ok(known);
        }
        let mut ids = Vec::new();
        for (index, frame) in items.enumerate() {
            ids.push(self.frame(frame).map_err(|error| error.inside_item(index))?);
        }
        let stack = self.table.intern_stack(&ids);
        self.stack_of.extend(list.node().map(|node| (node, stack)));
        Ok(stack)
    }

    /// A stack of at most one frame; longer stacks are not folded here.
    fn short_stack(
        &mut self,
        list: FieldValue<'_>,
        first: Option<FieldValue<'_>>,
        second: Option<FieldValue<'_>>,
    ) -> Result<StackId, WrongValue> {
        match (first.map(FieldValue::folded), second) {
            (None, _) => Ok(StackId::EMPTY),
            (Some(Some(Record::Frame(frame))), None) => Ok(self.table.intern_stack(&[frame])),
            _ => Err(WrongValue::new("a list of frames that came at once", list)),
        }
    }

    fn frame(&mut self, value: FieldValue<'_>) -> Result<FrameId, WrongValue> {
        if let Some(Record::Frame(frame)) = value.folded() {
            return Ok(frame);
        }
        let known = value.node().and_then(|node| self.frame_of_node.get(&node));
        if let Some(&known) = known {
            return Ok(known);
        }
        let frame = self.frame_of(value.arena(), &value.pairs()?)?;
        self.frame_of_node.extend(value.node().map(|node| (node, frame)));
        Ok(frame)
    }

    /// The frame of a dict.
    pub(super) fn frame_of(&mut self, arena: &Arena, pairs: &[Slot<Record>]) -> Result<FrameId, WrongValue> {
        let (mut name, mut file, mut line) = (None, None, 0);
        for pair in pairs.chunks_exact(2) {
            let &[key, slot] = pair else { continue };
            let value = FieldValue::new(arena, slot);
            match Name::of(key) {
                Some(Name::Name) => name = Some(value.str_id().map_err(|error| error.inside("name"))?),
                Some(Name::Filename) => file = Some(value.str_id().map_err(|error| error.inside("filename"))?),
                Some(Name::Line) => line = value.line_number(),
                _ => {}
            }
        }
        match self.frame_of_names.get(&(name, file, line)) {
            Some(&known) => Ok(known),
            None => self.new_frame(arena, name, file, line),
        }
    }

    fn new_frame(
        &mut self,
        arena: &Arena,
        name: Option<StrId>,
        file: Option<StrId>,
        line: u32,
    ) -> Result<FrameId, WrongValue> {
        let text = |id: Option<StrId>| id.map_or("", |id| arena.resolve_text(id)).to_owned();
        let frame = Frame { function: text(name), file: text(file), line };
        self.text = self.text.saturating_add(frame.function.len() + frame.file.len());
        if self.text > MOST_TEXT {
            return Err(WrongValue::repeated());
        }
        let id = self.table.intern_frame(frame);
        self.frame_of_names.insert((name, file, line), id);
        Ok(id)
    }

    /// Up to 2.0 a block has a list of its uses, the latest first.
    pub(super) fn latest_of_history(&mut self, list: FieldValue<'_>) -> Result<StackId, WrongValue> {
        let latest = list.items()?.next().and_then(|latest| latest.get("frames"));
        match latest {
            Some(frames) => self.stack(frames).map_err(|error| error.inside("frames").inside_item(0)),
            None => Ok(StackId::EMPTY),
        }
    }
}
