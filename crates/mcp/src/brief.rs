//! Reports at the length that an agent reads.
//!
//! Every key of a report stays, so that a brief report is valid under the report's schema; only lists of objects are cut. Lists of words, such as
//! a command, stay whole. `left_out` counts the entries that are missing, by the path of their list.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ReportLength {
    #[default]
    Brief,
    Full,
}

/// The key of the counts.
const LEFT_OUT: &str = "left_out";
/// A brief report has at most this length, as far as lists are to blame: some 2,000 tokens.
const BRIEF_BYTES: usize = 8 << 10;
/// The entries of a list, tried in this order. Some lists of the schemas are pairs, so two stay.
const ENTRIES: [usize; 4] = [8, 5, 3, 2];

/// Cuts the lists of a report, the fewer the better. A short report is returned whole.
pub(crate) fn shorten(report: &Map<String, Value>) -> Map<String, Value> {
    if is_brief(report) {
        return report.clone();
    }
    let mut shortest = Map::new();
    for most in ENTRIES {
        shortest = cut_report(report, most);
        if is_brief(&shortest) {
            break;
        }
    }
    shortest
}

fn is_brief(report: &Map<String, Value>) -> bool {
    serde_json::to_vec(report).is_ok_and(|text| text.len() <= BRIEF_BYTES)
}

fn cut_report(report: &Map<String, Value>, most: usize) -> Map<String, Value> {
    let mut cut = Cut { most, left_out: Map::new() };
    let mut short: Map<String, Value> =
        report.iter().map(|(key, value)| (key.clone(), cut.shorten(value, key))).collect();
    if !cut.left_out.is_empty() {
        short.insert(LEFT_OUT.to_owned(), cut.left_out.into());
    }
    short
}

/// A pass over a report.
struct Cut {
    most: usize,
    left_out: Map<String, Value>,
}

impl Cut {
    fn shorten(&mut self, value: &Value, path: &str) -> Value {
        match value {
            Value::Object(object) => {
                let members = object.iter().map(|(key, value)| {
                    let member = self.shorten(value, &format!("{path}.{key}"));
                    (key.clone(), member)
                });
                Value::Object(members.collect())
            }
            Value::Array(list) if list.iter().any(|entry| entry.is_object() || entry.is_array()) => {
                if list.len() > self.most {
                    self.count(path, list.len() - self.most);
                }
                list.iter().take(self.most).map(|entry| self.shorten(entry, path)).collect()
            }
            value => value.clone(),
        }
    }

    fn count(&mut self, path: &str, missing: usize) {
        let before = self.left_out.get(path).and_then(Value::as_u64).unwrap_or_default();
        self.left_out.insert(path.to_owned(), (before + missing as u64).into());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn lists_of_objects_are_cut_and_counted_and_nothing_else() {
        let filler = "x".repeat(400);
        let site = json!({"frames": [{"a": 1}, {"a": 2}, {"a": 3}, {"a": 4}, {"a": 5}, {"a": 6}], "text": filler});
        let report = object(&json!({
            "headline": "h",
            "next": ["oomph", "fit", "a", "b", "c", "d", "e", "f", "g", "h", "i"],
            "nothing": null,
            "sites": vec![site; 30],
        }));
        let short = shorten(&report);
        assert!(is_brief(&short));
        assert_eq!(short["next"], report["next"]);
        assert!(short.contains_key("nothing"));
        let sites = short["sites"].as_array().map(Vec::len).unwrap_or_default();
        assert_eq!(sites, 8);
        assert_eq!(short[LEFT_OUT], json!({"sites": 22}));
    }

    #[test]
    fn a_short_report_stays_whole_and_a_hopeless_one_keeps_pairs() {
        let short = object(&json!({"list": vec![json!({"a": 1}); 20]}));
        assert_eq!(shorten(&short), short);
        let long = "x".repeat(BRIEF_BYTES);
        let hopeless = object(&json!({"text": long, "list": vec![json!({"b": [[1], [2], [3]]}); 4]}));
        let cut = shorten(&hopeless);
        assert_eq!(cut["list"], json!([{"b": [[1], [2]]}, {"b": [[1], [2]]}]));
        assert_eq!(cut[LEFT_OUT], json!({"list.b": 2, "list": 2}));
    }
}
