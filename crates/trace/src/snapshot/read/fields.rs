//! Typed access to values, and errors with the path within the snapshot.

use std::fmt;

use thiserror::Error;

use super::names::Name;
use super::record::{Arena, Record};
use crate::bytes::Bytes;
use crate::event::Action;
use crate::ids::Address;
use crate::pickle::{self, Data, NodeId, PickleError, Slot, StrId};
use crate::snapshot::BlockState;

/// Errors of reading a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SnapshotError {
    /// The pickle is damaged, cut, or holds more than plain data.
    #[error(transparent)]
    Pickle(#[from] PickleError),
    /// The JSON is damaged or cut.
    #[error("the snapshot's JSON: {0}")]
    Json(String),
    /// Reading the input failed: its disk, pipe or packing is damaged.
    #[error("reading the input failed: {0}")]
    Read(String),
    /// A pickle or JSON with other content.
    #[error("not a memory snapshot: expected a dict with `segments`, found a {found}")]
    NotASnapshot {
        /// The Python type of the content.
        found: &'static str,
    },
    /// A value of the snapshot is missing or has the wrong type.
    #[error(transparent)]
    Value(#[from] WrongValue),
}

/// A missing value, or a value of the wrong type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongValue {
    /// The path, for example `segments[3].blocks[0].size`.
    pub place: String,
    /// The expected value.
    pub expected: &'static str,
    /// The value found.
    pub found: String,
}

impl fmt::Display for WrongValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WrongValue { place, expected, found } = self;
        write!(f, "the snapshot's `{place}`: expected {expected}, found {found}")
    }
}

impl std::error::Error for WrongValue {}

impl WrongValue {
    #[cold]
    pub(super) fn new(expected: &'static str, found: FieldValue<'_>) -> WrongValue {
        WrongValue { place: String::new(), expected, found: found.describe() }
    }

    pub(super) fn missing(key: &str) -> WrongValue {
        WrongValue { place: key.to_owned(), expected: "a value", found: "no such key".to_owned() }
    }

    /// The same events, blocks or names repeat too often; see [`super::walk::Walk`].
    pub(super) fn repeated() -> WrongValue {
        let found = "the same values many times over".to_owned();
        WrongValue { place: String::new(), expected: "values of its own", found }
    }

    /// Prepends a key to the path.
    pub(super) fn inside(mut self, outer: &str) -> WrongValue {
        let joint = if self.place.is_empty() || self.place.starts_with('[') { "" } else { "." };
        self.place = format!("{outer}{joint}{}", self.place);
        self
    }

    /// Prepends an index to the path.
    pub(super) fn inside_item(self, index: usize) -> WrongValue {
        self.inside(&format!("[{index}]"))
    }
}

/// A value of a snapshot.
#[derive(Clone, Copy)]
pub(super) struct FieldValue<'a> {
    arena: &'a Arena,
    slot: Slot<Record>,
}

impl<'a> FieldValue<'a> {
    #[inline]
    pub(super) fn new(arena: &'a Arena, slot: Slot<Record>) -> FieldValue<'a> {
        FieldValue { arena, slot }
    }

    pub(super) fn arena(self) -> &'a Arena {
        self.arena
    }

    #[inline]
    pub(super) fn slot(self) -> Slot<Record> {
        self.slot
    }

