//! Output schemas: the first level of the reports' schemas.
//!
//! The whole schemas of the three reports have 125 KB, and some clients pass output schemas to the model. An outline has every key of the first
//! level with type, words and description, and no definition below. Each valid report is valid under the outline, too; `docs/schema` has the
//! whole schemas.

use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

/// The schemas, as `make generate` writes them.
pub(crate) mod whole {
    pub(crate) const CHECK: &str = include_str!("../../../docs/schema/check.json");
    pub(crate) const FIT: &str = include_str!("../../../docs/schema/fit.json");
    pub(crate) const EXPLAIN: &str = include_str!("../../../docs/schema/explain.json");
    pub(crate) const RUN: &str = include_str!("../../../docs/schema/run.json");
    pub(crate) const NOW: &str = include_str!("../../../docs/schema/now.json");
    pub(crate) const AGAINST: &str = include_str!("../../../docs/schema/against.json");
    pub(crate) const GPUS: &str = include_str!("../../../docs/schema/gpus.json");
}

/// The outline of a report's schema.
pub(crate) fn outline(schema: &str) -> JsonObject {
    let schema = read(schema);
    let properties = schema.get("properties").and_then(Value::as_object);
    let outlined = properties.into_iter().flatten().map(|(key, value)| (key.clone(), flatten(value, &schema)));
    let properties: Map<String, Value> = outlined.collect();
    [
        ("type", json!("object")),
        ("properties", properties.into()),
        ("required", schema.get("required").cloned().unwrap_or_default()),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .into_iter()
    .collect()
}

/// The outline of several reports: the keys that all of them have, with the words of each.
pub(crate) fn outline_any(schemas: &[&str]) -> JsonObject {
    let mut outlines = schemas.iter().map(|schema| outline(schema));
    let mut shared = outlines.next().unwrap_or_default();
    for other in outlines {
        keep_shared(&mut shared, &other);
    }
    shared
}

/// The schema of the tool `gpus`: profiles of `oomph gpus --json`; in a list, names and sizes alone.
pub(crate) fn outline_gpus() -> JsonObject {
    let schema = read(whole::GPUS);
    let properties = schema.get("$defs").and_then(|all| all.get("Profile")?.get("properties")?.as_object());
    let outlined = properties.into_iter().flatten().map(|(key, value)| (key.clone(), flatten(value, &schema)));
    let profile = json!({
        "type": "object",
        "properties": outlined.collect::<Map<String, Value>>(),
        "required": ["name", "total_bytes"],
    });
    let all = json!({
        "type": "object",
        "properties": {"gpus": {"type": "array", "items": profile, "description": "The GPU of the name, or all."}},
        "required": ["gpus"],
    });
    all.as_object().cloned().unwrap_or_default()
}

/// The files are compiled in, and a test reads each.
fn read(schema: &str) -> Map<String, Value> {
    serde_json::from_str(schema).unwrap_or_default()
}

fn flatten(property: &Value, schema: &Map<String, Value>) -> Value {
    let target = follow(property, schema);
    let mut flat = Map::new();
    if let Some(types) = find_types(target, schema) {
        flat.insert("type".to_owned(), types);
    }
    let words = list_words(target, schema);
    if !words.is_empty() {
        flat.insert("enum".to_owned(), words.into());
    }
    for key in ["const", "description"] {
        if let Some(value) = property.get(key) {
            flat.insert(key.to_owned(), value.clone());
        }
    }
    flat.into()
}

/// Follows a reference to its definition.
fn follow<'a>(property: &'a Value, schema: &'a Map<String, Value>) -> &'a Value {
    let name = property.get("$ref").and_then(|name| name.as_str()?.strip_prefix("#/$defs/"));
    name.and_then(|name| schema.get("$defs")?.get(name)).unwrap_or(property)
}

/// The types of a value, else of its alternatives; `None` for an alternative without a type.
fn find_types(target: &Value, schema: &Map<String, Value>) -> Option<Value> {
    if let Some(types) = target.get("type") {
        return Some(types.clone());
    }
    let mut types: Vec<Value> = Vec::new();
    for alternative in alternatives(target)? {
        let found = find_types(follow(alternative, schema), schema)?;
        let found = found.as_array().cloned().unwrap_or_else(|| vec![found]);
        types.extend(found.into_iter().filter(|one| !types.contains(one)).collect::<Vec<_>>());
    }
    Some(if types.len() == 1 { types.remove(0) } else { types.into() })
}

fn alternatives(target: &Value) -> Option<&Vec<Value>> {
    ["oneOf", "anyOf"].iter().find_map(|key| target.get(key)?.as_array())
}

/// The words of an enumeration; empty for everything else.
fn list_words(target: &Value, schema: &Map<String, Value>) -> Vec<Value> {
    if let Some(words) = target.get("enum").and_then(Value::as_array) {
        return words.clone();
    }
    if let Some(word) = target.get("const").filter(|word| word.is_string()) {
        return vec![word.clone()];
    }
    let Some(all) = alternatives(target) else { return Vec::new() };
    let words: Vec<Vec<Value>> = all.iter().map(|one| list_words(follow(one, schema), schema)).collect();
    if words.iter().any(Vec::is_empty) { Vec::new() } else { words.concat() }
}

fn keep_shared(shared: &mut JsonObject, other: &JsonObject) {
    if let (Some(required), Some(others)) = (list_mut(shared, "required"), other["required"].as_array()) {
        required.retain(|key| others.contains(key));
    }
    let Some(properties) = shared.get_mut("properties").and_then(Value::as_object_mut) else { return };
    properties.retain(|key, value| match other["properties"].get(key) {
        Some(same) if same == value => true,
        Some(same) => widen(value, same),
        None => false,
    });
}

/// Merges the words of two enumerations. False for values of different types or meanings.
fn widen(value: &mut Value, other: &Value) -> bool {
    if value["type"] != other["type"] || value["description"] != other["description"] {
        return false;
    }
    let Some(object) = value.as_object_mut() else { return false };
    object.remove("const");
    if let Some(words) = list_mut(object, "enum") {
        let more = other["enum"].as_array().into_iter().flatten();
        let more: Vec<Value> = more.filter(|word| !words.contains(word)).cloned().collect();
        words.extend(more);
    }
    true
}

fn list_mut<'a>(object: &'a mut Map<String, Value>, key: &str) -> Option<&'a mut Vec<Value>> {
    object.get_mut(key)?.as_array_mut()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_has_every_key_of_the_first_level_and_is_small() {
        for schema in [whole::CHECK, whole::FIT, whole::EXPLAIN, whole::RUN, whole::NOW, whole::AGAINST] {
            let (schema, outline) = (read(schema), outline(schema));
            let keys = |object: &Map<String, Value>| {
                object["properties"].as_object().map(|all| all.keys().cloned().collect::<Vec<_>>())
            };
            assert_eq!(keys(&schema), keys(&outline));
            assert_eq!(schema["required"], outline["required"]);
            let text = Value::from(outline).to_string();
            assert!(text.len() < 6_000 && !text.contains("$ref"), "{} bytes: {text}", text.len());
        }
    }

    #[test]
    fn the_words_of_verdicts_are_listed_and_merged() {
        let check = outline(whole::CHECK);
        assert_eq!(check["properties"]["verdict"]["enum"], json!(["fits", "fits_so_far", "oom", "incomplete"]));
        let any = outline_any(&[whole::EXPLAIN, whole::RUN, whole::NOW, whole::AGAINST]);
        let words = any["properties"]["verdict"]["enum"].to_string();
        for word in ["nothing_to_explain", "good", "growing", "equal"] {
            assert!(words.contains(word), "{word}: {words}");
        }
        let first = ["schema_version", "headline", "verdict", "spare_bytes", "next"];
        for key in first {
            assert!(
                any["required"].to_string().contains(key) && any["properties"].get(key).is_some(),
                "{key}: {any:?}"
            );
        }
        assert!(any["properties"].get("ooms").is_none());
    }

    #[test]
    fn a_list_of_gpus_needs_names_and_sizes() {
        let gpus = outline_gpus();
        let profile = &gpus["properties"]["gpus"]["items"];
        assert_eq!(profile["properties"]["total_bytes"]["type"], "integer");
        assert_eq!(profile["required"], json!(["name", "total_bytes"]));
    }
}
