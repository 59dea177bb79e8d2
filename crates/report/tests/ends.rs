//! Reports of real runs, of running programs and of machines: one headline in every format, and no effect of foreign names.
#![expect(clippy::unwrap_used, reason = "test")]

mod reread;

use report::metrics::{DeviceMetrics, StepGrowth};
use report::now::{DeviceNow, HeldLine, NowReport};
use report::real_run::{
    CaughtErrors, End, HostKill, LastAllocation, RaisedError, RunReport, Silence, StoppedRank, UnappliedRemedy,
    UsedMemory,
};
use report::render::terminal::Look;
use report::render::{Format, Report, html, render};
use report::top::{TopGpu, TopReport};
use report::{Location, RunPicture};
use trace::Bytes;

/// A name with an effect on a terminal, a browser, Markdown or GitHub.
const HOSTILE: &str = "/work/<script>a_b*\u{1b}[31m\n::error::%.py";

fn at(file: &str) -> Location {
    Location { file: file.to_owned(), line: 9, column: None }
}

fn run(end: End) -> RunReport {
    let memory = UsedMemory {
        gpu: "NVIDIA T4".to_owned(),
        total_bytes: Some(Bytes(15 << 30)),
        allocated_peak_bytes: Bytes(2 << 30),
        reserved_peak_bytes: Bytes(3 << 30),
        spare_bytes: Some(Bytes(11 << 30)),
        ..UsedMemory::default()
    };
    let (version, folder) = ("0.1.0".to_owned(), "/work".to_owned());
    RunReport { version, end, steps: 4, is_recorded: true, memory: Some(memory), folder, ..RunReport::default() }
}

fn raised(file: &str) -> End {
    let error = RaisedError { rank: None, type_name: "ValueError".to_owned(), location: Some(at(file)) };
    End::Status { status: 1, error: Some(error) }
}

/// Every end, with the verdict.
fn ends() -> Vec<(RunReport, &'static str)> {
    let status = |status| run(End::Status { status, error: None });
    let signal = |signal| run(End::Signal { signal });
    let host = HostKill {
        processes: 1,
        is_of_group: true,
        limit_bytes: Some(Bytes(1 << 30)),
        largest_process_bytes: Bytes(900 << 20),
    };
    let last = vec![LastAllocation { ranks: vec![0], step: 5, location: Some(at("/work/train.py")) }];
    let caught = Some(CaughtErrors { errors: 1, location: Some(at("/work/train.py")) });
    let unapplied = vec![UnappliedRemedy { remedy: "sdpa".to_owned(), reason: "no softmax is seen".to_owned() }];
    vec![
        (run(End::Good), "good"),
        (RunReport { caught, unapplied, ..run(End::Good) }, "caught"),
        (RunReport { is_recorded: false, memory: None, steps: 0, ..run(End::Good) }, "good"),
        (run(raised("/work/train.py")), "failed"),
        (run(raised(HOSTILE)), "failed"),
        (status(3), "failed"),
        (signal(11), "failed"),
        (RunReport { host: Some(host), ..signal(9) }, "failed"),
        (RunReport { silence: Some(Silence { seconds: 601, last }), ..signal(15) }, "failed"),
        (RunReport { stopped_first: Some(StoppedRank { rank: 1, steps: 3 }), ..status(1) }, "failed"),
        (run(End::Open), "open"),
    ]
}

fn now() -> NowReport {
    let figures = DeviceMetrics {
        name: "NVIDIA T4".to_owned(),
        total_bytes: 16 << 30,
        allocated_bytes: 4 << 30,
        growth: Some(StepGrowth { per_step_bytes: 3 << 19, steps_to_error: 5400 }),
        ..DeviceMetrics::default()
    };
    let lines = vec![HeldLine { location: Some(at(HOSTILE)), bytes: Bytes(1 << 30), blocks: 2 }];
    let device = DeviceNow { steps: 12, figures, grows_at: Some(at(HOSTILE)), lines, ..DeviceNow::default() };
    NowReport { version: "0.1.0".to_owned(), devices: vec![device], folder: "/work".to_owned() }
}

fn written(report: &dyn Report, format: Format) -> String {
    render(report, format, Look::default()).unwrap()
}

