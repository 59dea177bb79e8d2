//! Each row of the table has its parts.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::fs;
use std::path::Path;

use remedies::{Rewriting, TABLE, find, in_patch_order};

/// The workspace.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn is_file(path: &str) -> bool {
    Path::new(ROOT).join(path).is_file()
}

/// The texts of the files in a folder whose names begin with `start`.
fn texts(folder: &str, start: &str) -> String {
    let paths = fs::read_dir(Path::new(ROOT).join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let wanted = paths.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(start) && path.is_file());
    wanted.map(|path| fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn every_remedy_has_its_parts() {
    let cases = texts("tests/remedies", "cases_") + &texts("tests/remedies", "patched");
    for spec in TABLE {
        let (name, module) = (spec.name, spec.module());
        let has_case = [format!("\"{name}\""), format!("\"{name}:")].iter().any(|text| cases.contains(text));
        let is_tested = has_case || !spec.has_agent;
        let parts = [
            ("a page", is_file(&format!("docs/remedies/{name}.md"))),
            ("a module of the agent", !spec.has_agent || is_file(&format!("python/oomph/agent/remedies/{module}.py"))),
            (
                "a file of patch",
                spec.rewriting == Rewriting::Absent || is_file(&format!("crates/patch/src/remedies/{module}.rs")),
            ),
            ("a case in tests/remedies", is_tested),
            ("a summary without a full stop", !spec.summary.is_empty() && !spec.summary.ends_with('.')),
        ];
        for (part, is_there) in parts {
            assert!(is_there, "{name}: expected {part}");
        }
    }
}

#[test]
fn every_page_is_of_a_remedy() {
    let entries = fs::read_dir(Path::new(ROOT).join("docs/remedies")).unwrap();
    for path in entries.map(|entry| entry.unwrap().path()) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(name == "README" || find(name).is_some(), "{}: there is no such remedy", path.display());
    }
}

#[test]
fn rows_agree_with_each_other() {
    for one in TABLE {
        assert!(one.partner.is_none_or(|partner| find(partner).is_some()), "{}: there is no such partner", one.name);
        let keys = one.options.iter().filter_map(|option| option.setting).map(|(key, _)| key);
        let unknown = keys.clone().find(|key| !one.settings.contains(key));
        assert_eq!(unknown, None, "{} has no such setting", one.name);
        assert_eq!(TABLE.iter().filter(|other| other.name == one.name).count(), 1, "{} has two rows", one.name);
    }
}

#[test]
fn edits_have_an_order() {
    let mut orders: Vec<u8> = in_patch_order()
        .iter()
        .filter_map(|spec| if let Rewriting::Edits { order, .. } = spec.rewriting { Some(order) } else { None })
        .collect();
    let count = orders.len();
    orders.dedup();
    assert_eq!(orders.len(), count, "two remedies have one place in a patch");
}
