//! The rows of [`agent_records!`](crate::agent_records) as values.
//!
//! # Note [Records]
//! A row of [`agent_records!`] defines a record: the tag, the field in `trace::run::Process`, and the type of each key. Four things are
//! generated from the rows: `trace`'s types and fold (`crates/trace/src/run/record.rs`), the samples of the tests, and the agent's
//! functions (`python/oomph/agent/records.py`). A new record is a row here, a call of the new function in the agent, and a reader of the
//! new field.
//!
//! A row is `Variant "tag" => count field: Type { keys } later { keys } optional { keys }`. The count is `one` (exactly one record in a
//! process), `last` (at most one) or `many`. Keys under `later` are absent in runs of earlier versions, keys under `optional` in records
//! without a value. Types are named as in `key_type!` below and `rust_type!` (`trace`). Keys are written in the order of the row.

use super::{Key, Presence, RecordKind, Sample};

/// The type of a key: its name in Python, and a value.
macro_rules! key_type {
    (u32) => {
        ("int", Sample::Json("1"))
    };
    (u64) => {
        ("int", Sample::Json("1"))
    };
    (f64) => {
        ("float", Sample::Json("0.5"))
    };
    (bool) => {
        ("bool", Sample::Json("true"))
    };
    (text) => {
        ("str", Sample::Json("\"text\""))
    };
    (texts) => {
        ("list[str]", Sample::Json("[\"train.py\"]"))
    };
    (pids) => {
        ("list[int]", Sample::Json("[71,1]"))
    };
    (u32_or_null) => {
        ("int | None", Sample::Json("1"))
    };
    (u64_or_null) => {
        ("int | None", Sample::Json("1"))
    };
    (text_or_null) => {
        ("str | None", Sample::Json("\"text\""))
    };
    (counts) => {
        ("dict[str, int]", Sample::Json("{\"float32\":5}"))
    };
    (site) => {
        ("tuple[str, int]", Sample::Json("[\"train.py\",7]"))
    };
    (frames) => {
        ("list[tuple[str, str, int]]", Sample::Json("[[\"main\",\"train.py\",3]]"))
    };
    (storages) => {
        ("list[tuple[str, int, int, int]]", Sample::Json("[[\"parameter\",0,1,2]]"))
    };
    (addresses) => {
        ("list[int]", Sample::Json("[1,2]"))
    };
    (shapes) => {
        ("list[list[int]]", Sample::Json("[[64,1],[64]]"))
    };
    (phase) => {
        ("str", Sample::Json("\"forward\""))
    };
    (census_time) => {
        ("str", Sample::Json("\"optimizer\""))
    };
    (untrained_reason) => {
        ("str", Sample::Json("\"no-step\""))
    };
    (ahead_reason) => {
        ("str", Sample::Json("\"unrun\""))
    };
    (shortened_reason) => {
        ("str", Sample::Json("\"alike\""))
    };
    (end_reason) => {
        ("str", Sample::Json("\"exit\""))
    };
    (action) => {
        ("dict | None", Sample::Json("{\"kind\":\"scale-loss\",\"steps\":4}"))
    };
    (guard) => {
        ("dict", Sample::Object("guard"))
    };
    (stats) => {
        ("dict", Sample::Object("device_stats"))
    };
    (all_stats) => {
        ("list[dict]", Sample::Objects("device_stats"))
    };
    (loader_wait) => {
        ("dict", Sample::Object("loader_wait"))
    };
    (work) => {
        ("dict", Sample::Object("gpu_work"))
    };
}

macro_rules! key {
    ($presence:ident $name:ident $($key:literal)?: $type:ident) => {{
        let (python, sample) = key_type!($type);
        Key { name: [$($key,)? stringify!($name)][0], python, sample, presence: Presence::$presence }
    }};
}

macro_rules! kinds {
    (
        objects { $($(#[doc = $object_doc:literal])+ $object:ident $object_name:literal {
            $($(#[doc = $field_doc:literal])+ $field:ident: $field_type:ident,)+
        } $(later {
            $($(#[doc = $new_doc:literal])+ $new:ident: $new_type:ident,)+
        })?)+ }
        records { $($(#[doc = $doc:literal])+ $variant:ident $tag:literal => $count:ident $list:ident: $record:ident {
            $($(#[doc = $key_doc:literal])+ $key:ident $(as $name:literal)?: $type:ident,)+
        } $(later {
            $($(#[doc = $later_doc:literal])+ $later:ident: $later_type:ident,)+
        })? $(optional {
            $($(#[doc = $optional_doc:literal])+ $optional:ident: $optional_type:ident,)+
        })?)+ }
    ) => {
        /// Objects that are values of keys.
        pub const OBJECTS: &[RecordKind] = &[$(RecordKind {
            tag: $object_name,
            summary: concat!($($object_doc),+),
            keys: &[$(key!(Always $field: $field_type),)+ $($(key!(Later $new: $new_type),)+)?],
        }),+];

        /// The kinds of records in the agent's `*.marks.jsonl`.
        pub const MARKS: &[RecordKind] = &[$(RecordKind {
            tag: $tag,
            summary: concat!($($doc),+),
            keys: &[
                $(key!(Always $key $($name)?: $type),)+
                $($(key!(Later $later: $later_type),)+)?
                $($(key!(Optional $optional: $optional_type),)+)?
            ],
        }),+];
    };
}

crate::agent_records!(kinds);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_has_the_name_of_another_or_of_the_tag() {
        for record in MARKS {
            let names: Vec<&str> = std::iter::once("kind").chain(record.keys.iter().map(|key| key.name)).collect();
            for (index, name) in names.iter().enumerate() {
                assert!(!names[..index].contains(name), "{}: two keys are named {name}", record.tag);
            }
        }
    }
}