/// The headline of a text, without the marks of its format.
fn headline_of(format: Format, text: &str) -> String {
    let first = text.lines().next().unwrap().to_owned();
    match format {
        Format::Terminal => text.split("\n\n").next().unwrap().split_whitespace().collect::<Vec<_>>().join(" "),
        Format::Concise => first,
        Format::Github => {
            let message = first.splitn(3, "::").nth(2).unwrap().split("%0A").next().unwrap().to_owned();
            message.replace("%25", "%")
        }
        Format::Markdown => unescape(first.split_once(": ").unwrap().1),
        Format::Json | Format::Agent => {
            serde_json::from_str::<serde_json::Value>(text).unwrap()["headline"].as_str().unwrap().to_owned()
        }
    }
}

/// Markdown without the backslashes before punctuation.
fn unescape(text: &str) -> String {
    let mut plain = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_escape = letter == '\\' && letters.peek().is_some_and(char::is_ascii_punctuation);
        plain.extend(if is_escape { letters.next() } else { Some(letter) });
    }
    plain
}

fn heading_of(page: &str) -> String {
    let (_, rest) = page.split_once("<h1>").unwrap();
    let (heading, _) = rest.split_once("</h1>").unwrap();
    heading.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[test]
fn every_end_has_one_headline_in_all_formats() {
    for (report, verdict) in ends() {
        assert_eq!(report.verdict(), verdict);
        let expected = headline_of(Format::Concise, &written(&report, Format::Concise));
        for format in Format::ALL {
            assert_eq!(headline_of(format, &written(&report, format)), expected, "{format:?}");
        }
        assert_eq!(heading_of(&html::run(&report, &RunPicture::default())), expected);
        reread::check(&report);
    }
}

#[test]
fn behind_the_output_of_a_program_each_sentence_is_a_line_with_a_prefix() {
    let look = Look { prefix: "oomph: ", ..Look::default() };
    let lines = |report: &RunReport| {
        let text = render(report, Format::Terminal, look).unwrap();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let memory = "at most 2.00 GiB allocated, 3.00 GiB reserved (NVIDIA T4), 11.00 GiB to spare";
    let (caught, _) = &ends()[1];
    let expected = [
        format!("oomph: 4 steps; {memory}"),
        "oomph: 1 out-of-memory error was caught (train.py:9)".to_owned(),
        "oomph: sdpa was not applied: no softmax is seen".to_owned(),
    ];
    assert_eq!(lines(caught), expected);
    assert_eq!(lines(&run(End::Good)), expected[..1]);
}

#[test]
fn an_answer_is_80_columns_wide_and_has_no_prefix() {
    for (report, _) in ends() {
        let text = written(&report, Format::Terminal);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(!text.contains("oomph: "), "{text}");
    }
}

#[test]
fn a_running_program_and_a_machine_have_one_headline() {
    let machine =
        TopReport { gpus: vec![TopGpu::default()], remarks: vec!["pid 7 grows".to_owned()], ..TopReport::default() };
    let unused = NowReport::default();
    let reports: [(&dyn Report, &str); 3] = [(&now(), "growing"), (&unused, "unused"), (&machine, "alert")];
    for (report, verdict) in reports {
        assert_eq!(report.verdict(), verdict);
        let expected = headline_of(Format::Concise, &written(report, Format::Concise));
        for format in [Format::Github, Format::Markdown, Format::Json] {
            assert_eq!(headline_of(format, &written(report, format)), expected, "{format:?}");
        }
    }
    let text = written(&now(), Format::Terminal);
    assert_eq!(text.lines().next(), Some(headline_of(Format::Json, &written(&now(), Format::Json)).as_str()));
    assert_eq!(heading_of(&html::now(&now())), text.lines().next().unwrap());
}

#[test]
fn no_name_has_an_effect() {
    let hostile = run(raised(HOSTILE));
    let pages = [html::run(&hostile, &RunPicture::default()), html::now(&now())];
    for page in pages {
        assert!(!page.contains("<script>a") && !page.contains('\u{1b}') && page.contains("&lt;script&gt;a"), "{page}");
    }
    for report in [&hostile as &dyn Report, &now()] {
        for format in Format::ALL {
            let text = written(report, format);
            assert!(!text.contains('\u{1b}') && !text.contains("\n::error::%"), "{format:?}: {text}");
        }
    }
    assert!(written(&hostile, Format::Markdown).contains("\\<script\\>a\\_b\\*"));
}
