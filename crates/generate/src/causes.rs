//! The table of causes, the modules of `diagnose::rules::causes` and the list of the rules' pages: from the openings of the rules' files.
//!
//! ```text
//! //! `growing-collection`: tensors are kept in a list, a dict, a cache or an exporter, step after step.
//! //!
//! //! Role growth, order 150.
//! ```

use std::fs;
use std::path::Path;

use crate::ROOT;
use crate::error::GenerateError;
use crate::output::Output;

const FOLDER: &str = "crates/diagnose/src/rules/causes";

/// A row of the table, as a rule's file states it.
#[derive(Debug)]
struct Row {
    module: String,
    name: String,
    summary: String,
    role: String,
    order: u32,
}

pub(crate) fn write() -> Result<[Output; 4], GenerateError> {
    let rows = read_rows()?;
    Ok([
        Output::part("crates/causes/src/id.rs", "causes", write_identifiers(&rows)),
        Output::part("crates/causes/src/table.rs", "causes", write_table(&rows)),
        Output::part("crates/diagnose/src/rules/causes.rs", "rules", write_registry(&rows)),
        Output::part("docs/rules/README.md", "rules", write_index(&rows)),
    ])
}

/// Returns the rows of all rules in their order.
fn read_rows() -> Result<Vec<Row>, GenerateError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        |source| GenerateError::Io { path, source }
    };
    let folder = Path::new(ROOT).join(FOLDER);
    let mut rows = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed(&folder))? {
        let path = entry.map_err(failed(&folder))?.path();
        let text = fs::read_to_string(&path).map_err(failed(&path))?;
        rows.push(read_row(&path, &text).ok_or(GenerateError::NoRow { path })?);
    }
    rows.sort_by_key(|row| row.order);
    Ok(rows)
}

/// Reads the row from the opening of a rule's file.
fn read_row(path: &Path, text: &str) -> Option<Row> {
    let module = path.file_stem()?.to_str()?;
    let opening = text.lines().map_while(|line| line.strip_prefix("//!")).collect::<Vec<_>>().join("\n");
    let mut paragraphs = opening.split("\n\n").map(|paragraph| paragraph.replace('\n', "").trim().to_owned());
    let pattern = paragraphs.next()?;
    let (name, summary) = pattern.strip_prefix('`')?.split_once("`: ")?;
    let place = paragraphs.next()?;
    let (role, order) = place.strip_prefix("Role ")?.strip_suffix('.')?.split_once(", order ")?;
    let (name, summary) = (name.to_owned(), summary.strip_suffix('.')?.to_owned());
    (name == module.replace('_', "-")).then_some(())?;
    Some(Row { module: module.to_owned(), name, summary, role: to_camel(role), order: order.parse().ok()? })
}

/// `growing_collection` → `GrowingCollection`.
fn to_camel(module: &str) -> String {
    let words = module.split('_').filter_map(|word| {
        let first = word.chars().next()?;
        Some(first.to_uppercase().chain(word.chars().skip(1)).collect::<String>())
    });
    words.collect()
}

fn write_identifiers(rows: &[Row]) -> String {
    let variants = rows.iter().map(|row| format!("    /// `{}`.\n    {},\n", row.name, to_camel(&row.module)));
    let derived = "Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash";
    format!(
        "/// The identifier of a cause.\n#[derive({derived})]\npub enum CauseId {{\n{}}}\n",
        variants.collect::<String>()
    )
}

fn write_table(rows: &[Row]) -> String {
    let specs = rows.iter().map(|row| {
        let Row { name, summary, role, .. } = row;
        format!(
            "    CauseSpec {{\n        id: CauseId::{},\n        name: \"{name}\",\n        summary: \"{summary}\",\n        role: Role::{role},\n    }},\n",
            to_camel(&row.module)
        )
    });
    format!(
        "/// Every cause. The order breaks ties between findings.\npub static TABLE: &[CauseSpec] = &[\n{}];\n",
        specs.collect::<String>()
    )
}

/// The modules of the rules, and the list of their rules.
fn write_registry(rows: &[Row]) -> String {
    let mut modules: Vec<String> = rows.iter().map(|row| format!("pub(super) mod {};\n", row.module)).collect();
    modules.sort();
    let list: Vec<String> = rows.iter().map(|row| format!("    {}::RULE,\n", row.module)).collect();
    format!(
        "{}\n/// The rules in the order of the table.\npub(super) static RULES: &[Rule] = &[\n{}];\n",
        modules.concat(),
        list.concat()
    )
}

fn write_index(rows: &[Row]) -> String {
    let rows: String =
        rows.iter().map(|row| format!("| [{name}]({name}.md) | {} |\n", row.summary, name = row.name)).collect();
    format!("\n| rule | pattern |\n|---|---|\n{rows}\n")
}
