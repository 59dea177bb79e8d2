//! Writes the lists that follow from the table: `cargo run -p remedies --example generate`.

use std::fmt::Write as _;
use std::{fs, io};

use remedies::{Exactness, RemedySpec, TABLE, Trying, in_patch_order};

/// The workspace.
pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");

/// The marks around a generated part of a file.
const BEGIN: &str = "// Written by `cargo run -p remedies --example generate`:\n";
const END: &str = "// Until here.\n";

fn main() -> io::Result<()> {
    for (file, text) in files()? {
        fs::write(format!("{ROOT}{file}"), text)?;
    }
    Ok(())
}

/// Each file with the text that it should have.
pub(crate) fn files() -> io::Result<Vec<(&'static str, String)>> {
    let patch = "crates/patch/src/remedies.rs";
    Ok(vec![
        ("python/oomph/agent/remedies/table.py", agent_table()),
        ("docs/remedies/README.md", index()),
        (patch, with_modules(&fs::read_to_string(format!("{ROOT}{patch}"))?)),
    ])
}

fn agent_table() -> String {
    let head = "\"\"\"The table of remedies, as far as Python reads it.\n\nWritten by `cargo run -p remedies --example generate`; not to be edited.\n\"\"\"\n";
    let list = |constant: &str, comment: &str, wanted: &dyn Fn(&RemedySpec) -> bool| {
        let names = TABLE.iter().filter(|spec| wanted(spec)).map(|spec| format!("    \"{}\",\n", spec.name));
        format!("\n# {comment}\n{constant} = (\n{})\n", names.collect::<String>())
    };
    [
        head.to_owned(),
        list("NAMES", "Every remedy.", &|_| true),
        list("BEFORE_TORCH", "Remedies whose module has a `prepare`.", &|spec| spec.is_before_torch),
        list("PLANNED", "Remedies that plans may contain.", &RemedySpec::is_planned),
    ]
    .concat()
}

fn index() -> String {
    let head = "# Remedies\n\nA remedy is a change to a program that lowers its peak. `oomph fit` searches for the cheapest set of them, `oomph check --with NAME` \
                tries one,\nand `oomph remedy NAME` prints its page. This list is written by `cargo run -p remedies --example generate`.\n\n\
                | remedy | | results | tried |\n|---|---|---|---|\n";
    TABLE.iter().fold(head.to_owned(), |mut text, spec| {
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            text,
            "| [{}]({}.md) | {} | {} | {} |",
            spec.name,
            spec.name,
            spec.summary,
            results(spec.exactness),
            tried(spec.trying)
        );
        text
    })
}

fn results(exactness: Exactness) -> &'static str {
    match exactness {
        Exactness::Identical => "identical",
        Exactness::UpToRounding => "same up to rounding",
        Exactness::OtherNumerics => "other numerics",
        Exactness::OtherModel => "another model",
    }
}

fn tried(trying: Trying) -> &'static str {
    match trying {
        Trying::Usual => "always",
        Trying::Asked => "with `--allow`",
        Trying::Folklore => "to show that it does nothing",
    }
}

/// A file of `patch` with the modules and the list of the table's remedies between the marks.
fn with_modules(file: &str) -> String {
    let (before, rest) = file.split_once(BEGIN).expect("the file has the opening mark");
    let (_, after) = rest.split_once(END).expect("the file has the closing mark");
    let specs = in_patch_order();
    let mut modules: Vec<String> = specs.iter().map(|spec| format!("mod {};\n", spec.module())).collect();
    modules.sort();
    let row = |spec: &&RemedySpec| format!("    (\"{}\", &{}::PATCH),\n", spec.name, spec.module());
    let rows = specs.iter().map(row).collect::<Vec<String>>().concat();
    let list = format!("/// The patches in order.\nconst PATCHES: &[(&str, &Patch)] = &[\n{rows}];\n");
    format!("{before}{BEGIN}{}\n{list}{END}{after}", modules.concat())
}
