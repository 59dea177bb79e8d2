//! The agent's part of the contract, `wire.py`: from the tables of `wire`.

use wire::variable::Component;
use wire::{exit, file, limit, signal, variable};

use crate::output::Output;

const HEAD: &str = r#""""The contract with the binary and the phantom: names and limits. The records are in `records.py`.

Written by `make generate` from the tables in crates/wire; not to be edited.
"""
"#;

pub(crate) fn write() -> Output {
    let text = [HEAD.to_owned(), write_variables(), write_constants()].concat();
    Output::file("python/oomph/agent/wire.py", text)
}

fn write_variables() -> String {
    let rows = variable::ALL.iter().filter(|row| row.readers.contains(&Component::Agent));
    let lines = rows.map(|row| format!("# {}.\n{} = \"{}\"\n", row.meaning, row.constant, row.name));
    format!("\n# Environment variables.\n{}", lines.collect::<String>())
}

fn write_constants() -> String {
    let names = [
        ("RANK_PREFIX", file::RANK_PREFIX),
        ("MARKS", file::MARKS),
        ("SNAPSHOT", file::SNAPSHOT),
        ("RECORDING", file::RECORDING),
        ("POSITION_PREFIX", file::POSITION_PREFIX),
        ("STACK_PREFIX", file::STACK_PREFIX),
        ("DOWNLOADS", file::DOWNLOADS),
        ("HOLLOW", file::HOLLOW),
        ("HOSTS", file::HOSTS),
    ];
    let names: String = names.iter().map(|(name, value)| format!("{name} = \"{value}\"\n")).collect();
    format!(
        "\n# Exit status of a forked child that could not start the program.\nCANNOT = {}\n\
         \n# Bytes of the largest copy to the device whose values the phantom keeps.\nKEPT_BYTES = {}\n\
         \n# Signals from oomph: to end, with the records of that moment; to write the Python stack.\nSTOP = {}\nSTACK = {}\n\
         \n# Names in the run directory: `rank0.marks.jsonl`, `rank0.snapshot.pickle`.\n{names}",
        exit::CANNOT,
        limit::KEPT_BYTES,
        signal::STOP,
        signal::STACK,
    )
}