    pub(super) fn plain(self) -> pickle::PickleValue<'a, Record> {
        pickle::PickleValue::new(self.arena, self.slot)
    }

    pub(super) fn kind(self) -> &'static str {
        self.plain().kind()
    }

    pub(super) fn node(self) -> Option<NodeId> {
        self.plain().node()
    }

    #[inline]
    pub(super) fn folded(self) -> Option<Record> {
        self.arena.folded(self.slot)
    }

    pub(super) fn as_str(self) -> Option<&'a str> {
        self.plain().as_str()
    }

    pub(super) fn get(self, key: &str) -> Option<FieldValue<'a>> {
        self.plain().get(key).map(|value| FieldValue::new(self.arena, value.slot()))
    }

    /// The keys and values of a dict that was not folded, in turn.
    pub(super) fn pairs(self) -> Result<Vec<Slot<Record>>, WrongValue> {
        let entries = self.plain().entries().ok_or_else(|| WrongValue::new("a dict", self))?;
        Ok(entries.flat_map(|(key, value)| [key.slot(), value.slot()]).collect())
    }

    /// The entries with string keys, of a dict that was not folded.
    pub(super) fn fields(self) -> Result<impl Iterator<Item = (&'a str, FieldValue<'a>)>, WrongValue> {
        let entries = self.plain().entries().ok_or_else(|| WrongValue::new("a dict", self))?;
        Ok(entries.filter_map(move |(key, value)| Some((key.as_str()?, FieldValue::new(self.arena, value.slot())))))
    }

    /// The items of a list that was not folded.
    pub(super) fn items(self) -> Result<impl Iterator<Item = FieldValue<'a>>, WrongValue> {
        let items = self.plain().items().ok_or_else(|| WrongValue::new("a list", self))?;
        Ok(items.map(move |item| FieldValue::new(self.arena, item.slot())))
    }

    pub(super) fn string(self) -> Result<&'a str, WrongValue> {
        self.as_str().ok_or_else(|| WrongValue::new("a string", self))
    }

    pub(super) fn str_id(self) -> Result<StrId, WrongValue> {
        if let Slot::Str(id) = self.slot { Ok(id) } else { Err(WrongValue::new("a string", self)) }
    }

    #[inline]
    pub(super) fn byte_count(self) -> Result<Bytes, WrongValue> {
        let size = match self.slot {
            Slot::Int(size) => u64::try_from(size).ok(),
            _ => self.plain().as_int().and_then(|size| u64::try_from(size).ok()),
        };
        size.map(Bytes).ok_or_else(|| WrongValue::new("a number of bytes", self))
    }

    /// PyTorch writes pointers as signed integers; those in the upper half of the address space are negative.
    #[inline]
    pub(super) fn address(self) -> Result<Address, WrongValue> {
        let bits = match self.slot {
            Slot::Int(bits) => Some(bits.cast_unsigned()),
            _ => self.plain().as_int().and_then(|bits| u64::try_from(bits).ok()),
        };
        bits.map(Address).ok_or_else(|| WrongValue::new("an address", self))
    }

    pub(super) fn u32(self) -> Result<u32, WrongValue> {
        let number = self.plain().as_int().and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| WrongValue::new("a small number", self))
    }

    pub(super) fn bool(self) -> Result<bool, WrongValue> {
        match self.plain().as_int() {
            Some(0) => Ok(false),
            Some(1) => Ok(true),
            _ => Err(WrongValue::new("True or False", self)),
        }
    }

    pub(super) fn number(self) -> Result<f64, WrongValue> {
        self.plain().as_float().ok_or_else(|| WrongValue::new("a number", self))
    }

    /// The action of a name; `None` for an unknown action.
    #[inline]
    pub(super) fn as_action(self) -> Option<Action> {
        let action = Name::of(self.slot).and_then(Name::as_action);
        action.or_else(|| self.as_str().and_then(Action::from_name))
    }

    pub(super) fn block_state(self) -> Result<BlockState, WrongValue> {
        let state = Name::of(self.slot).and_then(Name::block_state);
        state.ok_or_else(|| WrongValue::new("`active_allocated`, `active_pending_free` or `inactive`", self))
    }

    /// The line of a frame. C++ frames have none; an absurd line is no reason to reject the snapshot.
    pub(super) fn line_number(self) -> u32 {
        self.plain().as_int().and_then(|line| u32::try_from(line).ok()).unwrap_or(0)
    }

    /// Prints strings and numbers, and the types of other values.
    fn describe(self) -> String {
        match self.plain().data() {
            Data::Str(text) if text.chars().count() > 40 => {
                format!("`{}…`", text.chars().take(40).collect::<String>())
            }
            Data::Str(text) => format!("`{text}`"),
            Data::Int(number) => number.to_string(),
            _ => self.kind().to_owned(),
        }
    }
}
