//! allocator-settings: the environment variable, set before any import that may initialise CUDA.
//!
//! The settings are the allocator's own keys and values, or a single text `conf` as in the variable. The edit uses
//! `setdefault`, so the user's environment has precedence.

use report::Change;
use serde_json::Value;

use super::Patch;
use crate::edit::Edit;
use crate::layout;
use crate::site::ChangeSite;
use crate::syntax::{Kind, Node};
use crate::why::Why;

pub(super) const PATCH: Patch = Patch::new(edits, |placed| snippet(&placed.change));

/// Read by all versions; versions from 2.9 on read it if their `PYTORCH_ALLOC_CONF` is unset.
const VARIABLE: &str = "PYTORCH_CUDA_ALLOC_CONF";
/// Modules of the standard library that scripts import above torch; none of them imports torch.
const STANDARD: [&str; 24] = [
    "abc",
    "argparse",
    "collections",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "functools",
    "gc",
    "glob",
    "inspect",
    "itertools",
    "json",
    "logging",
    "math",
    "os",
    "pathlib",
    "random",
    "re",
    "shutil",
    "sys",
    "time",
    "typing",
];

fn edits(site: &ChangeSite<'_>) -> Result<Vec<Edit>, Why> {
    let conf = conf(site.change);
    if conf.is_empty() || conf.contains(['"', '\\', '\n', '\r']) {
        return Err(Why::Unfit(format!("the settings `{conf}` are none of the allocator's")));
    }
    let rest = layout::after_prologue(site.source);
    if let Some(value) = set_already(site) {
        return if value == conf {
            Ok(Vec::new())
        } else {
            Err(Why::Unfit(format!("the file sets {VARIABLE} itself")))
        };
    }
    let standard = rest.iter().take_while(|statement| is_standard(statement)).count();
    let (imports, others) = rest.split_at(standard);
    let bound = imports.iter().find_map(os_name);
    if bound.is_none() && site.import_name("os").is_none() && site.is_taken("os") {
        return Err(Why::NameTaken("os".to_owned()));
    }
    let set = format!("{}.environ.setdefault(\"{VARIABLE}\", \"{conf}\")", bound.unwrap_or("os"));
    let import = bound.is_none().then(|| "import os".to_owned());
    // After imports of the standard library a blank line mostly follows, which then stands below.
    let lines: Vec<String> = import.into_iter().chain([String::new(), set]).collect();
    let alone: Vec<String> = lines.iter().cloned().chain([String::new()]).collect();
    match (imports.last(), others.first()) {
        (Some(last), _) => Ok(vec![layout::after(site.source, last, &lines)?]),
        (None, Some(first)) => Ok(vec![layout::before(site.source, first, &alone)?]),
        (None, None) => Err(Why::Unfit("the file has no statement".to_owned())),
    }
}

/// `expandable_segments:True,max_split_size_mb:128`.
fn conf(change: &Change) -> String {
    let text = |value: &Value| match value {
        Value::Bool(value) => if *value { "True" } else { "False" }.to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match change.settings.get(remedies::setting::CONF) {
        Some(conf) => text(conf),
        None => {
            change.settings.iter().map(|(key, value)| format!("{key}:{}", text(value))).collect::<Vec<_>>().join(",")
        }
    }
}

/// The value that the file itself assigns to the variable.
fn set_already<'a>(site: &ChangeSite<'a>) -> Option<&'a str> {
    let is_name =
        |node: &Node| matches!(&node.kind, Kind::Text(text) if text == VARIABLE || text == "PYTORCH_ALLOC_CONF");
    let statements = site.source.root.walk().filter(|node| matches!(node.kind, Kind::Assign | Kind::Call));
    let sets = statements
        .filter(|node| node.walk().any(is_name) && (node.kind == Kind::Assign || node.called() == Some("setdefault")));
    sets.map(|node| match node.children.last().map(|value| &value.kind) {
        Some(Kind::Text(value)) => value.as_str(),
        _ => "",
    })
    .next()
}

fn is_standard(statement: &Node) -> bool {
    let first = |path: &str| path.split('.').next().map(str::to_owned).unwrap_or_default();
    match &statement.kind {
        Kind::Import(bindings) => bindings.iter().all(|binding| STANDARD.contains(&first(&binding.path).as_str())),
        _ => false,
    }
}

fn os_name(statement: &Node) -> Option<&str> {
    match &statement.kind {
        Kind::Import(bindings) => {
            bindings.iter().find(|binding| binding.path == "os").map(|binding| binding.name.as_str())
        }
        _ => None,
    }
}

fn snippet(change: &Change) -> String {
    format!("import os\nos.environ.setdefault(\"{VARIABLE}\", \"{}\")  # before torch is imported", conf(change))
}
