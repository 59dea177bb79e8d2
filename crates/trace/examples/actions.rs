//! Writes `python/oomph/agent/remedies/actions.py` from the table of actions: `cargo run -p trace --example actions`.

use trace::run::{ActionKind, RemedyAction};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/oomph/agent/remedies/actions.py");
const HEAD: &str = r#""""The actions that a remedy records, one function for each kind. See Note [Actions] in `crates/trace/src/run/action.rs`.

Written by `cargo run -p trace --example actions`; not to be edited.
"""
"#;

fn main() -> std::io::Result<()> {
    std::fs::write(FILE, module())
}

/// The Python module.
pub(crate) fn module() -> String {
    RemedyAction::KINDS.iter().fold(HEAD.to_owned(), |text, kind| text + &function(kind))
}

fn function(kind: &ActionKind) -> String {
    let parameters: Vec<String> = kind.fields.iter().map(|(name, python)| format!("{name}: {python}")).collect();
    let fields: Vec<String> = kind.fields.iter().map(|(name, _)| format!(", \"{name}\": {name}")).collect();
    let fields = fields.concat();
    format!(
        "\n\ndef {}({}) -> dict:\n    \"\"\"{}\"\"\"\n    return {{\"kind\": \"{}\"{fields}}}\n",
        kind.name.replace('-', "_"),
        parameters.join(", "),
        kind.summary.trim(),
        kind.name,
    )
}
