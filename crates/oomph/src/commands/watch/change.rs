//! The change of the peak between two saves, by the program's lines. A line is known by its text, since an edit moves the lines below it.

use std::collections::BTreeMap;
use std::fs;

use diagnose::LineBytes;
use report::render::clean;
use report::sweep::PointVerdict;
use report::words::relative;
use serde_json::json;
use trace::Bytes;

use super::SaveAnswer;
use crate::environment::current_folder;
use crate::error::Error;

/// The most lines of a change.
const MOST_LINES: usize = 6;
/// Smaller changes are left out.
const LEAST_BYTES: u64 = 1 << 16;

/// The bytes at the peak by file and by the text of a line, with its number.
#[derive(Clone, Debug, Default)]
pub(super) struct LineTexts(BTreeMap<(String, String), (u32, Bytes)>);

/// A line with other bytes than before.
pub(super) struct LineChange {
    file: String,
    line: u32,
    text: String,
    bytes: i64,
}

impl LineTexts {
    /// Reads the texts of the lines, as they are now.
    pub(super) fn read(lines: &[LineBytes]) -> LineTexts {
        let mut sources: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut texts: BTreeMap<(String, String), (u32, Bytes)> = BTreeMap::new();
        for LineBytes { file, line, bytes } in lines {
            let source = sources.entry(file).or_insert_with(|| {
                let text = fs::read_to_string(file).unwrap_or_default();
                text.lines().map(|line| line.trim().to_owned()).collect()
            });
            let at = usize::try_from(line.saturating_sub(1)).unwrap_or_default();
            // Of an unreadable source the number is the name.
            let text = source.get(at).cloned().unwrap_or_else(|| line.to_string());
            let known = texts.entry((file.clone(), text)).or_insert((*line, Bytes::ZERO));
            known.1 += *bytes;
        }
        LineTexts(texts)
    }
}

/// The lines with other bytes, the largest change first.
pub(super) fn list_changes(before: &LineTexts, now: &LineTexts) -> Vec<LineChange> {
    let bytes = |texts: &LineTexts, key: &(String, String)| texts.0.get(key).map_or(0, |(_, bytes)| signed(*bytes));
    let keys = now.0.keys().chain(before.0.keys().filter(|key| !now.0.contains_key(*key)));
    let changes = keys.map(|key| {
        let line = now.0.get(key).or_else(|| before.0.get(key)).map_or(0, |(line, _)| *line);
        let (file, text) = key.clone();
        LineChange { file, line, text, bytes: bytes(now, key) - bytes(before, key) }
    });
    let mut changes: Vec<LineChange> = changes.filter(|change| change.bytes.unsigned_abs() >= LEAST_BYTES).collect();
    changes.sort_by_key(|change| std::cmp::Reverse(change.bytes.unsigned_abs()));
    changes
}

/// Writes the answer in a line, and each changed line in another.
pub(super) fn write_text(what: &str, answer: &SaveAnswer, before: Option<Bytes>, changes: &[LineChange]) -> String {
    let folder = current_folder();
    let point = &answer.point;
    let seconds = answer.seconds;
    let what = clean(relative(what, &folder)).into_owned();
    let Some(need) = point.need_bytes else {
        let error = point.error.as_deref().unwrap_or("it fails");
        return format!("{what}: the program fails: {} ({seconds:.1} s)\n", clean(relative(error, &folder)));
    };
    let change = before.map_or_else(String::new, |before| match signed(need) - signed(before) {
        0 => ", as before".to_owned(),
        change => format!(", {}", words_of_change(change)),
    });
    let spare = Bytes(point.spare_bytes.unwrap_or_default().unsigned_abs());
    let fits = match point.verdict {
        PointVerdict::Fits => format!("fits the {} with {spare} to spare", point.gpu),
        PointVerdict::Tight => format!("fits the {} only because PyTorch releases its cache", point.gpu),
        PointVerdict::Oom | PointVerdict::Failed => format!("does not fit the {}: {spare} too much", point.gpu),
    };
    let head = format!("{what}: needs {need}{change}; {fits} ({seconds:.1} s)\n");
    let lines = changes.iter().take(MOST_LINES).map(|change| {
        let place = format!("{}:{}", relative(&change.file, &folder), change.line);
        format!("  {:>11}  {}  {}\n", words_of_change(change.bytes), clean(&place), clean(&change.text))
    });
    std::iter::once(head).chain(lines).collect()
}

/// Writes the answer as a JSON object in one line.
pub(super) fn write_json(
    what: &str,
    answer: &SaveAnswer,
    before: Option<Bytes>,
    changes: &[LineChange],
) -> Result<String, Error> {
    let point = &answer.point;
    let lines = changes.iter().map(|change| {
        let LineChange { file, line, text, bytes } = change;
        json!({"file": file, "line": line, "text": text, "change_bytes": bytes})
    });
    let document = json!({
        "event": what,
        "verdict": point.verdict,
        "need_bytes": point.need_bytes,
        "spare_bytes": point.spare_bytes,
        "change_bytes": before.zip(point.need_bytes).map(|(before, now)| signed(now) - signed(before)),
        "gpu": point.gpu,
        "lines": lines.collect::<Vec<_>>(),
        "error": point.error,
        "seconds": answer.seconds,
    });
    Ok(serde_json::to_string(&document)? + "\n")
}

fn words_of_change(bytes: i64) -> String {
    let sign = if bytes < 0 { "-" } else { "+" };
    format!("{sign}{}", Bytes(bytes.unsigned_abs()))
}

fn signed(bytes: Bytes) -> i64 {
    i64::try_from(bytes.0).unwrap_or(i64::MAX)
}
