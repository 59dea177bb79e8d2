//! Records of the run directory: their tags, their keys, and the phantom's writer. See Note `[Records]` in `kinds.rs`.
//!
//! A record is one JSON object on a line of its own. The phantom writes a [`JournalEntry`], the agent a kind of [`MARKS`]; `trace` reads both.

mod journal;
mod kinds;
mod marks;

pub use self::journal::{JOURNAL, JournalEntry, SIDE_STREAMS};
pub use self::kinds::{MARKS, OBJECTS};

/// The key of the tag.
pub const TAG: &str = "kind";

/// A kind of record, or of an object in a record.
#[derive(Clone, Copy, Debug)]
pub struct RecordKind {
    /// The value of [`TAG`]; the name of an object.
    pub tag: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// The other keys, in the order of the file.
    pub keys: &'static [Key],
}

/// A key of a record.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The name.
    pub name: &'static str,
    /// The type of the value in Python.
    pub python: &'static str,
    /// A value.
    pub sample: Sample,
    /// The records that have the key.
    pub presence: Presence,
}

/// The records that have a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// All records.
    Always,
    /// All records but those of earlier versions.
    Later,
    /// Records with a value for the key.
    Optional,
}

/// A value that a key may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// JSON.
    Json(&'static str),
    /// A sample of one of [`OBJECTS`].
    Object(&'static str),
    /// A list of samples of one of [`OBJECTS`].
    Objects(&'static str),
}

impl RecordKind {
    /// Returns a record of this kind as JSON, with the keys of which `has` is true.
    pub fn sample(&self, has: impl Fn(&Key) -> bool) -> String {
        let tag = format!("\"{TAG}\":\"{}\"", self.tag);
        let keys = self.keys.iter().filter(|key| has(key)).map(Key::sample_member);
        format!("{{{}}}", [tag].into_iter().chain(keys).collect::<Vec<_>>().join(","))
    }
}

impl Key {
    fn sample_member(&self) -> String {
        format!("\"{}\":{}", self.name, self.sample.to_json())
    }
}

impl Sample {
    fn to_json(self) -> String {
        match self {
            Sample::Json(text) => text.to_owned(),
            Sample::Object(name) => sample_object(name),
            Sample::Objects(name) => format!("[{}]", sample_object(name)),
        }
    }
}

fn sample_object(name: &str) -> String {
    let keys = OBJECTS.iter().filter(|object| object.tag == name).flat_map(|object| object.keys);
    format!("{{{}}}", keys.map(Key::sample_member).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_no_key_is_the_tags() {
        fn check(names: impl Iterator<Item = &'static str>) {
            let names: Vec<&str> = names.collect();
            for (index, name) in names.iter().enumerate() {
                assert!(*name != TAG && !names[..index].contains(name), "{name}");
            }
        }
        check(JOURNAL.iter().copied());
        check(MARKS.iter().chain(OBJECTS).map(|kind| kind.tag));
        for kind in MARKS {
            check(kind.keys.iter().map(|key| key.name));
        }
    }

    #[test]
    fn a_sample_has_the_keys_in_the_order_of_the_file() {
        let step = MARKS.iter().find(|kind| kind.tag == "step").map(|step| step.sample(|key| key.name != "devices"));
        let work = r#"{"flops":{"float32":5},"bytes":1,"host_bytes":1,"operators":1}"#;
        let lines = r#""at":["train.py",7],"zeroed_at":["train.py",7]"#;
        let loader = r#""loader":{"wait_ns":1,"workers":1,"pins_memory":true}"#;
        assert_eq!(
            step,
            Some(format!(
                r#"{{"kind":"step","step":1,"monotonic_ns":1,"backwards":1,"work":{work},{lines},{loader}}}"#
            ))
        );
    }
}
