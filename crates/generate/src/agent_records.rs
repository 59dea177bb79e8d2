//! The agent's records, one function for each kind: from the table of `wire`.

use wire::record::{Key, MARKS, OBJECTS, Presence, RecordKind, TAG};

use crate::output::Output;

const HEAD: &str = r#""""The agent's records, one function for each kind, and for each object in a record: Note [Records] in crates/wire/src/record/kinds.rs.

Written by `make generate` from the table there; not to be edited.
"""
"#;

pub(crate) fn write() -> Output {
    let objects = OBJECTS.iter().map(|object| write_function(object, None));
    let records = MARKS.iter().map(|kind| write_function(kind, Some(format!("\"{TAG}\": \"{}\"", kind.tag))));
    Output::file("python/oomph/agent/records.py", HEAD.to_owned() + &objects.chain(records).collect::<String>())
}

fn write_function(kind: &RecordKind, tag: Option<String>) -> String {
    let parameters: Vec<String> = kind.keys.iter().map(write_parameter).collect();
    let (optional, always): (Vec<&Key>, Vec<&Key>) =
        kind.keys.iter().partition(|key| key.presence == Presence::Optional);
    let members: Vec<String> = tag.into_iter().chain(always.into_iter().map(write_member)).collect();
    let dict = format!("{{{}}}", members.join(", "));
    let body = if optional.is_empty() {
        format!("    return {dict}\n")
    } else {
        let rest: String = optional.into_iter().map(write_addition).collect();
        format!("    record = {dict}\n{rest}    return record\n")
    };
    let (name, summary) = (kind.tag, kind.summary.trim());
    format!("\n\ndef {name}(*, {}) -> dict:\n    \"\"\"{summary}\"\"\"\n{body}", parameters.join(", "))
}

fn write_parameter(key: &Key) -> String {
    match key.presence {
        Presence::Optional => format!("{}: {} | None = None", key.name, key.python),
        Presence::Always | Presence::Later => format!("{}: {}", key.name, key.python),
    }
}

fn write_member(key: &Key) -> String {
    format!("\"{0}\": {0}", key.name)
}

fn write_addition(key: &Key) -> String {
    format!("    if {0} is not None:\n        record[\"{0}\"] = {0}\n", key.name)
}
