//! The agent's records, the lines of `*.marks.jsonl`, and their fold: a process.
//!
//! The table is `wire`'s: Note [Records] in `crates/wire/src/record/kinds.rs`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::action::RemedyAction;
use super::census::{Category, CensusTime};
use super::ledger::Ledger;
use crate::event::Phase;
use crate::snapshot::Snapshot;

macro_rules! rust_type {
    (text) => { String };
    (texts) => { Vec<String> };
    (pids) => { Vec<u32> };
    (addresses) => { Vec<u64> };
    (shapes) => { Vec<Vec<u64>> };
    (u32_or_null) => { Option<u32> };
    (u64_or_null) => { Option<u64> };
    (text_or_null) => { Option<String> };
    (counts) => { BTreeMap<String, u64> };
    (site) => { (String, u32) };
    (frames) => { Vec<(String, String, u32)> };
    (storages) => { Vec<(Category, u32, u64, u64)> };
    (phase) => { PhaseName };
    (census_time) => { CensusTime };
    (untrained_reason) => { UntrainedReason };
    (ahead_reason) => { AheadReason };
    (shortened_reason) => { ShortenedReason };
    (end_reason) => { EndReason };
    (action) => { Option<RemedyAction> };
    (guard) => { Guard };
    (stats) => { DeviceStats };
    (all_stats) => { Vec<DeviceStats> };
    (work) => { GpuWork };
    (loader_wait) => { LoaderWait };
    ($number:ident) => { $number };
}

macro_rules! kept {
    (one $record:ty) => { $record };
    (last $record:ty) => { Option<$record> };
    (many $record:ty) => { Vec<$record> };
}

macro_rules! keep {
    (one $field:expr, $record:expr) => {
        $field = $record
    };
    (last $field:expr, $record:expr) => {
        $field = Some($record)
    };
    (many $field:expr, $record:expr) => {
        $field.push($record)
    };
}

macro_rules! records {
    (
        objects { $($(#[$object_doc:meta])+ $object:ident $object_name:literal {
            $($(#[$field_doc:meta])+ $field:ident: $field_type:ident,)+
        } $(later {
            $($(#[$new_doc:meta])+ $new:ident: $new_type:ident,)+
        })?)+ }
        records { $($(#[$doc:meta])+ $variant:ident $tag:literal => $count:ident $list:ident: $record:ident {
            $($(#[$key_doc:meta])+ $key:ident $(as $name:literal)?: $type:ident,)+
        } $(later {
            $($(#[$later_doc:meta])+ $later:ident: $later_type:ident,)+
        })? $(optional {
            $($(#[$optional_doc:meta])+ $optional:ident: $optional_type:ident,)+
        })?)+ }
    ) => {
        $(
            $(#[$object_doc])+
            #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
            pub struct $object {
                $($(#[$field_doc])+ pub $field: rust_type!($field_type),)+
                $($($(#[$new_doc])+ #[serde(default)] pub $new: rust_type!($new_type),)+)?
            }
        )+

        $(
            $(#[$doc])+
            #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
            pub struct $record {
                $($(#[$key_doc])+ $(#[serde(rename = $name)])? pub $key: rust_type!($type),)+
                $($($(#[$later_doc])+ #[serde(default)] pub $later: rust_type!($later_type),)+)?
                $($(
                    $(#[$optional_doc])+
                    #[serde(skip_serializing_if = "Option::is_none")]
                    pub $optional: Option<rust_type!($optional_type)>,
                )+)?
            }
        )+

        /// A line of `*.marks.jsonl`.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind")]
        pub enum Record {
            $($(#[$doc])+ #[serde(rename = $tag)] $variant($record),)+
        }

        /// The records of a process, by kind. A kind with several records is a list, oldest first.
        #[derive(Clone, Debug, Default)]
        pub struct Process {
            $($(#[$doc])+ pub $list: kept!($count $record),)+
            /// The phantom's records; empty for a run on a real GPU.
            pub ledger: Ledger,
            /// Torch's snapshot; `None` for a process killed before it could write one.
            pub snapshot: Option<Snapshot>,
        }

        impl Process {
            /// Adds a record of the agent, read from a complete or a growing file.
            pub fn take(&mut self, record: Record) {
                match record {
                    $(Record::$variant(record) => keep!($count self.$list, record),)+
                }
            }
        }
    };
}

wire::agent_records!(records);

/// Why no step trained a parameter that an optimizer holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UntrainedReason {
    /// The optimizer made no step.
    #[default]
    NoStep,
    /// The parameter wants no gradient.
    Frozen,
}

/// Why the rest of a program may need more memory than the part that was run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AheadReason {
    /// A call that did not run yet.
    #[default]
    Unrun,
    /// A number that is larger later.
    Larger,
    /// A loop whose passes may differ.
    Varying,
    /// Statements that were not read: the source is missing, or longer than the agent's bound.
    Unread,
    /// An optimizer of which no step trained a parameter.
    Unstepped,
}

/// The relation of the passes of a loop that a dry run left out to the passes that ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ShortenedReason {
    /// They repeat passes that ran.
    #[default]
    Alike,
    /// They have smaller batches: the largest of all batches ran.
    Largest,
    /// Their batches differ, and the largest is not known.
    Varying,
    /// Unknown: no repetition was seen, or the loop's end is not known.
    Cut,
}

/// The reason for which a process ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The requested number of optimizer steps was done.
    Steps,
    /// The program ended by itself.
    #[default]
    Exit,
    /// An exception ended the program.
    Exception,
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminated,
    /// A reason of another version of the agent, by its name.
    #[serde(untagged)]
    Other(String),
}

/// A phase, recorded by name. Unknown names are read as `None`, and `None` is written as an empty name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct PhaseName(pub Option<Phase>);

impl From<String> for PhaseName {
    fn from(name: String) -> PhaseName {
        PhaseName(Phase::from_name(&name))
    }
}

impl From<PhaseName> for String {
    fn from(PhaseName(phase): PhaseName) -> String {
        phase.map_or("", Phase::name).to_owned()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn words_of_another_version_leave_a_record_readable() {
        let phase = |text: &str| serde_json::from_str::<PhaseName>(text).unwrap().0;
        assert_eq!(phase("\"backward\""), Some(Phase::Backward));
        assert_eq!(phase("\"validation\""), None);
        let reason = |text: &str| serde_json::from_str::<EndReason>(text).unwrap();
        assert_eq!(reason("\"exit\""), EndReason::Exit);
        assert_eq!(reason("\"evicted\""), EndReason::Other("evicted".to_owned()));
        for text in ["\"terminated\"", "\"evicted\""] {
            assert_eq!(serde_json::to_string(&reason(text)).unwrap(), text);
        }
        let time = |text: &str| serde_json::from_str::<CensusTime>(text).unwrap();
        assert_eq!(time("\"oom\""), CensusTime::Oom);
        assert_eq!(time("\"backward\""), CensusTime::Other("backward".to_owned()));
    }
}
