//! Prints the diff that a run's remedies make of a source: `patch SOURCE RECORDS`, where RECORDS has a JSON object on each line.
//!
//! Of the records, those of kind `remedy` that were applied in the source are taken, with the settings of `OOMPH_REMEDIES` (the JSON
//! list that the run was given). With a third argument, the changed source is written there.

use std::path::Path;
use std::{env, fs};

use patch::PlacedEdit;
use report::Change;
use serde_json::Value;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [source, records, rest @ ..] = &arguments[..] else {
        return Err("expected: patch SOURCE RECORDS [RESULT]".into());
    };
    let asked: Vec<Value> = serde_json::from_str(&env::var("OOMPH_REMEDIES").unwrap_or_else(|_| "[]".to_owned()))?;
    let lines = fs::read_to_string(records)?;
    let records: Vec<Value> = lines.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let changes: Vec<PlacedEdit> = records.iter().filter_map(|record| placed(record, source, &asked)).collect();
    let name = Path::new(source).file_name().and_then(|name| name.to_str()).unwrap_or("program.py");
    let outcome = patch::patch(&fs::read_to_string(source)?, name, &changes);
    print!("{}", outcome.diff);
    for snippet in &outcome.snippets {
        eprintln!("{} at line {}: {}\n{}", snippet.remedy, snippet.line, snippet.why, snippet.code);
    }
    if let Some(result) = rest.first() {
        fs::write(result, outcome.source)?;
    }
    Ok(())
}

/// The change of a record, if it was made; its line counts only where it is the source's.
fn placed(record: &Value, source: &str, asked: &[Value]) -> Option<PlacedEdit> {
    let text = |key: &str| record.get(key).and_then(Value::as_str).unwrap_or_default();
    if text("kind") != "remedy" || record.get("applied") != Some(&Value::Bool(true)) {
        return None;
    }
    let settings =
        asked.iter().find(|one| one.get("remedy").and_then(Value::as_str) == Some(text("remedy")))?.get("settings");
    let settings = settings.and_then(Value::as_object).cloned().unwrap_or_default();
    let change = Change { remedy: text("remedy").to_owned(), settings: settings.into_iter().collect() };
    let is_here = Path::new(text("file")).file_name() == Path::new(source).file_name();
    let line = record.get("line").and_then(Value::as_u64).filter(|_| is_here).unwrap_or(0);
    let action =
        record.get("action").and_then(|action| serde_json::from_value(action.clone()).ok()).unwrap_or_default();
    Some(PlacedEdit { change, line: u32::try_from(line).unwrap_or(0), action })
}
