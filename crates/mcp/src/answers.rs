//! The output of a command into the result of a tool.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};

use crate::brief::{ReportLength, shorten};

/// The end of a failed program's output that an agent sees: the traceback, as a rule.
const OUTPUT_BYTES: usize = 2 << 10;

/// The result for a report, or for the error that a command wrote. `None` if the text is neither.
pub(crate) fn read_answer(text: &str, detail: ReportLength) -> Option<CallToolResult> {
    let report: Map<String, Value> = serde_json::from_str(text).ok()?;
    if let Some(error) = report.get("error") {
        return Some(fail(describe_error(error)));
    }
    report.get("headline")?;
    let report = if detail == ReportLength::Full { report } else { shorten(&report) };
    Some(succeed(describe_report(&report), report))
}

/// The result for a list of GPUs, or for one.
pub(crate) fn read_gpus(text: &str) -> Option<CallToolResult> {
    let value: Value = serde_json::from_str(text).ok()?;
    if let Some(error) = value.get("error") {
        return Some(fail(describe_error(error)));
    }
    let gpus: Vec<Value> = match value {
        Value::Array(all) => {
            all.iter().map(|gpu| json!({"name": gpu["name"], "total_bytes": gpu["total_bytes"]})).collect()
        }
        one => vec![one],
    };
    let names: Vec<&str> = gpus.iter().filter_map(|gpu| gpu["name"].as_str()).collect();
    let text = match names.as_slice() {
        [] => return None,
        [name] => format!("{name}: {} bytes", gpus[0]["total_bytes"]),
        names => format!("{} GPUs: {}", names.len(), names.join(", ")),
    };
    Some(succeed(text, Map::from_iter([("gpus".to_owned(), gpus.into())])))
}

/// The result for a call that failed: the agent reads the text and can mend the call.
pub(crate) fn fail(text: impl Into<String>) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

fn succeed(text: String, report: Map<String, Value>) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(report.into());
    result
}

/// The headline, the next command, and a remark on lists that were cut.
fn describe_report(report: &Map<String, Value>) -> String {
    let next = report.get("next").and_then(join_words).map(|words| format!("next: {words}"));
    let cut = report.get("left_out").map(|_| "long lists are cut; `\"detail\": \"full\"` has all".to_owned());
    let headline = report.get("headline").and_then(Value::as_str).map(str::to_owned);
    [headline, next, cut].into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// The sentence, the place, the hint, the next command, and the end of the program's output.
fn describe_error(error: &Value) -> String {
    let text = |key: &str| error[key].as_str().filter(|text| !text.is_empty());
    let hint = text("hint").map(|hint| format!("hint: {hint}"));
    let next = join_words(&error["next"]).map(|words| format!("next: {words}"));
    let output = text("output").map(|output| format!("\n{}", end_of(output, OUTPUT_BYTES)));
    let message = text("message").unwrap_or("oomph could not do its work").to_owned();
    [Some(message), hint, next, output].into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// A command as a shell reads it.
fn join_words(words: &Value) -> Option<String> {
    let words: Vec<String> = words.as_array()?.iter().filter_map(Value::as_str).map(quote).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Quotes a word as `report::words::quote` does: this crate links no other crate of the project.
fn quote(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The last `most` bytes of a text, from the start of a character.
pub(crate) fn end_of(text: &str, most: usize) -> &str {
    let start = text.len().saturating_sub(most);
    (start..=text.len()).find_map(|start| text.get(start..)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(result: &CallToolResult) -> String {
        result.content.iter().filter_map(|block| block.as_text()).map(|text| text.text.clone()).collect()
    }

    #[test]
    fn a_report_is_a_headline_with_the_next_command_and_an_error_has_no_structure() {
        let report = r#"{"headline": "fits L4", "verdict": "fits", "next": ["oomph", "fit", "a b.py", "it's"]}"#;
        let error = r#"{"error": {"message": "no such GPU", "hint": "see the list", "next": ["oomph", "gpus"], "output": null}}"#;
        let failed = r#"{"error": {"message": "raised", "hint": null, "next": null, "output": "Traceback"}}"#;
        let cases = [
            (report, "fits L4\nnext: oomph fit 'a b.py' 'it'\\''s'", true),
            (error, "no such GPU\nhint: see the list\nnext: oomph gpus", false),
            (failed, "raised\n\nTraceback", false),
        ];
        for (document, expected, is_report) in cases {
            let result = read_answer(document, ReportLength::Brief).expect("a document");
            assert_eq!(text(&result), expected);
            assert_eq!(result.structured_content.is_some(), is_report, "{document}");
            assert_eq!(result.is_error, Some(!is_report), "{document}");
        }
        for nothing in ["", "{", "[]", "7", "{}"] {
            assert!(read_answer(nothing, ReportLength::Full).is_none(), "{nothing}");
        }
    }

    #[test]
    fn a_list_of_gpus_has_names_and_sizes_and_one_has_all() {
        let list = read_gpus(r#"[{"name": "A", "total_bytes": 1, "l2_bytes": 2}, {"name": "B", "total_bytes": 3}]"#);
        let list = list.expect("a list");
        assert_eq!(text(&list), "2 GPUs: A, B");
        let expected = json!({"gpus": [{"name": "A", "total_bytes": 1}, {"name": "B", "total_bytes": 3}]});
        assert_eq!(list.structured_content, Some(expected));
        let one = read_gpus(r#"{"name": "A", "total_bytes": 1, "l2_bytes": 2}"#).expect("a GPU");
        assert_eq!(text(&one), "A: 1 bytes");
        assert_eq!(one.structured_content, Some(json!({"gpus": [{"name": "A", "total_bytes": 1, "l2_bytes": 2}]})));
        assert_eq!(read_gpus(r#"{"error": {"message": "m"}}"#).map(|failed| failed.is_error), Some(Some(true)));
    }

    #[test]
    fn the_end_of_a_text_starts_at_a_character() {
        for (text, most, expected) in [("abc", 9, "abc"), ("abc", 2, "bc"), ("aäb", 2, "b"), ("ä", 1, ""), ("", 4, "")]
        {
            assert_eq!(end_of(text, most), expected, "{text} {most}");
        }
    }
}
