//! The list of the rules of `check` and `explain` in `docs/rules/README.md`: from their summaries.

use crate::output::Output;

pub(crate) fn write() -> Output {
    let rows: String = diagnose::rules().iter().map(write_row).collect();
    Output::part("docs/rules/README.md", "rules", format!("\n| rule | pattern |\n|---|---|\n{rows}\n"))
}

fn write_row(rule: &diagnose::Rule) -> String {
    let (id, summary) = (rule.id, rule.summary);
    format!("| [{id}]({id}.md) | {summary} |\n")
}
