//! The actions that remedies record, as functions of the agent: from `trace::run::RemedyAction`.

use trace::run::{ActionKind, RemedyAction};

use crate::output::Output;

const HEAD: &str = r#""""The actions that a remedy records, one function for each kind. See Note [Actions] in `crates/trace/src/run/action.rs`.

Written by `make generate`; not to be edited.
"""
"#;

pub(crate) fn write() -> Output {
    let functions = RemedyAction::KINDS.iter().map(write_function);
    Output::file("python/oomph/agent/remedies/actions.py", HEAD.to_owned() + &functions.collect::<String>())
}

fn write_function(kind: &ActionKind) -> String {
    let parameters: Vec<String> = kind.fields.iter().map(|(name, python)| format!("{name}: {python}")).collect();
    let fields: String = kind.fields.iter().map(|(name, _)| format!(", \"{name}\": {name}")).collect();
    format!(
        "\n\ndef {}({}) -> dict:\n    \"\"\"{}\"\"\"\n    return {{\"kind\": \"{}\"{fields}}}\n",
        kind.name.replace('-', "_"),
        parameters.join(", "),
        kind.summary.trim(),
        kind.name,
    )
}
