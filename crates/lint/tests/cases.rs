//! Runs the cases of every rule: Markdown with blocks of Python, in which `# error: rule` marks exactly the lines that have a finding.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by it")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lint::{Options, SourceFile};

/// A line of a block, and the rule found on that line.
type Mark = (u32, String);

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn files(folder: &Path) -> Vec<(String, String)> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "md"))
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    files.sort();
    files
}

/// The blocks of Python of a page, each with its line; measured pairs (```` ```python mistake ````) are left to `tests/lint`.
fn blocks(page: &str) -> Vec<(usize, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (number, line) in (1..).zip(page.lines()) {
        match &mut open {
            None if line == "```python" => open = Some((number, String::new())),
            None => {}
            Some(_) if line == "```" => blocks.extend(open.take()),
            Some((_, text)) => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    blocks
}

fn expected(text: &str) -> BTreeSet<Mark> {
    let of_line = |(line, text): (u32, &str)| {
        let (_, rules) = text.split_once("# error:")?;
        Some(rules.split(',').map(move |rule| (line, rule.trim().to_owned())).collect::<Vec<_>>())
    };
    (1..).zip(text.lines()).filter_map(of_line).flatten().collect()
}

/// The findings of the rule of the page, and of all rules that are on by default.
fn found(text: &str, rule: &str) -> BTreeSet<Mark> {
    let options = Options::all();
    let source = SourceFile::python(text.as_bytes()).expect("a case is text");
    let findings = lint::check(&source, &options).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let is_style =
        |name: &str| lint::rules().iter().any(|it| it.id.0 == name && it.effect == lint::MemoryEffect::Style);
    let marks = findings.into_iter().map(|finding| (finding.start.line, finding.rule.0.to_owned()));
    marks.filter(|(_, name)| name == rule || !is_style(name)).collect()
}

#[test]
fn every_case_is_found_at_its_line() {
    let mut failures = Vec::new();
    for (rule, page) in files(&folder("cases")) {
        for (line, block) in blocks(&page) {
            let (expected, found) = (expected(&block), found(&block, &rule));
            if expected != found {
                failures.push(format!("cases/{rule}.md:{line}\n  expected {expected:?}\n  found    {found:?}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_rule_has_cases_of_both_kinds() {
    let pages: std::collections::BTreeMap<_, _> = files(&folder("cases")).into_iter().collect();
    for rule in lint::rules() {
        let page = pages.get(rule.id.0).unwrap_or_else(|| panic!("cases/{}.md is missing", rule.id));
        let is_mark = |(_, name): &Mark| name == rule.id.0;
        let blocks = blocks(page);
        let firing = blocks.iter().filter(|(_, text)| expected(text).iter().any(is_mark)).count();
        let silent = blocks.len() - firing;
        assert!(firing >= 4 && silent >= 4, "{}: {firing} cases that must fire, {silent} that must not", rule.id);
    }
    assert_eq!(pages.len(), lint::rules().len(), "a page of cases without a rule: {:?}", pages.keys());
}

#[test]
fn every_rule_has_a_page() {
    for rule in lint::rules() {
        let page = std::fs::read_to_string(folder("../../docs/lint").join(format!("{}.md", rule.id)));
        let page = page.unwrap_or_else(|error| panic!("docs/lint/{}.md: {error}", rule.id));
        assert!(page.starts_with(&format!("# {}\n", rule.id)), "{}", rule.id);
    }
}

#[test]
fn every_fix_removes_its_finding_and_adds_none() {
    for (rule, page) in files(&folder("cases")) {
        for (line, block) in blocks(&page) {
            let source = SourceFile::python(block.as_bytes()).unwrap();
            let before = lint::check(&source, &Options::all()).unwrap();
            for (finding, fix) in before.iter().filter_map(|finding| Some((finding, finding.fix.as_ref()?))) {
                let mut text = block.clone();
                for edit in fix.edits.iter().rev() {
                    text.replace_range(edit.span.start..edit.span.end, &edit.text);
                }
                let after = lint::check(&SourceFile::python(text.as_bytes()).unwrap(), &Options::all());
                let after = after.unwrap_or_else(|error| panic!("cases/{rule}.md:{line}: {error}\n{text}"));
                let count = |findings: &[lint::Finding], rule| findings.iter().filter(|it| it.rule == rule).count();
                let is_new = |it: &lint::Finding| count(&after, it.rule) > count(&before, it.rule);
                assert!(!after.iter().any(is_new), "cases/{rule}.md:{line}: the fix brings {after:?}\n{text}");
                let is_gone = count(&after, finding.rule) < count(&before, finding.rule);
                assert!(is_gone, "cases/{rule}.md:{line}: the fix leaves {after:?}\n{text}");
            }
        }
    }
}
