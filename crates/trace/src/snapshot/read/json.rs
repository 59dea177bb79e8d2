//! Reads the JSON form of a snapshot, written by scripts with `json.dump`, into the same builder as pickles.
//!
//! The JSON parser recurses, and rejects nesting beyond 128.

use std::fmt;
use std::io::{BufReader, Read};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::fields::SnapshotError;
use super::record::Record;
use super::records::Records;
use crate::pickle::{PickleErrorKind, Slot, ValueBuilder};

/// The number of list items that wait on the stack, as with Python's pickler.
const BATCH: usize = 1000;

pub(super) fn read(
    input: impl Read,
    mut builder: ValueBuilder<Records>,
) -> Result<(Slot<Record>, ValueBuilder<Records>), SnapshotError> {
    let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(128 << 10, input));
    Pushed(&mut builder).deserialize(&mut json).map_err(|error| SnapshotError::Json(error.to_string()))?;
    let root = builder.pop().unwrap_or(Slot::None);
    Ok((root, builder))
}

/// Pushes the next value onto the builder's stack.
struct Pushed<'b>(&'b mut ValueBuilder<Records>);

impl<'de> DeserializeSeed<'de> for Pushed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

fn rejection<E: Error>(error: PickleErrorKind) -> E {
    E::custom(error)
}

impl<'de> Visitor<'de> for Pushed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a part of a snapshot")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.0.push(Slot::None).map_err(rejection)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.0.push(Slot::Bool(value)).map_err(rejection)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.0.push(Slot::Int(value)).map_err(rejection)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.0.push_wide(value.into()).map_err(rejection)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.0.push(Slot::Float(value)).map_err(rejection)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.0.push_string(text.as_bytes()).map_err(rejection)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let builder = self.0;
        builder.push_list().map_err(rejection)?;
        let start = builder.height();
        while items.next_element_seed(Pushed(builder))?.is_some() {
            if builder.height() >= start + BATCH {
                builder.add_to_list(start).map_err(rejection)?;
            }
        }
        builder.add_to_list(start).map_err(rejection)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let builder = self.0;
        builder.push_dict().map_err(rejection)?;
        let start = builder.height();
        while entries.next_key_seed(Pushed(builder))?.is_some() {
            entries.next_value_seed(Pushed(builder))?;
        }
        builder.add_to_dict(start).map_err(rejection)
    }
}
