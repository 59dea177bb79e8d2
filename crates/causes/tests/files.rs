//! Each cause has its page, which opens with its row.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use causes::{CauseId, TABLE};

/// The workspace.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");

#[test]
fn every_cause_has_a_page_and_every_page_a_cause() {
    let entries = fs::read_dir(Path::new(ROOT).join("docs/rules")).unwrap();
    let pages = entries.map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned());
    let pages: BTreeSet<String> = pages.filter(|name| name != "README").collect();
    let names: BTreeSet<String> = TABLE.iter().map(|spec| spec.name.to_owned()).collect();
    assert_eq!(pages, names);
}

#[test]
fn every_page_begins_with_the_name_and_the_summary() {
    for spec in TABLE {
        let page = fs::read_to_string(format!("{}docs/rules/{}.md", ROOT, spec.name)).unwrap();
        let expected = format!("# {}\n\n{}", spec.name, spec.summary).to_lowercase();
        assert!(page.to_lowercase().starts_with(&expected), "{page}\nexpected:\n{expected}");
    }
}

#[test]
fn rows_and_identifiers_are_one_list() {
    for spec in TABLE {
        assert_eq!((spec.id.spec(), CauseId::find(spec.name)), (spec, Some(spec.id)));
    }
    assert_eq!(CauseId::find("growing_collection"), None);
}
