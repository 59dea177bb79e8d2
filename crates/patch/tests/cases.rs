//! Sources, the records of a run, and the patched sources: the tables of `tests/cases/*.md`.
//!
//! A case is a heading, the source as a block of Python, the records as a list (``- `CHANGE` at LINE: `ACTION` ``,
//! without the action for `apply`), and either a second block, the patched source, or a quote (`> …`) for each change
//! that must be left to the user, with words of its reason.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use patch::{Outcome, PlacedEdit, patch};

#[test]
fn sources_become_what_they_should() {
    let tables = [
        include_str!("cases/optimizers.md"),
        include_str!("cases/loops.md"),
        include_str!("cases/models.md"),
        include_str!("cases/sizes.md"),
        include_str!("cases/layout.md"),
    ];
    let failures: Vec<String> =
        tables.iter().flat_map(|table| table.split("\n## ").skip(1)).filter_map(failure).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

struct Case<'a> {
    title: &'a str,
    blocks: Vec<String>,
    changes: Vec<PlacedEdit>,
    refusals: Vec<&'a str>,
}

fn case(section: &str) -> Case<'_> {
    let (title, rest) = section.split_once('\n').unwrap();
    let blocks = rest.split("```python\n").skip(1).map(|block| block.split("```").next().unwrap());
    // An escaped ending stands for what an editor would show as the same.
    let blocks = blocks
        .map(|block| block.replace("⇥", "\t").replace("⏎\n", "\r\n").replace("∅\n", "").replace('⌘', "\u{feff}"))
        .collect();
    let changes = rest.lines().filter_map(|line| line.strip_prefix("- `")).map(record).collect();
    let refusals = rest.lines().filter_map(|line| line.strip_prefix("> ")).collect();
    Case { title, blocks, changes, refusals }
}

fn record(line: &str) -> PlacedEdit {
    let (change, rest) = line.split_once("` at ").unwrap();
    let (line, action) = rest.split_once(": ").unwrap_or((rest, "`{\"kind\": \"apply\"}`"));
    let mut change: report::Change = change.parse().unwrap();
    // A colon parts settings.
    change
        .settings
        .values_mut()
        .filter(|value| value.is_string())
        .for_each(|value| *value = value.as_str().unwrap().replace('%', ":").into());
    PlacedEdit { change, line: line.parse().unwrap(), action: serde_json::from_str(action.trim_matches('`')).unwrap() }
}

fn failure(section: &str) -> Option<String> {
    let case = case(section);
    let before = case.blocks.first().unwrap();
    let outcome = patch(before, "train.py", &case.changes);
    let expected = case.blocks.get(1).unwrap_or(before);
    let wrong = wrong(&case, before, expected, &outcome)?;
    let snippets: Vec<&str> = outcome.snippets.iter().map(|snippet| snippet.why.as_str()).collect();
    Some(format!("## {}\n{wrong}\nfound:\n{}\nleft to the user: {snippets:?}\n", case.title, outcome.source))
}

fn wrong(case: &Case<'_>, before: &str, expected: &str, outcome: &Outcome) -> Option<String> {
    if outcome.source != expected {
        return Some("the source is not what was expected".to_owned());
    }
    let applied = apply(before, &outcome.diff);
    if applied != expected {
        return Some(format!("the diff does not give the source, but\n{applied}\n{}", outcome.diff));
    }
    let is_said = |refusal: &&str| {
        outcome.snippets.iter().any(|snippet| snippet.why.contains(*refusal) && !snippet.code.is_empty())
    };
    if let Some(missing) = case.refusals.iter().find(|refusal| !is_said(refusal)) {
        return Some(format!("nothing is left to the user because `{missing}`"));
    }
    let is_whole = outcome.snippets.is_empty() == case.refusals.is_empty();
    (!is_whole).then(|| "more is left to the user than was expected".to_owned())
}

/// Applies a diff as `patch` does: a second reading of the format, which checks every line.
fn apply(before: &str, diff: &str) -> String {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let lines: Vec<&str> = diff.split_inclusive('\n').skip(2).collect();
    let (mut result, mut at) = (String::new(), 0);
    for (index, line) in lines.iter().enumerate() {
        let is_unended = lines.get(index + 1).is_some_and(|next| next.starts_with('\\'));
        let text = if is_unended { line[1..].trim_end_matches('\n') } else { &line[1..] };
        match line.chars().next().unwrap() {
            '@' => {
                let start = first_line(line);
                old[at..start].iter().for_each(|line| result.push_str(line));
                at = start;
            }
            '+' => result.push_str(text),
            ' ' | '-' => {
                assert_eq!(old[at], text, "a line of the diff is not that of the file");
                at += 1;
                result.push_str(if line.starts_with(' ') { text } else { "" });
            }
            other => assert_eq!(other, '\\'),
        }
    }
    old[at..].iter().for_each(|line| result.push_str(line));
    result
}

/// The index of the first old line of a hunk; a range without lines is named by the line before it.
fn first_line(header: &str) -> usize {
    let range = header.split(' ').nth(1).unwrap().trim_start_matches('-');
    let (start, count) = range.split_once(',').unwrap_or((range, "1"));
    start.parse::<usize>().unwrap() - usize::from(count != "0")
}
