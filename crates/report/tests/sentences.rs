//! The first sentence of every golden output, and every example of docs/style/sentences.md, obey the rules of that page.

use std::fs;
use std::path::{Path, PathBuf};

/// The largest number of characters without the names that a program chose: three lines of a terminal.
const LONGEST: usize = 240;
/// The least number of examples on the page.
const EXAMPLES: usize = 20;

#[test]
fn the_first_sentences_of_golden_outputs_obey_the_rules() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let files: Vec<PathBuf> =
        ["golden", "explain/golden", "tune"].iter().flat_map(|name| list_texts(&folder.join(name))).collect();
    assert!(files.len() > 10, "{files:?}");
    for file in files {
        let text = fs::read_to_string(&file).unwrap_or_default();
        let first = text.split("\n\n").next().unwrap_or_default().replace('\n', " ");
        assert_eq!(list_problems(first.trim()), Vec::<String>::new(), "{}: {first}", file.display());
    }
}

#[test]
fn the_examples_of_the_page_obey_the_rules() {
    let page = include_str!("../../../docs/style/sentences.md");
    let blocks = page.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next());
    let examples: Vec<String> =
        blocks.flat_map(|block| block.split("\n\n")).map(|example| example.trim().replace('\n', " ")).collect();
    assert!(examples.len() >= EXAMPLES, "{} examples", examples.len());
    for example in examples {
        assert_eq!(list_problems(&example), Vec::<String>::new(), "{example}");
    }
}

#[test]
fn a_sentence_against_the_rules_is_found() {
    let long = format!("does not fit L4: {}", "many ".repeat(60));
    let names = format!("does not fit L4: full at step 9; kept in the list `{}`", "x".repeat(400));
    let cases = [
        ("fits L4: 1.00 GiB to spare (takes 21.03 of 22.03 GiB)", 0),
        ("fits NVIDIA L4: 1.00 GiB to spare", 1),
        ("fits L4: 1.00 GiB to spare.", 1),
        ("does not fit L4: full at step 9. Try: halve the batch", 1),
        ("does not fit L4: a loss (/home/ann/train.py:3)", 1),
        ("does not fit L4: without it at most 1.00 GiB would be allocated by then, not 2.00 GiB", 1),
        (long.as_str(), 1),
        (names.as_str(), 0),
    ];
    for (sentence, problems) in cases {
        assert_eq!(list_problems(sentence).len(), problems, "{sentence}: {:?}", list_problems(sentence));
    }
}

fn list_texts(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|end| end == "txt")).collect()
}

/// Every rule that a headline breaks.
fn list_problems(headline: &str) -> Vec<String> {
    let plain = without_names(headline);
    let length = plain.chars().count();
    // A full stop before a blank and a capital or a digit ends a sentence.
    let ends = headline.split(". ").skip(1);
    let is_several = ends.clone().any(|next| next.starts_with(|first: char| first.is_ascii_uppercase()));
    let rules = [
        (length > LONGEST, format!("{length} characters without names")),
        (
            is_several != headline.ends_with('.'),
            "a full stop stands behind several sentences, and behind each".to_owned(),
        ),
        (["NVIDIA ", "GeForce "].iter().any(|word| plain.contains(word)), "a vendor's name".to_owned()),
        (headline.contains("would be allocated by then"), "an old form".to_owned()),
        (headline.contains("(/"), "a whole path".to_owned()),
    ];
    rules.into_iter().filter(|(is_broken, _)| *is_broken).map(|(_, rule)| rule).collect()
}

/// The text without places in parentheses, names in backticks and shapes in brackets.
fn without_names(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(['`', '[', '(']) {
        let (before, inside) = rest.split_at(start);
        let close = match inside.as_bytes().first() {
            Some(b'[') => ']',
            Some(b'(') => ')',
            _ => '`',
        };
        let end = inside.get(1..).and_then(|inner| inner.find(close)).map_or(inside.len(), |end| end + 2);
        let (name, after) = inside.split_at(end);
        let is_place = name.starts_with('(') && name.contains(':');
        plain.push_str(before);
        plain.push_str(if name.starts_with('(') && !is_place { name } else { "" });
        rest = after;
    }
    plain + rest
}
