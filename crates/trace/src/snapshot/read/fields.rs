//! Typed access to decoded values, and errors that say where in the snapshot something is wrong.

use std::fmt;

use thiserror::Error;

use crate::bytes::Bytes;
use crate::ids::Address;
use crate::pickle::{Data, Entries, Items, PickleError, Value};

/// Why a snapshot could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SnapshotError {
    /// The input could not be read on: its disk, pipe or packing is damaged.
    #[error("the input could not be read on: {0}")]
    Read(String),
    /// The pickle itself is damaged, cut, or holds more than plain data.
    #[error(transparent)]
    Pickle(#[from] PickleError),
    /// It is a pickle of something else.
    #[error("not a memory snapshot: expected a dict with `segments`, found a {found}")]
    NotASnapshot {
        /// The Python type of what it is.
        found: &'static str,
    },
    /// It is a snapshot in which something is missing or of the wrong type.
    #[error(transparent)]
    Value(#[from] WrongValue),
}

/// A value that is missing or is not what its key calls for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongValue {
    /// Where, for example `segments[3].blocks[0].size`.
    pub place: String,
    /// What was expected.
    pub expected: &'static str,
    /// What was found.
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
    pub(super) fn new(expected: &'static str, found: Value<'_>) -> WrongValue {
        WrongValue { place: String::new(), expected, found: describe(found) }
    }

    pub(super) fn missing(key: &str) -> WrongValue {
        WrongValue { place: key.to_owned(), expected: "a value", found: "no such key".to_owned() }
    }

    /// The same events, blocks or names come again and again; see [`super::Reader`].
    pub(super) fn repeated() -> WrongValue {
        let found = "the same values many times over".to_owned();
        WrongValue { place: String::new(), expected: "values of its own", found }
    }

    fn inside(mut self, outer: &str) -> WrongValue {
        let joint = if self.place.is_empty() || self.place.starts_with('[') { "" } else { "." };
        self.place = format!("{outer}{joint}{}", self.place);
        self
    }
}

/// Strings and numbers in full, of other things the type.
fn describe(value: Value<'_>) -> String {
    match value.data() {
        Data::Str(text) if text.chars().count() > 40 => {
            format!("`{}…`", text.chars().take(40).collect::<String>())
        }
        Data::Str(text) => format!("`{text}`"),
        Data::Int(n) => n.to_string(),
        Data::Bool(_)
        | Data::None
        | Data::Float(_)
        | Data::Bytes(_)
        | Data::List(_)
        | Data::Tuple(_)
        | Data::Dict(_) => value.kind().to_owned(),
    }
}

/// Adds to an error where it happened, from the inside out.
pub(super) trait Place: Sized {
    /// Under this key.
    fn within(self, key: &str) -> Self;
    /// In this item of a list.
    fn within_item(self, index: usize) -> Self;
}

impl<T> Place for Result<T, WrongValue> {
    fn within(self, key: &str) -> Self {
        self.map_err(|error| error.inside(key))
    }

    fn within_item(self, index: usize) -> Self {
        self.map_err(|error| error.inside(&format!("[{index}]")))
    }
}

/// The entries of a dict whose keys are strings; others are passed over.
pub(super) struct Fields<'d>(Entries<'d>);

impl<'d> Fields<'d> {
    pub(super) fn of(value: Value<'d>) -> Result<Fields<'d>, WrongValue> {
        value.entries().map(Fields).ok_or_else(|| WrongValue::new("a dict", value))
    }
}

impl<'d> Iterator for Fields<'d> {
    type Item = (&'d str, Value<'d>);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.by_ref().find_map(|(key, value)| Some((key.as_str()?, value)))
    }
}

pub(super) fn items(value: Value<'_>) -> Result<Items<'_>, WrongValue> {
    value.items().ok_or_else(|| WrongValue::new("a list", value))
}

pub(super) fn text(value: Value<'_>) -> Result<&str, WrongValue> {
    value.as_str().ok_or_else(|| WrongValue::new("a string", value))
}

pub(super) fn bytes(value: Value<'_>) -> Result<Bytes, WrongValue> {
    let size = value.as_int().and_then(|n| u64::try_from(n).ok());
    size.map(Bytes).ok_or_else(|| WrongValue::new("a number of bytes", value))
}

pub(super) fn u32(value: Value<'_>) -> Result<u32, WrongValue> {
    let number = value.as_int().and_then(|n| u32::try_from(n).ok());
    number.ok_or_else(|| WrongValue::new("a small number", value))
}

/// PyTorch writes pointers as signed integers; those in the upper half of the address space are negative.
pub(super) fn address(value: Value<'_>) -> Result<Address, WrongValue> {
    let bits =
        value.as_int().and_then(|n| u64::try_from(n).ok().or_else(|| i64::try_from(n).ok().map(i64::cast_unsigned)));
    bits.map(Address).ok_or_else(|| WrongValue::new("an address", value))
}

pub(super) fn bool(value: Value<'_>) -> Result<bool, WrongValue> {
    match value.as_int() {
        Some(0) => Ok(false),
        Some(1) => Ok(true),
        _ => Err(WrongValue::new("True or False", value)),
    }
}
