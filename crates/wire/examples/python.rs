//! Prints `python/oomph/agent/wire.py`:
//!
//! ```text
//! cargo run -p wire --example python > python/oomph/agent/wire.py
//! ```

use wire::record::{DEVICE_STATS, MARKS, RecordKind, WORK};
use wire::variable::Component;
use wire::{exit, file, limit, variable};

const OPENING: &str = r#""""The contract with the binary and the phantom: names, records, limits.

Printed by `cargo run -p wire --example python`; edit the tables in crates/wire instead.
"""
"#;

fn main() {
    println!("{OPENING}");
    println!("# Environment variables.");
    for row in variable::ALL.iter().filter(|row| row.readers.contains(&Component::Agent)) {
        println!("# {}.\n{} = \"{}\"", row.meaning, row.constant, row.name);
    }
    println!("\n# Exit status of a forked child that could not start the program.\nCANNOT = {}", exit::CANNOT);
    println!(
        "\n# Bytes of the largest copy to the device whose values the phantom keeps.\nKEPT_BYTES = {}",
        limit::KEPT_BYTES
    );
    println!("\n# Names in the run directory: `rank0.marks.jsonl`, `rank0.snapshot.pickle`.");
    for (name, value) in [("RANK_PREFIX", file::RANK_PREFIX), ("MARKS", file::MARKS), ("SNAPSHOT", file::SNAPSHOT)] {
        println!("{name} = \"{value}\"");
    }
    println!("\n# Keys of each kind of record.\nRECORDS = {{");
    for kind in MARKS {
        println!("    \"{}\": {},", kind.tag, tuple(keys(kind)));
    }
    println!("}}");
    println!("\n# Keys of a device's counters.\nDEVICE_STATS = {}", tuple(DEVICE_STATS));
    println!("\n# Keys of the counted work of operators.\nWORK_KEYS = {}", tuple(WORK));
}

fn keys(kind: &RecordKind) -> impl Iterator<Item = &&'static str> {
    kind.keys.iter().chain(kind.optional)
}

fn tuple<'a>(names: impl IntoIterator<Item = &'a &'static str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("\"{name}\"")).collect();
    let comma = if names.len() == 1 { "," } else { "" };
    format!("({}{comma})", names.join(", "))
}
