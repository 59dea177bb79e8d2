//! Appends the functions that a dry run replaced to the file of `OOMPH_REPLACED`, for the tests that record which versions were run.

use std::fs::OpenOptions;
use std::io::Write;
use std::{env, io};

use base::events;
use trace::run::Run;
use wire::variable;

/// Appends a line of JSON for each replaced function, if the variable is set.
pub(super) fn append(run: &Run) {
    let Some(path) = env::var_os(variable::REPLACED) else { return };
    let lines: Result<Vec<String>, _> =
        run.processes.iter().flat_map(|process| &process.replaced).map(serde_json::to_string).collect();
    let written = lines.map_err(io::Error::from).and_then(|lines| {
        let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
        lines.iter().try_for_each(|line| writeln!(file, "{line}"))
    });
    if let Err(error) = written {
        events::remark(&format!("{}: {error}", path.display()));
    }
}
