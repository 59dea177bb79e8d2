//! Checks of reading a report back, for the samples of all test files.
#![expect(clippy::unwrap_used, reason = "test")]

use report::Report;
use report::document::{JsonReport, read};
use report::render::json::write;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Checks that a report's JSON is read back as the same JSON, and that damaged JSON is refused with a place or read.
pub(crate) fn check<R: JsonReport + Report + DeserializeOwned>(report: &R) {
    let text = write(report).unwrap();
    let again: R = read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(write(&again).unwrap(), text);
    let document: Value = serde_json::from_str(&text).unwrap();
    let keys: Vec<_> = document.as_object().unwrap().keys().take(5).collect();
    assert_eq!(keys, ["schema_version", "headline", "verdict", "spare_bytes", "next"]);
    assert!(R::VERDICTS.iter().any(|(word, _)| *word == report.verdict()), "{}", report.verdict());
    for damaged in without_one_key(&document).chain(with_another_type(&document)) {
        // `read` must not panic; a document whose lost key is optional is read.
        let _: Result<R, _> = read(&serde_json::to_vec(&damaged).unwrap());
    }
    for end in (0..text.trim_end().len()).step_by(7).filter(|end| text.is_char_boundary(*end)) {
        assert!(read::<R>(&text.as_bytes()[..end]).is_err(), "the first {end} bytes are no document");
    }
}

/// The document once for each of its keys, without the key.
fn without_one_key(document: &Value) -> impl Iterator<Item = Value> {
    pointers(document).into_iter().filter_map(|pointer| {
        let (parent, key) = pointer.rsplit_once('/')?;
        let mut damaged = document.clone();
        damaged.pointer_mut(parent)?.as_object_mut()?.remove(key)?;
        Some(damaged)
    })
}

/// The document once for each of its values, with a list of lists in place of the value.
fn with_another_type(document: &Value) -> impl Iterator<Item = Value> {
    pointers(document).into_iter().filter_map(|pointer| {
        let mut damaged = document.clone();
        *damaged.pointer_mut(&pointer)? = serde_json::json!([[]]);
        Some(damaged)
    })
}

/// The place of every value in a document. No key of a report has a `/` or a `~`.
fn pointers(document: &Value) -> Vec<String> {
    let children: Vec<(String, &Value)> = match document {
        Value::Object(object) => object.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    let below = |(key, value): (String, &Value)| {
        let inner = pointers(value).into_iter();
        inner.map(move |rest| format!("/{key}{rest}")).collect::<Vec<_>>()
    };
    std::iter::once(String::new()).chain(children.into_iter().flat_map(below)).collect()
}
