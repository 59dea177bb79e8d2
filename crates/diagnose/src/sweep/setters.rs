//! The ways to set what the names of a grid mean: an option of the program, or a size in its source.

use std::path::Path;

use options::{OwnOption, Purpose};
use remedies::{BATCH_SIZE, OWN_OPTIONS, setting};
use report::Change;
use serde_json::Value;
use thiserror::Error;

use crate::fit::Trial;

/// A way to set one name of a grid.
#[derive(Clone, Debug, PartialEq)]
pub enum Setter {
    /// An option, a key or a variable of the program.
    Own {
        /// The option; an option that the program did not show has a key alone.
        option: OwnOption,
        /// The purpose is the number of samples in a batch.
        is_batch: bool,
    },
    /// A size in the source, changed while the program runs.
    Source {
        /// The remedy for the size.
        remedy: &'static str,
        /// The name of the size's setting.
        setting: &'static str,
        /// The variable or the argument in the source.
        name: String,
    },
}

/// A name without a setting in the program, or a value that the setting refuses.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SetterError {
    /// No setting of the name.
    #[error("the program has no setting `{name}`; it has {}", known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// The names of the program's settings.
        known: Vec<String>,
    },
    /// No setting at all was seen.
    #[error("the program has no setting `{0}`: no options of a command line and no configuration file were seen")]
    NoSettings(String),
    /// A key of a file, where another axis changes the file.
    #[error(
        "`{name}` is a key of `{file}`, and `{option}` names another file: sweep each file by itself, or write `{name}` as a word of the command line"
    )]
    OtherFile {
        /// The name.
        name: String,
        /// The file.
        file: String,
        /// The option whose value is the file.
        option: String,
    },
    /// A value outside the option's choices.
    #[error("`{key}` does not take {value}; it takes {}", choices.join(", "))]
    NotTaken {
        /// The option.
        key: String,
        /// The value.
        value: String,
        /// The option's choices.
        choices: Vec<String>,
    },
}

/// Finds the setter of each name in the run of the unchanged program, and among the options that its command line sets: a run shows no
/// option of an unknown parser.
pub fn find_setters(names: &[&str], unchanged: &Trial, written: &[OwnOption]) -> Result<Vec<Setter>, SetterError> {
    let own: Vec<OwnOption> = unchanged.own.iter().chain(written).cloned().collect();
    let setters = names.iter().map(|name| find_setter(name, unchanged, &own)).collect::<Result<Vec<_>, _>>()?;
    check_files(names, &setters)?;
    Ok(setters)
}

/// Refuses a key of a file that another axis replaces: the key would be set in the first file alone.
fn check_files(names: &[&str], setters: &[Setter]) -> Result<(), SetterError> {
    for (name, setter) in names.iter().zip(setters) {
        let Some((file, _)) = setter.key().rsplit_once('#') else { continue };
        let holds_file = |other: &&Setter| match other {
            Setter::Own { option, .. } => {
                let value = options::to_text(&option.value);
                !value.is_empty() && (Path::new(file).ends_with(&value) || Path::new(&value).ends_with(file))
            }
            Setter::Source { .. } => false,
        };
        if let Some(option) = setters.iter().find(holds_file) {
            let (file, option) = (file.to_owned(), option.key().to_owned());
            return Err(SetterError::OtherFile { name: (*name).to_owned(), file, option });
        }
    }
    Ok(())
}

fn find_setter(name: &str, unchanged: &Trial, own: &[OwnOption]) -> Result<Setter, SetterError> {
    if let Some(key) = options::resolve(name, own) {
        let seen = own.iter().find(|option| option.key == key).cloned();
        let option = seen.unwrap_or_else(|| OwnOption { key, ..OwnOption::default() });
        let by_name = options::purpose_of(options::name_of(&option.key).rsplit('.').next().unwrap_or_default());
        let purpose = options::find_purpose(&option).map(|(purpose, _)| purpose).or(by_name);
        return Ok(Setter::Own { option, is_batch: purpose == Some(Purpose::Batch) });
    }
    in_source(name, unchanged).ok_or_else(|| {
        let mut known: Vec<String> = unchanged.own.iter().map(|option| format!("`{}`", option.key)).collect();
        known.sort();
        if known.is_empty() {
            SetterError::NoSettings(name.to_owned())
        } else {
            SetterError::Unknown { name: name.to_owned(), known }
        }
    })
}

/// Finds the size in the source that an everyday name means.
fn in_source(name: &str, unchanged: &Trial) -> Option<Setter> {
    let other = |remedy: &str| unchanged.sizes.iter().find(|(found, _)| found == remedy).map(|(_, size)| size);
    let (remedy, setting, size) = match options::purpose_of(name)? {
        Purpose::Batch => (BATCH_SIZE, setting::SIZE, unchanged.batch.as_ref()),
        Purpose::Length => ("sequence-length", "length", other("sequence-length")),
        Purpose::Resolution => ("resolution", setting::SIZE, other("resolution")),
        Purpose::Accumulation | Purpose::Checkpointing | Purpose::Precision => return None,
    };
    Some(Setter::Source { remedy, setting, name: size?.name.clone() })
}

impl Setter {
    /// True if the setting is the number of samples in a batch.
    pub fn is_batch(&self) -> bool {
        match self {
            Setter::Own { is_batch, .. } => *is_batch,
            Setter::Source { remedy, .. } => *remedy == BATCH_SIZE,
        }
    }

    /// The key of the setting: an option, or the name in the source.
    pub fn key(&self) -> &str {
        match self {
            Setter::Own { option, .. } => &option.key,
            Setter::Source { name, .. } => name,
        }
    }

    /// Checks that the setting takes a value.
    pub fn check(&self, value: &Value) -> Result<(), SetterError> {
        match self {
            Setter::Own { option, .. } if !options::takes(option, value) => Err(SetterError::NotTaken {
                key: option.key.clone(),
                value: options::to_text(value),
                choices: option.choices.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// Returns the changes that set each setter's value.
    pub fn changes(setters: &[Setter], values: &[Value]) -> Vec<Change> {
        let mut own = Change::new(OWN_OPTIONS);
        let mut changes = Vec::new();
        for (setter, value) in setters.iter().zip(values) {
            match setter {
                Setter::Own { option, .. } if options::is_off(option, value) => {}
                Setter::Own { option, .. } => own = own.with(&option.key, value.clone()),
                Setter::Source { remedy, setting, name } => {
                    changes.push(Change::new(remedy).with(setting, value.clone()).with(setting::ARG, name.clone()));
                }
            }
        }
        if !own.settings.is_empty() {
            changes.push(own);
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_a_file_that_another_axis_replaces_is_refused() {
        let option = |key: &str, value: &str| OwnOption {
            key: key.to_owned(),
            value: Value::from(value),
            ..OwnOption::default()
        };
        let check = |config: &str, names: &[&str], expected: bool| {
            let unchanged = Trial { own: vec![option("yaml/a.yaml#train.batch", "8")], ..Trial::default() };
            let written = [option("--config", config), option("--lr", "0.1")];
            let found = find_setters(names, &unchanged, &written);
            assert_eq!(found.is_ok(), expected, "{config} {names:?}: {found:?}");
        };
        check("yaml/a.yaml", &["--config", "batch"], false);
        check("/home/me/yaml/a.yaml", &["batch", "--config"], false);
        check("yaml/b.yaml", &["--config", "batch"], true);
        check("yaml/a.yaml", &["batch"], true);
        check("yaml/a.yaml", &["--lr", "batch"], true);
        check("yaml/a.yaml", &["--config", "--lr"], true);
    }
}
