//! Pages for the terminal, against texts written by hand.

use report::explain::{ExplainReport, Input, InputKind, StatedCard, StatedCounters, StatedProcess, TableSource};
use report::render::terminal::{Look, Styles};
use report::render::{Format, render};
use trace::Frame;
use trace::text::{OomKind, StatedBytes, StatedOom};

use crate::{samples, written};

fn check(report: &ExplainReport, expected: &str) {
    assert_eq!(written(report, Format::Terminal), expected);
}

#[test]
fn a_log_with_one_error() {
    check(&samples::text_only(), include_str!("golden/text_only.txt"));
}

#[test]
fn a_snapshot_with_a_failed_request() {
    check(&samples::snapshot(), include_str!("golden/snapshot.txt"));
}

#[test]
fn a_snapshot_in_which_nothing_is_wrong() {
    check(&samples::healthy(), include_str!("golden/healthy.txt"));
}

#[test]
fn two_snapshots() {
    check(&samples::compared(), include_str!("golden/compared.txt"));
}

#[test]
fn the_log_of_a_job_of_several_ranks() {
    check(&samples::ranks(), include_str!("golden/ranks.txt"));
}

#[test]
fn nothing() {
    check(&samples::empty(), include_str!("golden/empty.txt"));
}

#[test]
fn tables_in_a_text() {
    let gib = |n: u64| Some(StatedBytes::exact(n << 30));
    let counters = StatedCounters {
        line: 4,
        source: TableSource::MemorySummary,
        device_index: Some(0),
        allocated_bytes: gib(1),
        allocated_peak_bytes: gib(3),
        reserved_bytes: gib(4),
        inactive_split_bytes: Some(StatedBytes::exact(512 << 20)),
        retries: Some(2),
        ooms: Some(0),
        ..StatedCounters::default()
    };
    let process = |pid, name: &str, bytes| StatedProcess { pid, name: name.to_owned(), bytes };
    let busy = StatedCard {
        index: Some(0),
        name: Some("NVIDIA A10".to_owned()),
        total_bytes: gib(22),
        used_bytes: gib(18),
        processes: Some(vec![process(Some(7), "python", gib(17)), process(None, "Xorg", None)]),
        ..StatedCard::default()
    };
    let idle =
        StatedCard { index: Some(1), total_bytes: gib(22), processes: Some(Vec::new()), ..StatedCard::default() };
    let read = Input { path: "crash.log".to_owned(), kind: InputKind::Text, torch: None, rank: None };
    let report = ExplainReport {
        version: "0.1.0".to_owned(),
        inputs: vec![read],
        counters: vec![counters],
        cards: vec![busy, idle],
        ..ExplainReport::default()
    };
    check(&report, include_str!("golden/tables.txt"));
}

/// The text after `ran out` for an error that was raised on `frames`, the innermost first.
fn ran_out(oom: StatedOom, frames: &[(&str, u32, &str)]) -> String {
    let frame = |&(file, line, function): &(&str, u32, &str)| Frame {
        file: file.to_owned(),
        line,
        function: function.to_owned(),
    };
    let oom = StatedOom { traceback: frames.iter().map(frame).collect(), ..oom };
    let report = ExplainReport { ooms: vec![oom], focus_oom: Some(0), ..samples::empty() };
    let text = written(&report, Format::Terminal);
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix("ran out "));
    line.unwrap_or_default().trim().to_owned()
}

#[test]
fn an_error_is_shown_at_the_users_own_line() {
    let asked = StatedOom { requested_bytes: Some(StatedBytes::exact(2 << 30)), ..StatedOom::default() };
    let shared = StatedOom { kind: OomKind::SharedMemory, ..StatedOom::default() };
    let installed = ("/usr/lib/python3/dist-packages/torch/utils/data/dataloader.py", 630, "__next__");
    let own = ("train.py", 40, "<module>");
    assert_eq!(ran_out(asked.clone(), &[installed, own]), "2.00 GiB requested by train.py:40 <module>");
    assert_eq!(ran_out(shared, &[installed, own]), "the host's shared memory was full at train.py:40 <module>");
    assert_eq!(ran_out(asked, &[("a.py", 1, "f"), own]), "2.00 GiB requested by a.py:1 f");
}

#[test]
fn colour_adds_escapes_and_nothing_else() {
    for report in samples::all() {
        let colored = render(&report, Format::Terminal, Look { styles: Styles::colored(), ..Look::default() }).unwrap();
        let mut pieces = colored.split("\u{1b}[");
        let first = pieces.next().unwrap_or_default().to_owned();
        let plain = pieces.fold(first, |text, piece| text + piece.split_once('m').map_or("", |(_, rest)| rest));
        assert_ne!(colored, plain);
        assert_eq!(plain, written(&report, Format::Terminal));
    }
}
