//! From an identifier to its row and its text, and back.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::CauseId;
use crate::spec::{CauseSpec, Role};
use crate::table::TABLE;

impl CauseId {
    /// Returns the row.
    pub fn spec(self) -> &'static CauseSpec {
        &TABLE[self as usize]
    }

    /// Returns the stable name, e.g. `growing-collection`.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// Returns the subject of the cause.
    pub fn role(self) -> Role {
        self.spec().role
    }

    /// Returns the cause with such a name.
    pub fn find(name: &str) -> Option<CauseId> {
        TABLE.iter().find(|spec| spec.name == name).map(|spec| spec.id)
    }
}

impl fmt::Display for CauseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for CauseId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for CauseId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<CauseId, D::Error> {
        let name = String::deserialize(deserializer)?;
        CauseId::find(&name).ok_or_else(|| D::Error::custom(format!("`{name}` is no cause that this version knows")))
    }
}
