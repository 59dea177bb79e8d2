//! The agent's part of the contract, `wire.py`: from the tables of `wire`.

use std::fmt::Write as _;

use wire::record::{DEVICE_STATS, MARKS, RecordKind, WORK};
use wire::variable::Component;
use wire::{exit, file, limit, variable};

use crate::output::Output;

const HEAD: &str = r#""""The contract with the binary and the phantom: names, records, limits.

Written by `make generate` from the tables in crates/wire; not to be edited.
"""
"#;

pub(crate) fn write() -> Output {
    let text = [HEAD.to_owned(), write_variables(), write_constants(), write_records()].concat();
    Output::file("python/oomph/agent/wire.py", text)
}

fn write_variables() -> String {
    let rows = variable::ALL.iter().filter(|row| row.readers.contains(&Component::Agent));
    let lines = rows.map(|row| format!("# {}.\n{} = \"{}\"\n", row.meaning, row.constant, row.name));
    format!("\n# Environment variables.\n{}", lines.collect::<String>())
}

fn write_constants() -> String {
    let names = [("RANK_PREFIX", file::RANK_PREFIX), ("MARKS", file::MARKS), ("SNAPSHOT", file::SNAPSHOT)];
    let names: String = names.iter().map(|(name, value)| format!("{name} = \"{value}\"\n")).collect();
    format!(
        "\n# Exit status of a forked child that could not start the program.\nCANNOT = {}\n\
         \n# Bytes of the largest copy to the device whose values the phantom keeps.\nKEPT_BYTES = {}\n\
         \n# Names in the run directory: `rank0.marks.jsonl`, `rank0.snapshot.pickle`.\n{names}",
        exit::CANNOT,
        limit::KEPT_BYTES,
    )
}

fn write_records() -> String {
    let mut text = "\n# Keys of each kind of record.\nRECORDS = {\n".to_owned();
    for kind in MARKS {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "    \"{}\": {},", kind.tag, format_tuple(list_keys(kind)));
    }
    let (stats, work) = (format_tuple(DEVICE_STATS), format_tuple(WORK));
    text + &format!(
        "}}\n\n# Keys of a device's counters.\nDEVICE_STATS = {stats}\n\n# Keys of the counted work of operators.\nWORK_KEYS = {work}\n"
    )
}

fn list_keys(kind: &RecordKind) -> impl Iterator<Item = &&'static str> {
    kind.keys.iter().chain(kind.optional)
}

fn format_tuple<'a>(names: impl IntoIterator<Item = &'a &'static str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("\"{name}\"")).collect();
    let comma = if names.len() == 1 { "," } else { "" };
    format!("({}{comma})", names.join(", "))
}
