//! The settings that a program offers of its own, and the ways to set them: words of the command line, keys of a YAML or
//! JSON file, variables of the environment.
//!
//! # Note [Keys]
//! A setting is named by a key, and the form of the key tells how it is set:
//!
//! | key | form |
//! |---|---|
//! | `--accumulate` | an option: `--accumulate 2`, or a flag without a value |
//! | `--accumulate=` | an option and its value in one word: `--accumulate=2` |
//! | `train.batch` | a word of the command line: `train.batch=2` (Hydra, `OmegaConf`, ultralytics) |
//! | `config.yaml#train.batch` | a key of a file, after the path as the program is started with it |
//! | `$BATCH` | a variable of the environment |
//!
//! Pure: texts in, texts out. Nothing of a program is run, no file is read.

mod document;
mod grid;
mod names;
mod resolve;
mod values;
mod words;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::document::{EditError, edit, list_keys};
pub use self::grid::{Axis, Grid, GridError};
pub use self::names::{NameRank, Purpose, find_purpose};
pub use self::resolve::{is_off, purpose_of, resolve, takes};
pub use self::values::{half_precision, half_precisions, to_text};
pub use self::words::{change_command, list_in_words, spelling_in};

/// The end of an option that is joined to a value.
const JOINED: char = '=';

/// A setting that a program offers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OwnOption {
    /// The key (Note [Keys]).
    pub key: String,
    /// The present value; a flag is true or false.
    pub value: Value,
    /// The values that the program takes; empty if unknown.
    pub choices: Vec<String>,
    /// The program's description.
    pub help: String,
    /// The word that switches it on; empty for a flag without a value.
    pub on: String,
}

/// The form of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// An option of the command line.
    Option,
    /// A word `KEY=VALUE` of the command line.
    Override,
    /// A key of a file.
    File,
    /// A variable of the environment.
    Variable,
}

/// Returns the form of a key.
pub fn form_of(key: &str) -> Form {
    match key.chars().next() {
        Some('$') => Form::Variable,
        Some('-') if key.ends_with(JOINED) => Form::Override,
        Some('-') => Form::Option,
        _ if key.contains('#') => Form::File,
        _ => Form::Override,
    }
}

/// Returns the part of a key that names the setting: `train.batch` of `config.yaml#train.batch`.
pub fn name_of(key: &str) -> &str {
    let name = key.rsplit_once('#').map_or(key, |(_, name)| name);
    name.trim_start_matches('$').trim_end_matches(JOINED)
}

/// Lists the variables of the environment among `settings`, with their values.
pub fn list_variables(settings: &BTreeMap<String, Value>) -> impl Iterator<Item = (&str, String)> {
    settings.iter().filter_map(|(key, value)| Some((key.strip_prefix('$')?, to_text(value))))
}

/// Groups the keys of files among `settings` by file.
pub fn group_by_file(settings: &BTreeMap<String, Value>) -> BTreeMap<&str, Vec<(&str, &Value)>> {
    let mut files: BTreeMap<&str, Vec<(&str, &Value)>> = BTreeMap::new();
    for (key, value) in settings {
        if let Some((file, name)) = key.rsplit_once('#').filter(|_| form_of(key) == Form::File) {
            files.entry(file).or_default().push((name, value));
        }
    }
    files
}
