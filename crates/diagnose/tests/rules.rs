//! The pages in `docs/rules` and the rules: one page each.
#![expect(clippy::unwrap_used, reason = "test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use diagnose::rules;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules")
}

#[test]
fn every_rule_has_a_page_and_every_page_a_rule() {
    let ids: BTreeSet<String> = rules().iter().map(|rule| rule.id.to_string()).collect();
    assert_eq!(ids.len(), rules().len(), "two rules share a name");
    let names = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let pages = names.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned());
    let pages: BTreeSet<String> = pages.filter(|name| name != "README").collect();
    assert_eq!(pages, ids);
}

#[test]
fn every_page_begins_with_its_rules_name_and_summary() {
    for rule in rules() {
        let page = fs::read_to_string(folder().join(format!("{}.md", rule.id))).unwrap();
        let expected = format!("# {}\n\n{}", rule.id, rule.summary).to_lowercase();
        assert!(page.to_lowercase().starts_with(&expected), "{page}\nexpected:\n{expected}");
    }
}
