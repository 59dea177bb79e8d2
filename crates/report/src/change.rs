//! A change to a program, as requested and shown: a remedy with its settings.
//!
//! Written `optimizer-fused`, or with settings `autocast:dtype=bf16`, several joined by `:`. A value that reads as JSON
//! is JSON; anything else is a text. The agent takes a list of changes as JSON (Note `[Remedies]` in
//! `python/oomph/agent/remedies`).

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

/// A remedy with settings.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// The remedy's stable name, e.g. `gradient-accumulation`.
    pub remedy: String,
    /// The settings, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, Value>,
}

/// The reason why a text is not a change.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ChangeError {
    /// The text before the first colon is not a remedy's name.
    #[error("`{0}` names no remedy; expected a name such as `optimizer-fused`")]
    Name(String),
    /// A setting without a value.
    #[error("`{0}` is no setting; expected KEY=VALUE, such as `autocast:dtype=bf16`")]
    Setting(String),
}

impl Change {
    /// A remedy without settings.
    pub fn new(remedy: &str) -> Change {
        Change { remedy: remedy.to_owned(), settings: BTreeMap::new() }
    }

    /// Adds a setting.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Change {
        self.settings.insert(key.to_owned(), value.into());
        self
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.remedy)?;
        self.settings.iter().try_for_each(|(key, value)| match value {
            Value::String(text) => write!(f, ":{key}={text}"),
            other => write!(f, ":{key}={other}"),
        })
    }
}

impl FromStr for Change {
    type Err = ChangeError;

    fn from_str(text: &str) -> Result<Change, ChangeError> {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        let is_name = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        if name.is_empty() || !is_name(name) {
            return Err(ChangeError::Name(name.to_owned()));
        }
        parts.try_fold(Change::new(name), |change, part| {
            let (key, value) = part.split_once('=').ok_or_else(|| ChangeError::Setting(part.to_owned()))?;
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
            Ok(change.with(key, value))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let cases = [
            ("optimizer-fused", Change::new("optimizer-fused")),
            ("autocast:dtype=bf16", Change::new("autocast").with("dtype", "bf16")),
            ("batch-size:size=8", Change::new("batch-size").with("size", 8)),
            ("batch-size:arg=--bs:size=8", Change::new("batch-size").with("size", 8).with("arg", "--bs")),
        ];
        for (text, change) in cases {
            assert_eq!(text.parse(), Ok(change.clone()));
            assert_eq!(change.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_change_is_named() {
        let cases = [
            ("", ChangeError::Name(String::new())),
            ("Fused", ChangeError::Name("Fused".to_owned())),
            ("../x", ChangeError::Name("../x".to_owned())),
            ("autocast:bf16", ChangeError::Setting("bf16".to_owned())),
        ];
        for (text, error) in cases {
            assert_eq!(text.parse::<Change>(), Err(error));
        }
    }
}
