//! Reads an event, with the agent's mark.

use std::collections::HashMap;
use std::sync::Arc;

use super::fields::{FieldValue, WrongValue};
use super::frames::Frames;
use super::names::Name;
use super::pools::Pools;
use super::record::{Arena, Record};
use crate::bytes::Bytes;
use crate::event::{Action, Event, Mark, UnknownAction};
use crate::ids::{Address, PoolId, Stream, Time};
use crate::pickle::{Slot, StrId};
use crate::snapshot::torch::{Seen, SnapshotKey};
use crate::stack::StackId;

/// Reads events, and shares their marks and names.
#[derive(Default)]
pub(super) struct EventReader {
    pub(super) marks: Vec<Mark>,
    pub(super) unknown_actions: Vec<Arc<str>>,
    pub(super) seen: Seen,
    unknown_of_text: HashMap<StrId, UnknownAction>,
    mark_ids: HashMap<Mark, u32>,
    mark_of_text: HashMap<StrId, Option<u32>>,
    /// The metadata of the previous event, which nearly always repeats.
    latest: Option<(StrId, Option<u32>)>,
}

/// The length to which the name of an unknown action is cut, in characters.
const LONGEST_NAME: usize = 40;

#[derive(Default)]
struct Draft {
    action: Option<Action>,
    address: Option<Address>,
    size: Option<Bytes>,
    stream: Stream,
    stack: StackId,
    mark: Option<u32>,
    time: Option<Time>,
    pool: Option<PoolId>,
}

impl Draft {
    fn finish(self) -> Result<Event, WrongValue> {
        let Draft { stream, stack, mark, time, pool, .. } = self;
        let action = self.action.ok_or_else(|| WrongValue::missing("action"))?;
        let (address, size) = match action {
            // Events of later versions may leave fields out.
            Action::Unknown(_) => (self.address.unwrap_or_default(), self.size.unwrap_or_default()),
            _ => (
                self.address.ok_or_else(|| WrongValue::missing("addr"))?,
                self.size.ok_or_else(|| WrongValue::missing("size"))?,
            ),
        };
        Ok(Event { action, address, size, stream, stack, mark, time, pool })
    }
}

impl EventReader {
    pub(super) fn read(
        &mut self,
        arena: &Arena,
        pairs: &[Slot<Record>],
        frames: &mut Frames,
        pools: &mut Pools,
    ) -> Result<Event, WrongValue> {
        let mut draft = Draft::default();
        for pair in pairs.chunks_exact(2) {
            let &[key, slot] = pair else { continue };
            if let Some(name) = Name::of(key) {
                let read = self.field(&mut draft, name, FieldValue::new(arena, slot), frames, pools);
                read.map_err(|error| error.inside(name.as_str()))?;
            }
        }
        self.seen.add(SnapshotKey::Event);
        draft.finish()
    }

    fn field(
        &mut self,
        draft: &mut Draft,
        name: Name,
        value: FieldValue<'_>,
        frames: &mut Frames,
        pools: &mut Pools,
    ) -> Result<(), WrongValue> {
        match name {
            Name::Action => draft.action = Some(value.as_action().map_or_else(|| self.unknown(value), Ok)?),
            Name::Addr | Name::DeviceFree => draft.address = Some(value.address()?),
            Name::Size => draft.size = Some(value.byte_count()?),
            Name::Stream => draft.stream = Stream(value.address()?.0),
            Name::Frames => draft.stack = frames.stack(value)?,
            Name::TimeUs => {
                self.seen.add(SnapshotKey::TimeUs);
                draft.time = Time::from_micros(value.address()?.0);
            }
            Name::PoolId => {
                self.seen.add(SnapshotKey::PoolId);
                draft.pool = pools.of(value);
            }
            Name::UserMetadata => {
                self.seen.add(SnapshotKey::UserMetadata);
                draft.mark = self.mark(value);
            }
            Name::CompileContext => self.seen.add(SnapshotKey::CompileContext),
            _ => {}
        }
        Ok(())
    }

    /// Records an action of a later version. No PyTorch has hundreds of them.
    #[cold]
    fn unknown(&mut self, name: FieldValue<'_>) -> Result<Action, WrongValue> {
        let (id, text) = (name.str_id()?, name.string()?);
        if let Some(&known) = self.unknown_of_text.get(&id) {
            return Ok(Action::Unknown(known));
        }
        let place = u8::try_from(self.unknown_actions.len()).map(UnknownAction);
        let place = place.map_err(|_| WrongValue::new("an action of a known PyTorch", name))?;
        self.unknown_actions.push(text.chars().take(LONGEST_NAME).collect::<String>().into());
        self.unknown_of_text.insert(id, place);
        Ok(Action::Unknown(place))
    }

    /// The mark in the metadata; `None` for metadata of other programs.
    #[inline]
    fn mark(&mut self, metadata: FieldValue<'_>) -> Option<u32> {
        let Slot::Str(text) = metadata.slot() else { return None };
        match self.latest {
            Some((latest, mark)) if latest == text => mark,
            _ => self.other_mark(text, metadata),
        }
    }

    fn other_mark(&mut self, text: StrId, metadata: FieldValue<'_>) -> Option<u32> {
        let known = self.mark_of_text.get(&text).copied();
        let mark = known.unwrap_or_else(|| metadata.as_str().and_then(Mark::parse).map(|mark| self.intern(mark)));
        self.mark_of_text.insert(text, mark);
        self.latest = Some((text, mark));
        mark
    }

    fn intern(&mut self, mark: Mark) -> u32 {
        let marks = &mut self.marks;
        *self.mark_ids.entry(mark).or_insert_with_key(|mark| {
            marks.push(mark.clone());
            u32::try_from(marks.len() - 1).unwrap_or(u32::MAX)
        })
    }
}
