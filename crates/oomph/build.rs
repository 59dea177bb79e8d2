//! Gathers the pages on remedies and rules for the binary to carry.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let workspace = PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("../..");
    let out = PathBuf::from(variable("OUT_DIR"));
    let docs = |folder: &str| {
        let folder = workspace.join("docs").join(folder);
        println!("cargo::rerun-if-changed={}", folder.display());
        folder
    };
    fs::write(out.join("pages.rs"), pages("PAGES", &docs("remedies"))).expect("OUT_DIR is writable");
    let rules = pages("LINT_PAGES", &docs("lint")) + &pages("RUN_PAGES", &docs("rules"));
    fs::write(out.join("rule_pages.rs"), rules).expect("OUT_DIR is writable");
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("Cargo sets {name} for build scripts"))
}

/// A Rust table of the pages in a folder, by name. Those in capitals are about the folder, not of it.
fn pages(constant: &str, folder: &Path) -> String {
    let entries = fs::read_dir(folder).expect("the pages lie beside the crates");
    let paths = entries.map(|entry| entry.expect("the folder of pages can be read").path());
    let mut pages: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect();
    let is_page =
        |path: &PathBuf| path.file_stem().is_some_and(|name| name.to_string_lossy().chars().any(char::is_lowercase));
    pages.retain(is_page);
    pages.sort();
    let mut text = format!("const {constant}: &[(&str, &str)] = &[\n");
    for page in pages {
        let name = page.file_stem().unwrap_or_default().display().to_string();
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "    ({name:?}, include_str!({:?})),", page.display().to_string());
    }
    text + "];\n\n"
}
