//! The lists that follow from the table of remedies: the agent's, the index of pages, the modules of `patch`.

use std::fmt::Write as _;

use remedies::{Exactness, RemedySpec, TABLE, Trying, in_patch_order};

use crate::output::Output;

pub(crate) fn write() -> [Output; 3] {
    [
        Output::file("python/oomph/agent/remedies/table.py", write_agent_table()),
        Output::file("docs/remedies/README.md", write_index()),
        Output::part("crates/patch/src/remedies.rs", "patches", list_patches()),
    ]
}

fn write_agent_table() -> String {
    let head = "\"\"\"The table of remedies, as far as Python reads it.\n\nWritten by `make generate`; not to be edited.\n\"\"\"\n";
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

fn write_index() -> String {
    let head = "# Remedies\n\nA remedy is a change to a program that lowers its peak. `oomph fit` searches for the cheapest set of them, `oomph check --with NAME` \
                tries one,\nand `oomph remedy NAME` prints its page. This list is written by `make generate`.\n\n\
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

/// The modules of `patch`, and the list of their patches.
fn list_patches() -> String {
    let specs = in_patch_order();
    let mut modules: Vec<String> = specs.iter().map(|spec| format!("mod {};\n", spec.module())).collect();
    modules.sort();
    let row = |spec: &&RemedySpec| format!("    (\"{}\", &{}::PATCH),\n", spec.name, spec.module());
    let rows: String = specs.iter().map(row).collect();
    format!("{}\n/// The patches in order.\nconst PATCHES: &[(&str, &Patch)] = &[\n{rows}];\n", modules.concat())
}
