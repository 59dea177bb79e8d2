//! Each message of the tables, in each form of logs, terminals and web pages.

use crate::expect::{Case, all, check, errors, prefixed, sizes};
use crate::{allocator, outside};

type Wrap = fn(&str) -> String;

fn cases() -> impl Iterator<Item = &'static Case> {
    allocator::TABLES.iter().chain(outside::TABLES).flat_map(|table| table.iter())
}

fn of_the_allocator() -> impl Iterator<Item = &'static Case> {
    allocator::TABLES.iter().flat_map(|table| table.iter())
}

/// Breaks every line after `width` characters.
fn hard(text: &str, width: usize) -> String {
    let lines = text.lines().flat_map(|line| {
        let characters: Vec<char> = line.chars().collect();
        characters.chunks(width).map(|chunk| chunk.iter().collect::<String>()).collect::<Vec<_>>()
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn boxed(text: &str) -> String {
    let body: Vec<String> = hard(text, 76).lines().map(|line| format!("│ {line:<76} │")).collect();
    format!("╭{0}╮\n{1}\n╰{0}╯\n", "─".repeat(78), body.join("\n"))
}

fn json(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("{{\"level\": \"error\", \"time\": 1714557600.25, \"message\": \"{escaped}\", \"step\": 12}}\n")
}

fn html(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\'', "&#x27;");
    format!("<pre>\n{}\n</pre>\n", escaped.replace('\n', "<br>\n"))
}

/// Forms that keep every message readable.
const WRAPS: &[(&str, Wrap)] = &[
    ("between other lines", |text| {
        format!("epoch 1 of 3\nloss 0.25, 3.00 GiB free\n{text}\ndone in 2.00 s, 1.00 GiB free\n")
    }),
    ("Windows line ends", |text| format!("start\r\n{}\r\n", text.replace('\n', "\r\n"))),
    ("torchrun", |text| prefixed(text, "[rank3]: ")),
    ("torchrun, tee", |text| prefixed(text, "[default3]:")),
    ("accelerate", |text| prefixed(text, "[3]:")),
    ("srun -l", |text| prefixed(text, "3: ")),
    ("mpirun", |text| prefixed(text, "[1,3]<stderr>:")),
    ("times", |text| prefixed(text, "2024-05-01 10:00:00,123 ")),
    ("a container's time", |text| prefixed(text, "2024-05-01T10:00:00.123456789Z stderr F ")),
    ("compose", |text| prefixed(text, "trainer-1  | ")),
    ("a quotation", |text| prefixed(text, "> ")),
    ("indentation", |text| prefixed(text, "        ")),
    ("colours", |text| prefixed(&text.replacen(": ", "\u{1b}[0m: ", 1), "\u{1b}[1;31m")),
    ("the byte order mark", |text| format!("\u{feff}{text}\n")),
];

/// Forms that break lines; not for messages that must be alone on a line.
const BREAKS: &[(&str, Wrap)] = &[
    ("a terminal of 80", |text| hard(text, 80)),
    ("a terminal of 100", |text| hard(text, 100)),
    ("a terminal of 61", |text| hard(text, 61)),
    ("a box", boxed),
    ("JSON", json),
    ("HTML", html),
    ("prefixed and wrapped", |text| hard(&prefixed(text, "[rank3]: "), 80)),
    ("wrapped and prefixed", |text| prefixed(&hard(text, 80), "[rank3]: ")),
    ("wrapped and prefixed with times", |text| prefixed(&hard(text, 66), "2024-05-01 10:00:00 | ERROR | train:88 - ")),
];

#[test]
fn every_message_is_read_in_every_form() {
    let pairs = cases().flat_map(|case| WRAPS.iter().map(move |wrap| (case, wrap)));
    all(pairs.filter(|((text, _), (form, _))| survives(form, text)).map(|(case, wrap)| in_form(case, wrap)));
}

/// A shell prints `Killed` at the start of a line; after a prefix it could come from any program.
fn survives(form: &str, text: &str) -> bool {
    let is_of_a_shell = text.to_lowercase().contains("killed  ") || text == "Killed";
    !is_of_a_shell || matches!(form, "between other lines" | "Windows line ends")
}

fn in_form((text, expect): &Case, (form, wrap): &(&str, Wrap)) -> Result<(), String> {
    check(wrap(text).as_bytes(), expect).map_err(|difference| format!("as {form}: {difference}"))
}

#[test]
fn messages_of_the_allocator_are_read_however_they_are_broken() {
    all(of_the_allocator().flat_map(|case| BREAKS.iter().map(move |wrap| in_form(case, wrap))));
}

#[test]
fn messages_of_the_allocator_are_read_from_terminals_of_any_width() {
    let with_numbers = of_the_allocator().filter(|(_, expect)| expect.requested.is_some());
    let pairs = with_numbers.flat_map(|case| (20..140).map(move |width| (case, width)));
    all(pairs.map(|((text, expect), width)| check(hard(text, width).as_bytes(), expect)));
}

#[test]
fn prefixes_name_the_rank_or_the_process() {
    let (text, _) = &allocator::IN_SENTENCES[0];
    let cases = [
        ("[rank3]: ", Some(3), None),
        ("[default12]:", Some(12), None),
        ("[3]:", Some(3), None),
        ("0: ", Some(0), None),
        ("[1,5]<stderr>:", Some(5), None),
        ("(TrainWorker pid=4711, ip=10.0.0.1) ", None, Some(4711)),
        ("2024-05-01 10:00:00 ", None, None),
    ];
    for (prefix, rank, pid) in cases {
        let found = errors(prefixed(text, prefix).as_bytes());
        assert_eq!((found[0].rank, found[0].pid), (rank, pid), "{prefix}");
    }
}

/// A cut message loses the numbers after the cut; all others stay.
#[test]
fn cutting_a_message_off_loses_numbers_and_changes_none() {
    for (text, _) in of_the_allocator().filter(|(text, _)| !text.contains("Allocation on device")) {
        let whole = numbers(text);
        for end in 0..text.len() {
            let cut = numbers(&text[..end]);
            for (name, size) in &cut {
                assert!(whole.contains(&(*name, *size)), "{name} in {}", &text[..end]);
            }
        }
    }
}

#[test]
fn a_message_that_is_cut_off_after_its_first_number_is_an_error() {
    for (text, _) in of_the_allocator() {
        let Some(first) = text.find("iB").filter(|_| text.contains("out of memory. Tried to allocate")) else {
            continue;
        };
        for end in first + 2..text.len() {
            assert_eq!(errors(&text.as_bytes()[..end]).len(), 1, "{}", &text[..end]);
        }
    }
}

fn numbers(text: &str) -> Vec<(&'static str, Option<u64>)> {
    let Some(oom) = errors(text.as_bytes()).pop() else { return Vec::new() };
    let device = oom.device_index.map(|index| ("device", Some(u64::from(index))));
    let stated = sizes(&oom).into_iter().filter_map(|(name, size)| size.map(|size| (name, Some(size.nearest.0))));
    let processes =
        oom.other_processes.into_iter().map(|process| ("a process", process.bytes.map(|size| size.nearest.0)));
    stated.chain(device).chain(processes).collect()
}
