//! The registry of lint's rules: from the files in `crates/lint/src/rules`, each a module with a constant `RULE`.

use std::path::Path;
use std::{fs, io};

use crate::ROOT;
use crate::error::GenerateError;
use crate::output::Output;

const FOLDER: &str = "crates/lint/src/rules";

pub(crate) fn write() -> Result<Output, GenerateError> {
    let names = list_modules().map_err(|source| GenerateError::Io { path: FOLDER.into(), source })?;
    let modules: String = names.iter().map(|name| format!("mod {name};\n")).collect();
    let rows: String = names.iter().map(|name| format!("    {name}::RULE,\n")).collect();
    let list = format!("/// All rules, ordered by name.\npub(crate) static RULES: &[Rule] = &[\n{rows}];\n");
    Ok(Output::part("crates/lint/src/rules.rs", "rules", format!("{modules}\n{list}")))
}

/// The names of the files without `.rs`, sorted.
fn list_modules() -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(Path::new(ROOT).join(FOLDER))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(".rs").map(str::to_owned));
    }
    names.sort();
    Ok(names)
}
