//! The pages in `docs/rules` and the rules: one page each, and a generated list.
//!
//! `UPDATE=1 cargo test -p diagnose --test rules` writes the list anew.
#![expect(clippy::unwrap_used, reason = "test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use diagnose::rules;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules")
}

/// `README.md` as the rules' summaries make it.
fn readme() -> String {
    let row = |rule: &diagnose::Rule| {
        let (id, summary) = (rule.id, rule.summary);
        format!("| [{id}]({id}.md) | {summary} |\n")
    };
    let rows: String = rules().iter().map(row).collect();
    format!(
        "# Rules\n\nThe findings of `oomph check` and `oomph explain`. Each rule is one file in `crates/diagnose/src/rules` and one \
         page here.\n\n<!-- generated from the rules: UPDATE=1 cargo test -p diagnose --test rules -->\n\n| rule | pattern \
         |\n|---|---|\n{rows}"
    )
}

#[test]
fn the_list_of_pages_has_every_rule_with_its_summary() {
    let path = folder().join("README.md");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, readme()).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap();
    assert_eq!(found, readme(), "{}: run UPDATE=1 cargo test -p diagnose --test rules", path.display());
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
