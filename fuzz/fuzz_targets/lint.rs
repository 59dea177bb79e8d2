//! Python and notebooks to lint: any bytes, and the cases of the rules, cut up and put together again.
//!
//! What begins with a brace is read as a notebook; all else as Python, and a fourth of it also as the one cell of a notebook. Findings
//! lie within the text, and a text with a fix made is Python again.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use lint::{Edit, Finding, Fix, Options, SourceFile, TextSpan, Unreadable};

fuzz_target!(|bytes: &[u8]| {
    if bytes.first() == Some(&b'{') {
        return hold(SourceFile::notebook(bytes), cell);
    }
    hold(SourceFile::python(bytes), |text| SourceFile::python(text.as_bytes()));
    if let Ok(text) = std::str::from_utf8(bytes)
        && bytes.len() % 4 == 1
    {
        hold(cell(text), cell);
    }
});

/// A notebook of one cell.
fn cell(text: &str) -> Result<SourceFile, Unreadable> {
    let notebook = serde_json::json!({"cells": [{"cell_type": "code", "source": text}]});
    SourceFile::notebook(notebook.to_string().as_bytes())
}

/// Lints a file and holds what is found to what is promised; `again` reads a text as the file was read.
fn hold(source: Result<SourceFile, Unreadable>, again: impl Fn(&str) -> Result<SourceFile, Unreadable>) {
    let Ok(source) = source else { return };
    let Ok(findings) = lint::check(&source, &Options::all()) else { return };
    for Finding { span, fix, rule, .. } in &findings {
        let place = source.text().get(span.start..span.end);
        assert!(place.is_some_and(|text| !text.is_empty()), "{rule} at {span:?}");
        if let Some(fix) = fix {
            let text = applied(source.text(), fix);
            let read = again(&text).and_then(|source| lint::check(&source, &Options::all()));
            assert!(matches!(read, Ok(_) | Err(Unreadable::Depth(_))), "{rule}: {read:?}\n{text}");
        }
    }
}

/// A text with a fix made, whose edits must be in order and apart.
fn applied(text: &str, fix: &Fix) -> String {
    let (mut made, mut done) = (String::new(), 0);
    for Edit { span: TextSpan { start, end }, text: new } in &fix.edits {
        made.push_str(text.get(done..*start).expect("edits in order, at characters"));
        made.push_str(new);
        done = *end;
    }
    made.push_str(text.get(done..).expect("edits within the text"));
    made
}

/// The Python of all cases.
static CASES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/lint/cases");
    let pages = std::fs::read_dir(folder).expect("the cases are there").flatten();
    let mut pages: Vec<String> = pages.filter_map(|page| std::fs::read_to_string(page.path()).ok()).collect();
    pages.sort();
    let blocks = pages.iter().flat_map(|page| page.split("```python\n").skip(1));
    blocks.filter_map(|block| block.split("```").next()).map(str::to_owned).collect()
});

/// Their lines without indentation.
static LINES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let mut lines: Vec<&str> = CASES.iter().flat_map(|case| case.lines()).map(|line| code(line).trim()).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
});

/// Their words, and the operators between.
static WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let mut words: Vec<&str> =
        LINES.iter().flat_map(|line| words(line)).map(|(at, end, line)| &line[at..end]).collect();
    words.sort_unstable();
    words.dedup();
    words
});

fn code(line: &str) -> &str {
    line.split("# error:").next().unwrap_or_default()
}

/// The words of a line, each with where it is.
fn words(line: &str) -> impl Iterator<Item = (usize, usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &line[at..];
        let start = at + rest.len() - rest.trim_start().len();
        let is_word = |next: char| next.is_alphanumeric() || next == '_';
        let first = line[start..].chars().next()?;
        let length = line[start..].find(|next| !is_word(next)).filter(|_| is_word(first));
        at = if is_word(first) { length.map_or(line.len(), |it| start + it) } else { start + first.len_utf8() };
        Some((start, at, line))
    })
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut random = Random(u64::from(seed) | 1 << 40);
    let text = std::str::from_utf8(data.get(..size).unwrap_or_default()).ok().filter(|_| random.below(4) != 0);
    let Some(text) = text else { return fuzzer_mutate(data, size, max_size) };
    let mut made = mutated(text, &mut random);
    for _ in 0..random.below(4) {
        made = mutated(&made, &mut random);
    }
    let fits = made.len() <= max_size.min(data.len());
    if !fits {
        return fuzzer_mutate(data, size, max_size);
    }
    data[..made.len()].copy_from_slice(made.as_bytes());
    made.len()
});

/// A text with one change to its lines or words.
fn mutated(text: &str, random: &mut Random) -> String {
    if text.len() < 16 || random.below(200) == 0 {
        return random.one_of(&CASES).clone();
    }
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let (at, other) = (random.below(lines.len()), random.below(lines.len()));
    let indentation = |line: &str| " ".repeat(line.len() - line.trim_start_matches(' ').len());
    match random.below(9) {
        0 => drop(lines.remove(at)),
        1 => lines.swap(at, other),
        2 => lines.insert(at, lines[other].clone()),
        3 | 4 => lines.insert(at, indentation(&lines[other]) + random.one_of(&LINES)),
        5 => lines[at].insert_str(0, "    "),
        6 => lines[at] = lines[at].strip_prefix("    ").unwrap_or(&lines[at]).to_owned(),
        7 => lines[at..].iter_mut().take(1 + other % 8).for_each(|line| line.insert_str(0, "    ")),
        _ => {
            let all: Vec<(usize, usize)> = words(&lines[at]).map(|(start, end, _)| (start, end)).collect();
            if !all.is_empty() {
                let (start, end) = all[random.below(all.len())];
                lines[at].replace_range(start..end, random.one_of(&WORDS));
            }
        }
    }
    lines.join("\n")
}

/// Numbers that follow from the fuzzer's seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or_default() % bound.max(1)
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}
