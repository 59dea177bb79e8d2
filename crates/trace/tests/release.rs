//! The supported versions, as the documents state them.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::path::Path;

use trace::release::{NEWEST, READABLE, Release, SUPPORTED};

/// The newest version in each phrase `FIRST to NEWEST` of a text.
fn newest_after(text: &str, first: Release) -> impl Iterator<Item = Option<Release>> {
    let phrase = format!("{first} to ");
    let ends: Vec<usize> = text.match_indices(&phrase).map(|(at, found)| at + found.len()).collect();
    ends.into_iter().map(move |end| Release::parse(text[end..].trim_end_matches(|c: char| !c.is_ascii_digit())))
}

#[test]
fn documents_name_the_newest_supported_version() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![root.join("README.md")];
    files.extend(fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path()));
    let mut ranges = 0;
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "md")) {
        let text = fs::read_to_string(file).unwrap();
        for first in [SUPPORTED.first, READABLE.first] {
            for newest in newest_after(&text, first) {
                assert_eq!(newest, Some(NEWEST), "{} after `{first} to`", file.display());
                ranges += 1;
            }
        }
    }
    assert!(ranges >= 2, "README.md and docs/COMPATIBILITY.md state the range");
    let compatibility = fs::read_to_string(root.join("docs/COMPATIBILITY.md")).unwrap();
    assert!(compatibility.contains(&format!("| {NEWEST}.")), "docs/COMPATIBILITY.md has a row for {NEWEST}");
}

#[test]
fn versions_are_parsed_and_compared() {
    let cases = [
        ("2.11.0+cu130", Some((2, 11)), true),
        ("2.5.1", Some((2, 5)), true),
        ("2.15.0+cu132", Some((2, 15)), true),
        ("2.16.0.dev20261101", Some((2, 16)), false),
        ("2.4.1", Some((2, 4)), false),
        ("2.110.0", Some((2, 110)), false),
        ("2.15", Some((2, 15)), true),
        ("1.13.1", Some((1, 13)), false),
        ("2.12a0", Some((2, 12)), true),
        ("2.x", None, false),
        ("2", None, false),
        ("two", None, false),
        ("", None, false),
    ];
    for (text, expected, is_supported) in cases {
        let release = Release::parse(text);
        assert_eq!(release.map(|release| (release.major, release.minor)), expected, "{text}");
        assert_eq!(release.is_some_and(|release| SUPPORTED.contains(release)), is_supported, "{text}");
    }
    assert_eq!((SUPPORTED.to_string(), READABLE.to_string()), ("2.5 to 2.15".to_owned(), "1.13 to 2.15".to_owned()));
}
