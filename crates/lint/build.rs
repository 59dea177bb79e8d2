//! Writes the registry of rules: each file in `src/rules` is a module with a constant `RULE`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let rules = PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("src/rules");
    println!("cargo::rerun-if-changed={}", rules.display());
    fs::write(Path::new(&variable("OUT_DIR")).join("rules.rs"), registry(&rules)).expect("OUT_DIR is writable");
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("Cargo sets {name} for build scripts"))
}

/// The modules, and the table of their rules ordered by name.
fn registry(folder: &Path) -> String {
    let entries = fs::read_dir(folder).expect("src/rules is a folder");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("src/rules can be listed").path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "rs"));
    files.sort();
    let (mut modules, mut table) = (String::new(), String::new());
    for path in files {
        let name = path.file_stem().unwrap_or_default().display().to_string();
        // Writing to a `String` cannot fail.
        let _ = writeln!(modules, "#[path = {:?}]\nmod {name};", path.display().to_string());
        let _ = writeln!(table, "    {name}::RULE,");
    }
    format!("{modules}\n/// All rules, ordered by name.\npub(crate) static RULES: &[Rule] = &[\n{table}];\n")
}
