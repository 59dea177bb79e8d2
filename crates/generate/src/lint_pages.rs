//! The list of lint's rules in `docs/lint/README.md`: from their summaries.

use crate::output::Output;

pub(crate) fn write() -> Output {
    let rows: String = lint::rules().iter().map(write_row).collect();
    let table = format!("\n| rule | effect | what it finds |\n|---|---|---|\n{rows}\n");
    Output::part("docs/lint/README.md", "rules", table)
}

fn write_row(rule: &lint::Rule) -> String {
    let (id, effect) = (rule.id, format!("{:?}", rule.effect).to_lowercase());
    format!("| [{id}]({id}.md) | {effect} | {} |\n", rule.summary)
}
