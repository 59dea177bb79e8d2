//! The table of environment variables in ARCHITECTURE.md: from `wire::variable`.

use wire::variable::{self, Variable};

use crate::output::Output;

pub(crate) fn write() -> Output {
    let rows: String = variable::ALL.iter().map(write_row).collect();
    let table = format!("\n| variable | who reads it | meaning |\n|---|---|---|\n{rows}\n");
    Output::part("ARCHITECTURE.md", "variables", table)
}

fn write_row(row: &Variable) -> String {
    let readers: Vec<&str> = row.readers.iter().map(|reader| reader.name()).collect();
    format!("| `{}` | {} | {} |\n", row.name, readers.join(", "), row.meaning)
}
