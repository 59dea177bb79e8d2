//! Turns lists of frames into stacks, each list and each frame once.

use std::collections::HashMap;

use super::fields::{self, Fields, Place, WrongValue};
use crate::pickle::{Document, NodeId, NodeTable, Value};
use crate::stack::{Frame, FrameId, StackId, StackTable};

/// Names are copied out of the pickle, once for each different frame. A pickle made for it could have a million frames
/// share one long name; real ones stay far below this sum.
const MOST_TEXT: usize = 256 << 20;

/// The stacks so far, and which values of the pickle they were made of.
pub(super) struct Frames {
    table: StackTable,
    stack_of: NodeTable,
    frame_of: NodeTable,
    /// Frames by their names' values and line: torch shares the strings even where it does not share the dicts.
    frame_of_names: HashMap<(Option<NodeId>, Option<NodeId>, u32), FrameId>,
    text: usize,
    /// Kept from stack to stack for its memory.
    ids: Vec<FrameId>,
}

impl Frames {
    pub(super) fn new(document: &Document<'_>) -> Frames {
        Frames {
            table: StackTable::default(),
            stack_of: document.table(),
            frame_of: document.table(),
            frame_of_names: HashMap::new(),
            text: 0,
            ids: Vec::new(),
        }
    }

    pub(super) fn into_table(self) -> StackTable {
        self.table
    }

    /// The stack that a list of frames stands for.
    pub(super) fn stack(&mut self, list: Value<'_>) -> Result<StackId, WrongValue> {
        if let Some(known) = self.stack_of.get(list.id()) {
            return Ok(StackId(known));
        }
        let mut ids = std::mem::take(&mut self.ids);
        ids.clear();
        for (index, frame) in fields::items(list)?.enumerate() {
            ids.push(self.frame(frame).within_item(index)?);
        }
        let stack = self.table.intern_stack(ids.clone());
        self.ids = ids;
        self.stack_of.set(list.id(), stack.0);
        Ok(stack)
    }

    fn frame(&mut self, value: Value<'_>) -> Result<FrameId, WrongValue> {
        if let Some(known) = self.frame_of.get(value.id()) {
            return Ok(FrameId(known));
        }
        let (mut name, mut file, mut line) = (None, None, 0);
        for (key, value) in Fields::of(value)? {
            match key {
                "name" => name = Some(value),
                "filename" => file = Some(value),
                "line" => line = line_number(value),
                _ => {}
            }
        }
        let frame = self.frame_of_parts(name, file, line)?;
        self.frame_of.set(value.id(), frame.0);
        Ok(frame)
    }

    fn frame_of_parts(
        &mut self,
        name: Option<Value<'_>>,
        file: Option<Value<'_>>,
        line: u32,
    ) -> Result<FrameId, WrongValue> {
        let key = (name.map(Value::id), file.map(Value::id), line);
        if let Some(&known) = self.frame_of_names.get(&key) {
            return Ok(known);
        }
        let function = name.map_or(Ok(""), fields::text).within("name")?;
        let file = file.map_or(Ok(""), fields::text).within("filename")?;
        let frame = self.intern(function, file, line)?;
        self.frame_of_names.insert(key, frame);
        Ok(frame)
    }

    fn intern(&mut self, function: &str, file: &str, line: u32) -> Result<FrameId, WrongValue> {
        let before = self.table.frame_count();
        let id = self.table.intern_frame(Frame { function: function.to_owned(), file: file.to_owned(), line });
        if self.table.frame_count() > before {
            self.text = self.text.saturating_add(function.len()).saturating_add(file.len());
        }
        if self.text > MOST_TEXT { Err(WrongValue::repeated()) } else { Ok(id) }
    }
}

/// C++ frames have none; an absurd one is no reason to reject the snapshot.
fn line_number(value: Value<'_>) -> u32 {
    value.as_int().and_then(|line| u32::try_from(line).ok()).unwrap_or(0)
}
