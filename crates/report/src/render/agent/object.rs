//! The object of an answer: rows of keys, one line of JSON each.

use serde_json::{Map, Value, json};

use super::super::layout::short_path;
use super::super::{Rendered, Report};
use crate::failure::CommandError;
use crate::finding::{Finding, Location, Remedy, Without};
use crate::sanitize::{clean, escape_json};
use crate::words::quote_all;

/// The verdict of a command that could not do its work.
const ERROR: &str = "error";

/// The answer of a command: its first lines, its details, and the next command at the end.
pub(super) struct Object {
    rows: Vec<Map<String, Value>>,
    next: Value,
}

impl Object {
    /// Begins with the head of a report.
    pub(super) fn of(report: &dyn Report) -> Object {
        let next = report.next().map_or(Value::Null, |words| json!(quote_all(&words)));
        let rows = vec![entry("headline", json!(clean(&report.headline()))), head_of_verdict(report)];
        Object { rows, next }
    }

    /// Adds the known keys to the line of the verdict.
    pub(super) fn beside_verdict<const N: usize>(mut self, entries: [(&str, Option<Value>); N]) -> Object {
        if let Some(row) = self.rows.get_mut(1) {
            let known = entries.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
            row.extend(known);
        }
        self
    }

    /// Adds a line of keys; an unknown value is `null`.
    pub(super) fn row<const N: usize>(mut self, entries: [(&str, Option<Value>); N]) -> Object {
        let entries = entries.into_iter().map(|(key, value)| (key.to_owned(), value.unwrap_or_default()));
        self.rows.push(entries.collect());
        self
    }

    /// Adds a list, which may be empty.
    pub(super) fn list(self, key: &str, values: impl IntoIterator<Item = Value>) -> Object {
        self.row([(key, Some(Value::Array(values.into_iter().collect())))])
    }

    /// Adds a list if it has entries.
    pub(super) fn list_some(self, key: &str, values: impl IntoIterator<Item = Value>) -> Object {
        let values: Vec<Value> = values.into_iter().collect();
        if values.is_empty() { self } else { self.list(key, values) }
    }

    /// Adds an object if it has entries.
    pub(super) fn some(self, key: &str, value: Option<Value>) -> Object {
        match value.filter(|value| value.as_object().is_none_or(|entries| !entries.is_empty())) {
            Some(value) => self.row([(key, Some(value))]),
            None => self,
        }
    }

    /// Adds sentences if there are some.
    pub(super) fn notes(self, sentences: &[String]) -> Object {
        self.list_some("notes", sentences.iter().map(|sentence| json!(clean(sentence))))
    }

    /// States that the command knows no cause and no changes.
    pub(super) fn without_changes(self) -> Object {
        self.row([("cause", None)]).list("changes", [])
    }

    /// Sets the next command where the report has none.
    pub(super) fn or_next(mut self, words: Option<Vec<String>>) -> Object {
        if let (Value::Null, Some(words)) = (&self.next, words) {
            self.next = json!(quote_all(&words));
        }
        self
    }

    /// Writes the object: a line for each row, and for each entry of a list, since readers cut long lines.
    pub(super) fn write(self) -> Rendered {
        let rows = self.rows.into_iter().chain([entry("next", self.next)]);
        let lines: Result<Vec<String>, _> = rows.map(|row| write_row(&row)).collect();
        Ok(escape_json(format!("{{\n{}\n}}\n", lines?.join(",\n"))))
    }
}

/// Writes the failure of a command as an object of the same form.
pub fn write_error(error: &CommandError) -> Rendered {
    let next = error.next.as_ref().map_or(Value::Null, |words| json!(quote_all(words)));
    let head = entry("headline", json!(clean(&error.message)));
    let verdict = Map::from_iter([
        ("verdict".to_owned(), json!(ERROR)),
        ("kind".to_owned(), json!(error.kind)),
        ("spare_bytes".to_owned(), Value::Null),
    ]);
    let object = Object { rows: vec![head, verdict], next }.row([("cause", place_of(error))]).list("changes", []);
    let output = error.output.iter().flat_map(|output| output.lines()).map(|line| json!(line));
    let hint = error.hint.as_ref().map(|hint| json!(clean(hint)));
    object.some("hint", hint).list_some("output", output).write()
}

/// The finding of a cause, with its place and its page.
pub(super) fn describe_cause(finding: &Finding, folder: &str) -> Value {
    let cause = json!({"rule": finding.rule, "message": clean(&finding.message)});
    let mut cause = at_place(cause, finding.location.as_ref(), folder);
    if let Some(without) = finding.without.filter(Without::lowers_peak) {
        cause["bytes"] = json!(without.freed_bytes);
    }
    // The mistake in the source, which may be another line than the allocation.
    if let Some(seen) = finding.evidence.iter().find(|evidence| evidence.source == "oomph lint") {
        cause["mend"] = json!(clean(&seen.value.to_string()));
    }
    cause["page"] = json!(format!("oomph rule {}", finding.rule));
    cause
}

/// A remedy with its figures, as far as they are known.
pub(super) fn describe_remedy(remedy: &Remedy) -> Value {
    let mut change = json!({"change": clean(&remedy.remedy), "standing": remedy.standing});
    let figures = [("before_bytes", remedy.before_bytes), ("after_bytes", remedy.after_bytes)];
    for (key, bytes) in figures.into_iter().filter_map(|(key, bytes)| Some((key, bytes?))) {
        change[key] = json!(bytes);
    }
    change["how"] = json!(clean(&remedy.how));
    change
}

/// The lines behind the first line of a text.
pub(super) fn lines_after_headline(text: &str) -> Vec<String> {
    text.lines().skip(1).map(str::to_owned).collect()
}

/// Adds `file` and `line` to an object, if the place is known. The file is relative to the reader's folder.
pub(super) fn at_place(mut value: Value, location: Option<&Location>, folder: &str) -> Value {
    if let Some(location) = location {
        value["file"] = json!(short_path(&location.file, folder));
        value["line"] = json!(location.line);
    }
    value
}

fn write_row(row: &Map<String, Value>) -> Rendered {
    let entries: Result<Vec<String>, _> =
        row.iter().map(|(key, value)| Ok(format!("{}: {}", json!(key), write_value(value)?))).collect();
    Ok(entries?.join(", "))
}

fn write_value(value: &Value) -> Rendered {
    match value {
        Value::Array(entries) if !entries.is_empty() => {
            let lines: Result<Vec<String>, _> = entries.iter().map(serde_json::to_string).collect();
            Ok(format!("[\n{}\n]", lines?.join(",\n")))
        }
        _ => serde_json::to_string(value),
    }
}

fn head_of_verdict(report: &dyn Report) -> Map<String, Value> {
    let spare = ("spare_bytes".to_owned(), json!(report.spare_bytes()));
    Map::from_iter([("verdict".to_owned(), json!(report.verdict())), spare])
}

fn place_of(error: &CommandError) -> Option<Value> {
    let file = error.file.as_ref()?;
    Some(error.line.map_or_else(|| json!({"file": file}), |line| json!({"file": file, "line": line})))
}

fn entry(key: &str, value: Value) -> Map<String, Value> {
    Map::from_iter([(key.to_owned(), value)])
}
