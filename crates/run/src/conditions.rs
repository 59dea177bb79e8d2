//! The conditions of a run: all differences between the runs of `check`, `fit` and `tune`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use remedies::{ALLOCATOR_SETTINGS, OWN_OPTIONS};
use report::Change;
use serde_json::Value;
use trace::Bytes;

use crate::options::{Fraction, RunOptions};

/// The conditions of a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Conditions {
    /// The memory that the program finds.
    pub limit: Limit,
    /// Remedies to apply to the program while it runs.
    pub changes: Vec<Change>,
    /// True to record PyTorch's allocator history; false for its counters only.
    pub history: bool,
    /// True to count operators.
    pub work: bool,
    /// True to note the files that the program reads.
    pub notes_files: bool,
    /// The moment at which work of side streams is done.
    pub streams: Streams,
    /// The share of elements that value-dependent shapes are assumed to select.
    pub share: AssumedShare,
    /// Files that Python reads in place of the program's own: `{FILE: OTHER}`, absolute paths.
    pub overlay: BTreeMap<PathBuf, PathBuf>,
}

/// The share of elements that value-dependent shapes are assumed to select.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AssumedShare {
    /// The share that the user asked for, or a half.
    #[default]
    Asked,
    /// One element.
    Least,
    /// All elements.
    All,
}

impl AssumedShare {
    /// Returns the share as a number; `asked` is the one that the user asked for.
    fn of(self, asked: Fraction) -> Fraction {
        match self {
            AssumedShare::Asked => asked,
            AssumedShare::Least => Fraction(0.0),
            AssumedShare::All => Fraction(1.0),
        }
    }
}

/// The moment at which work of side streams is done, and its blocks are freed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Streams {
    /// At once.
    #[default]
    AtOnce,
    /// As late as it can be: when the program waits.
    Late,
}

/// The device memory that the program finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// The device's memory.
    Device,
    /// A part of the device, in bytes; other processes use the rest.
    Of(Bytes),
    /// More than any program asks for.
    Unlimited,
}

impl Conditions {
    /// The conditions of a first run: the whole device, with its history.
    pub fn on_device(changes: Vec<Change>) -> Conditions {
        Conditions {
            limit: Limit::Device,
            changes,
            history: true,
            work: false,
            notes_files: false,
            streams: Streams::AtOnce,
            share: AssumedShare::Asked,
            overlay: BTreeMap::new(),
        }
    }

    /// The same conditions with another limit.
    #[must_use]
    pub fn with_limit(self, limit: Limit) -> Conditions {
        Conditions { limit, ..self }
    }

    /// The same conditions, where work of side streams ends as late as it can.
    #[must_use]
    pub fn with_late_streams(self) -> Conditions {
        Conditions { streams: Streams::Late, ..self }
    }

    /// Returns the user's options as they hold in the run.
    pub(crate) fn apply(&self, asked: &RunOptions) -> RunOptions {
        // A shortened loop over micro-batches has less work than a step.
        let stop_at = if self.work { asked.stop_at.without_life() } else { asked.stop_at };
        RunOptions { fraction: self.share.of(asked.fraction), stop_at, ..asked.clone() }
    }

    /// Returns the allocator's settings from the remedy; they replace `PYTORCH_CUDA_ALLOC_CONF`. An empty text stands for the defaults.
    pub(crate) fn conf(&self) -> Option<&str> {
        let mut settings = self.changes.iter().filter(|change| change.remedy == ALLOCATOR_SETTINGS);
        settings.find_map(|change| change.settings.get(remedies::setting::CONF)?.as_str())
    }

    /// Returns the values of the program's own options, keys and variables.
    pub fn own_settings(&self) -> BTreeMap<String, Value> {
        let own = self.changes.iter().filter(|change| is_own(change));
        own.flat_map(|change| change.settings.clone()).collect()
    }

    /// Returns the program's command line with its own options.
    pub fn command(&self, command: &[OsString]) -> Vec<OsString> {
        options::change_command(command, &self.own_settings())
    }

    /// Returns the program's own variables of the environment.
    pub(crate) fn own_variables(&self) -> Vec<(String, OsString)> {
        let settings = self.own_settings();
        options::list_variables(&settings).map(|(name, value)| (name.to_owned(), OsString::from(value))).collect()
    }

    /// Returns the agent's remedies as JSON; `None` where the agent has none to apply.
    pub(crate) fn remedies(&self) -> Option<String> {
        let is_agents = |change: &&Change| change.remedy != ALLOCATOR_SETTINGS && !is_own(change);
        let remedies: Vec<&Change> = self.changes.iter().filter(is_agents).collect();
        // Names and JSON values can always be written.
        (!remedies.is_empty()).then(|| serde_json::to_string(&remedies).unwrap_or_default())
    }
}

/// True for values of the program's own options; a search for these is the agent's.
fn is_own(change: &Change) -> bool {
    change.remedy == OWN_OPTIONS && !change.settings.contains_key(remedies::setting::PROBE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_remedy_is_for_pytorch_and_the_others_for_the_agent() {
        let settings = || Change::new(ALLOCATOR_SETTINGS).with("conf", "max_split_size_mb:64");
        let both = Conditions::on_device(vec![settings(), Change::new("sdpa")]);
        assert_eq!(both.conf(), Some("max_split_size_mb:64"));
        assert_eq!(both.remedies().as_deref(), Some(r#"[{"remedy":"sdpa"}]"#));
        let defaults = Conditions::on_device(vec![Change::new(ALLOCATOR_SETTINGS).with("conf", "")]);
        assert_eq!(defaults.conf(), Some(""));
        let alone = Conditions::on_device(vec![settings()]);
        assert_eq!(alone.remedies(), None);
        assert_eq!(Conditions::on_device(Vec::new()).conf(), None);
    }
}
