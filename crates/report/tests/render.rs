//! The renderers against pages that were written by hand.
#![expect(clippy::unwrap_used, reason = "test")]

mod reread;

use causes::CauseId;
use report::explain::{DeviceMemory, Extent, HistoryPeak, Holder, MemoryPart, Picture, TotalsPoint};
use report::render::terminal::{Detail, Look, Styles};
use report::render::{Format, Report, html, render};
use report::{
    Assumption, Breakdown, CheckReport, Condition, Contents, DevicePicture, Evidence, Filling, Finding, Gpu, Growth,
    Location, Need, Oom, Part, Peak, Place, Rank, Recovery, Remark, Remedy, RunPicture, Severity, Site, SiteFrame,
    SizeSearch, Standing, Stopped, Usage, Value, ValueShape, Verdict, Without,
};
use trace::run::StopCause;
use trace::{Bytes, Phase};

fn written(report: &dyn Report, format: Format) -> String {
    render(report, format, Look::default()).unwrap()
}

fn place(step: u32, phase: Phase, module: &str) -> Place {
    Place { step: Some(step), phase: Some(phase), module: Some(module.to_owned()), root: None }
}

fn usage(allocated: u64, reserved: u64, device: u64) -> Usage {
    Usage {
        allocated_bytes: Bytes::from_mib(allocated),
        reserved_bytes: Bytes::from_mib(reserved),
        device_bytes: Bytes::from_mib(device),
    }
}

fn breakdown(parts: &[(Contents, u64)]) -> Breakdown {
    let part = |&(category, mib)| Part { category, bytes: Bytes::from_mib(mib) };
    let parts: Vec<Part> = parts.iter().map(part).collect();
    Breakdown::new(parts.iter().map(|part| part.bytes).sum(), parts).unwrap()
}

fn at(line: u32) -> Location {
    Location { file: "/home/ann/gpt/train.py".to_owned(), line, column: None }
}

fn frame(function: &str, file: &str, line: u32, own: bool) -> SiteFrame {
    SiteFrame { function: function.to_owned(), file: file.to_owned(), line, own }
}

fn site(mib: u64, count: u64, line: u32) -> Site {
    Site {
        bytes: Bytes::from_mib(mib),
        count,
        category: Contents::Activations,
        location: Some(at(line)),
        frames: vec![
            frame("forward", "/v/site-packages/torch/nn/modules/linear.py", 134, false),
            frame("forward", "/home/ann/gpt/train.py", line, true),
        ],
        place: place(2, Phase::Forward, "transformer.h.3"),
    }
}

fn fits() -> CheckReport {
    CheckReport {
        mistake: None,
        made_up_data: Vec::new(),
        unapplied: Vec::new(),
        version: "0.1.0".to_owned(),
        torch: Some("2.11.0+cu130".to_owned()),
        gpu: Gpu {
            name: "NVIDIA GeForce RTX 4090".to_owned(),
            total_bytes: Bytes::from_mib(24_200),
            others_bytes: Bytes::ZERO,
            context_bytes: Bytes::from_mib(440),
            usable_bytes: Bytes::from_mib(23_760),
            assumed: false,
        },
        verdict: Verdict::Fits { spare_bytes: Bytes::from_mib(21_200), search: None },
        steps: 3,
        only_first_step: false,
        untrained_bytes: None,
        peak: Peak { usage: usage(2048, 2560, 3000), place: place(2, Phase::Backward, "transformer.h.3") },
        need: Need { usage: usage(2048, 2560, 3000), ..Need::default() },
        oom: None,
        breakdown: breakdown(&[
            (Contents::Parameters, 512),
            (Contents::OptimizerState, 256),
            (Contents::Activations, 1280),
        ]),
        sites: vec![site(1024, 12, 41)],
        growth: None,
        stop: None,
        findings: Vec::new(),
        assumptions: Vec::new(),
        value_shapes: Vec::new(),
        ranks: Vec::new(),
        notes: Vec::new(),
        effects: None,
        seconds: 4.25,
        next: None,
        folder: "/home/ann/gpt".to_owned(),
    }
}

fn full() -> CheckReport {
    CheckReport {
        mistake: None,
        made_up_data: Vec::new(),
        unapplied: Vec::new(),
        verdict: Verdict::Oom { spare_bytes: -(2840 << 20), assumed: Vec::new() },
        steps: 0,
        need: Need { usage: usage(26_000, 26_600, 27_040), ..Need::default() },
        oom: Some(Oom {
            requested_bytes: Some(Bytes::from_mib(2048)),
            rank: None,
            place: place(1, Phase::Forward, "lm_head"),
            location: Some(at(57)),
            message: "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of \
                      23.63 GiB of which 1.20 GiB is free."
                .to_owned(),
            caught: None,
        }),
        growth: Some(Growth {
            keeper: None,
            loop_at: None,
            bytes_per_iteration: Bytes(512),
            first_iteration: 2,
            of_iterations: None,
            full_at: Some(48_660_481),
            location: Some(at(60)),
        }),
        stop: None,
        findings: vec![Finding {
            without: None,
            rule: CauseId::GrowingCollection,
            severity: Severity::Warning,
            message: "each step leaves 512 B behind, made at train.py:60".to_owned(),
            location: Some(at(60)),
            evidence: vec![Evidence {
                what: "growth per step".to_owned(),
                value: Value::Bytes(Bytes(512)),
                source: "memory_stats after each step".into(),
            }],
            remedies: vec![Remedy {
                remedy: "keep the number, not the tensor".to_owned(),
                standing: Standing::Estimated,
                before_bytes: Some(Bytes::from_mib(2048)),
                after_bytes: Some(Bytes::from_mib(2000)),
                how: "losses.append(loss.item())".to_owned(),
            }],
        }],
        assumptions: vec![Assumption {
            id: "cudnn-convolution-workspace".to_owned(),
            text: "cuDNN takes the workspace of its first heuristic choice".to_owned(),
            bytes: Bytes::from_mib(64),
        }],
        value_shapes: vec![ValueShape { op: "aten::nonzero".to_owned(), location: at(33), count: 3, fraction: 0.5 }],
        ranks: vec![
            Rank { rank: 0, device: 0, peak: usage(2048, 2560, 3000), oom: true },
            Rank { rank: 1, device: 1, peak: usage(1024, 1280, 1720), oom: false },
        ],
        notes: vec![Remark::note("the initialisers of 3 large tensors were skipped".to_owned())],
        ..fits()
    }
}

fn plain(report: &CheckReport) -> String {
    written(report, Format::Terminal)
}

/// The report without `-v`.
fn brief(report: &CheckReport) -> String {
    render(report, Format::Terminal, Look { detail: Detail::Brief, ..Look::default() }).unwrap()
}

#[test]
fn the_short_report_has_some_fifteen_lines() {
    assert_eq!(brief(&fits()), include_str!("golden/brief_fits.txt"));
    let filling = Filling {
        place: place(2, Phase::Backward, "lm_head"),
        breakdown: breakdown(&[(Contents::Activations, 25_000), (Contents::Parameters, 1000)]),
        sites: vec![site(24_000, 2, 41)],
    };
    let report = CheckReport {
        need: Need { filling: Some(filling), ..full().need },
        next: Some(["oomph", "fit", "--gpu", "rtx-4090", "train.py"].map(str::to_owned).to_vec()),
        ..full()
    };
    assert_eq!(brief(&report), include_str!("golden/brief_oom.txt"));
}

#[test]
fn a_program_that_fits() {
    assert_eq!(plain(&fits()), include_str!("golden/fits.txt"));
}

#[test]
fn a_program_that_does_not_fit() {
    assert_eq!(plain(&full()), include_str!("golden/oom.txt"));
}

#[test]
fn no_line_is_wider_than_80_columns_however_long_the_names() {
    let mut report = full();
    let long = "deeply/".repeat(40) + "train.py";
    report.folder = String::new();
    report.gpu.name = "GPU ".repeat(60);
    report.peak.place.module = Some("layer.".repeat(50));
    report.sites[0].frames[0].file.clone_from(&long);
    report.sites[0].location.as_mut().unwrap().file.clone_from(&long);
    report.findings[0].location.as_mut().unwrap().file = long;
    for line in plain(&report).lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn colour_adds_escapes_and_nothing_else() {
    let look = Look { styles: Styles::colored(), ..Look::default() };
    let colored = render(&full(), Format::Terminal, look).unwrap();
    assert!(colored.contains("\u{1b}["));
    assert_eq!(without_escapes(&colored), plain(&full()));
}

fn without_escapes(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |plain, piece| plain + piece.split_once('m').map_or("", |(_, rest)| rest))
}

#[test]
fn json_has_the_keys_of_the_contract_with_plain_integers() {
    let value: serde_json::Value = serde_json::from_str(&written(&full(), Format::Json)).unwrap();
    let cases = [
        ("/version", serde_json::json!("0.1.0")),
        ("/torch", serde_json::json!("2.11.0+cu130")),
        ("/gpu/name", serde_json::json!("NVIDIA GeForce RTX 4090")),
        ("/gpu/total_bytes", serde_json::json!(24_200u64 << 20)),
        ("/verdict", serde_json::json!("oom")),
        ("/steps", serde_json::json!(0)),
        ("/peak/allocated_bytes", serde_json::json!(2048u64 << 20)),
        ("/peak/reserved_bytes", serde_json::json!(2560u64 << 20)),
        ("/peak/device_bytes", serde_json::json!(3000u64 << 20)),
        ("/peak/phase", serde_json::json!("backward")),
        ("/need/device_bytes", serde_json::json!(27_040u64 << 20)),
        ("/oom/requested_bytes", serde_json::json!(2048u64 << 20)),
        ("/oom/step", serde_json::json!(1)),
        ("/oom/phase", serde_json::json!("forward")),
        ("/breakdown/0/category", serde_json::json!("activations")),
        ("/breakdown/0/bytes", serde_json::json!(1280u64 << 20)),
        ("/sites/0/count", serde_json::json!(12)),
        ("/sites/0/frames/1/line", serde_json::json!(41)),
        ("/findings/0/rule", serde_json::json!("growing-collection")),
        ("/findings/0/severity", serde_json::json!("warning")),
        ("/findings/0/location/column", serde_json::Value::Null),
        ("/findings/0/evidence/0/value", serde_json::json!(512)),
        ("/findings/0/remedies/0/standing", serde_json::json!("estimated")),
        ("/assumptions/0/id", serde_json::json!("cudnn-convolution-workspace")),
        ("/ranks/1/rank", serde_json::json!(1)),
        ("/seconds", serde_json::json!(4.25)),
    ];
    for (pointer, expected) in cases {
        assert_eq!(value.pointer(pointer), Some(&expected), "{pointer}");
    }
}

#[test]
fn an_incomplete_run_says_why_and_has_null_where_nothing_is_known() {
    let reason = "stopped after 60 s".to_owned();
    let report = CheckReport { verdict: Verdict::Incomplete { reason, spare_bytes: 0 }, torch: None, ..fits() };
    let value: serde_json::Value = serde_json::from_str(&written(&report, Format::Json)).unwrap();
    assert_eq!(value["verdict"], "incomplete");
    assert_eq!(value["reason"], "stopped after 60 s");
    assert!(value["torch"].is_null() && value["oom"].is_null());
    assert!(plain(&report).starts_with("incomplete: stopped after 60 s\n"));
}

#[test]
fn concise_lines_stand_alone() {
    let cases = [
        (fits(), "fits RTX 4090: 20.70 GiB to spare (takes 2.93 of 23.63 GiB)\n"),
        (
            full(),
            "does not fit 2 × RTX 4090: needs 26.41 GiB on the fullest, has 23.63: 2.77 GiB too little. \
             Largest: activations 1.25 GiB, of these 1.00 GiB at train.py:41.\n\
             train.py:60: warning[growing-collection] each step leaves 512 B behind, made at train.py:60\n",
        ),
    ];
    for (report, expected) in cases {
        assert_eq!(written(&report, Format::Concise), expected);
    }
}

#[test]
fn github_shows_the_verdict_and_each_finding_at_its_line() {
    let notice = "::notice title=oomph check::fits RTX 4090: 20.70 GiB to spare (takes 2.93 of 23.63 GiB)\n";
    let verdict = "::error title=oomph check::does not fit 2 × RTX 4090: needs 26.41 GiB on the fullest, has 23.63: \
                   2.77 GiB too little. Largest: activations 1.25 GiB, of these 1.00 GiB at train.py:41.\n";
    let finding = "::warning file=train.py,line=60,title=growing-collection::each step leaves 512 B behind, made at \
                   train.py:60%0Akeep the number, not the tensor: losses.append(loss.item())\n";
    assert_eq!(written(&fits(), Format::Github), notice);
    assert_eq!(written(&full(), Format::Github), verdict.to_owned() + finding);
}

#[test]
fn markdown_is_a_heading_and_a_list() {
    let fits_text = "### oomph check: fits RTX 4090: 20.70 GiB to spare (takes 2.93 of 23.63 GiB)\n";
    let verdict = "### oomph check: does not fit 2 × RTX 4090: needs 26.41 GiB on the fullest, has 23.63: 2.77 GiB too \
                   little. Largest: activations 1.25 GiB, of these 1.00 GiB at train.py:41.\n\n";
    let finding = "- **warning** `growing-collection` `train.py:60` each step leaves 512 B behind, made at train.py:60\n  \
                   - keep the number, not the tensor: `losses.append(loss.item())`\n";
    assert_eq!(written(&fits(), Format::Markdown), fits_text);
    assert_eq!(written(&full(), Format::Markdown), verdict.to_owned() + finding);
}

#[test]
fn reports_are_read_back() {
    let filling = Filling { place: Place::default(), breakdown: full().breakdown, sites: full().sites };
    reread::check(&fits());
    reread::check(&full());
    reread::check(&CheckReport { need: Need { filling: Some(filling), ..full().need }, ..full() });
}

fn searched(recovery: Recovery, lowers: Option<&str>) -> SizeSearch {
    let (lowers, caught_at, refused_at) = (lowers.map(str::to_owned), at(50), Some(at(42)));
    SizeSearch { lowers, tried: vec![], settled: None, caught_at, errors: 2, recovery, refused_at }
}

/// A program that fits so far, with 1 GiB to spare.
fn so_far(stopped: Option<&str>, conditions: Vec<Condition>) -> CheckReport {
    let stopped = stopped.map(str::to_owned);
    let spare_bytes = Bytes::from_mib(1024);
    CheckReport { verdict: Verdict::FitsSoFar { spare_bytes, search: None, stopped, conditions }, ..fits() }
}

#[test]
fn each_condition_has_words_in_the_headline() {
    let not_run = |line| Condition::NotRun { what: "evaluate".to_owned(), location: Some(at(line)) };
    let assumed = |fraction, line| Condition::Assumed { fraction, location: Some(at(line)) };
    let grows = |full_at| Condition::Growing { bytes_per_step: Bytes::from_mib(20), location: Some(at(41)), full_at };
    let cases = [
        (vec![not_run(88)], "not run: evaluate (train.py:88)"),
        (
            vec![not_run(1), not_run(2), Condition::Larger { what: "n".to_owned(), location: Some(at(3)) }],
            "not run: evaluate (train.py:1), evaluate (train.py:2), a larger `n` (train.py:3)",
        ),
        (
            (1..=5).map(not_run).collect(),
            "not run: evaluate (train.py:1), evaluate (train.py:2), evaluate (train.py:3), 2 calls more",
        ),
        (vec![Condition::Varying { location: None }], "not run: other batches"),
        (vec![Condition::Unread { location: Some(at(9)) }], "open: the rest of its source was not read (train.py:9)"),
        (vec![Condition::LaterSteps], "not run: later steps"),
        (vec![Condition::OptimizerState], "not run: later steps, with the optimizer's state"),
        (
            vec![Condition::Untrained { bytes: Bytes::from_mib(110) }],
            "open: 110.00 MiB of parameters that an optimizer holds were not trained yet",
        ),
        (vec![Condition::NoStep { location: Some(at(7)) }], "open: no optimizer step trained a parameter (train.py:7)"),
        (vec![grows(Some(1180))], "open: it grows 20.00 MiB a step (train.py:41): full at step 1,180 if that goes on"),
        (vec![grows(None)], "open: it grows 20.00 MiB a step (train.py:41)"),
        (vec![Condition::Rising], "open: its memory still rose in the last step"),
        (
            vec![
                Condition::Read { location: Some(at(9)) },
                Condition::Read { location: None },
                Condition::Read { location: Some(at(12)) },
            ],
            "open: sizes may depend on numbers that only a GPU computes (train.py:9, train.py:12)",
        ),
        (vec![assumed(0.5, 40)], "open: if half of the elements are selected (train.py:40, --fraction)"),
        (
            vec![assumed(0.1, 40), assumed(0.1, 41)],
            "open: if 0.1 of the elements are selected (train.py:40, train.py:41, --fraction)",
        ),
        (vec![not_run(8), Condition::Rising], "not run: evaluate (train.py:8); its memory still rose in the last step"),
    ];
    for (conditions, expected) in cases {
        let shown = written(&so_far(None, conditions), Format::Concise);
        let (start, open) = shown.split_once("; ").unwrap();
        assert!(start.starts_with("fits RTX 4090 so far: 1.00 GiB to spare"), "{start}");
        assert_eq!(open, format!("{expected}\n"));
    }
}

#[test]
fn a_stopped_program_without_a_step_is_incomplete_with_its_memory() {
    let stopped = Stopped {
        by: StopCause::Timeout,
        after_seconds: 60.0,
        step: Some(1),
        phase: Some(Phase::Forward),
        module: None,
        location: Some(at(33)),
    };
    let usage = Usage { device_bytes: Bytes::from_gib(8), reserved_bytes: Bytes::from_gib(7), ..Usage::default() };
    let report = CheckReport {
        verdict: Verdict::Incomplete { reason: "the program was stopped".to_owned(), spare_bytes: 1 },
        peak: Peak { usage, place: Place::default() },
        stop: Some(stopped),
        unapplied: Vec::new(),
        ..full()
    };
    let look = Look { detail: Detail::Full, ..Look::default() };
    let text = render(&report, Format::Terminal, look).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.starts_with("incomplete: the program was stopped; 8.00 GiB of 23.63 GiB so far"), "{text}");
    // A killed process left no counters of PyTorch's.
    assert!(text.contains("peak 8.00 GiB on the device (7.00 GiB reserved)"), "{text}");
}

#[test]
fn growth_that_fills_the_device_is_the_headline() {
    let growth = Growth {
        keeper: None,
        loop_at: None,
        bytes_per_iteration: Bytes::from_mib(512),
        first_iteration: 2,
        of_iterations: Some(1000),
        full_at: Some(9),
        location: Some(at(60)),
    };
    let report = CheckReport { growth: Some(growth), oom: None, ..full() };
    let expected = "does not fit 2 × RTX 4090: full at step 9 of 1,000; 512.00 MiB stay of each step (train.py:60). Try: keep the number, not the tensor.";
    assert_eq!(headline(&report), expected);
}

/// The first paragraph of a report on a terminal, in one line.
fn headline(report: &CheckReport) -> String {
    let headline = Report::headline(report);
    assert!(plain(report).replace('\n', " ").starts_with(&headline), "the first paragraph is the headline");
    headline
}

/// A program that fits without its mistake.
fn blamed() -> CheckReport {
    let full = full();
    let without = Without {
        before_bytes: Bytes::from_mib(2048),
        after_bytes: Bytes::from_mib(1024),
        freed_bytes: Bytes::from_mib(1024),
        served: Some(true),
        standing: Standing::Verified,
    };
    let finding = Finding {
        rule: CauseId::EarlierModelAlive,
        severity: Severity::Error,
        message: "an earlier Net is alive".to_owned(),
        location: Some(Location { file: format!("{}/train.py", full.folder), line: 3, column: None }),
        evidence: Vec::new(),
        remedies: Vec::new(),
        without: Some(without),
    };
    CheckReport { mistake: Some(finding.rule), findings: vec![finding], growth: None, ..full }
}

#[test]
fn the_headline_never_says_more_than_was_seen() {
    let need = |device_mib: u64, at_least: Option<&str>| Need {
        usage: Usage { device_bytes: Bytes::from_mib(device_mib), ..Usage::default() },
        at_least: at_least.map(str::to_owned),
        ..Need::default()
    };
    let search = Some(searched(Recovery::Smaller, Some("batch_size")));
    let spare_bytes = Bytes::from_mib(1024);
    let takes = "takes 22.63 of 23.63 GiB";
    let largest = "Largest: activations 1.25 GiB, of these 1.00 GiB at train.py:41.";
    let cases = vec![
        (
            so_far(Some("it raised X"), vec![]),
            format!("fits RTX 4090 so far: 1.00 GiB to spare ({takes}); it raised X"),
        ),
        (
            CheckReport { steps: 1234, ..so_far(None, vec![Condition::Rising]) },
            format!(
                "fits RTX 4090 so far: 1.00 GiB to spare after 1,234 steps ({takes}); open: its memory still rose in the last step"
            ),
        ),
        (
            CheckReport { made_up_data: vec!["imdb".to_owned()], ..fits() },
            "fits RTX 4090 with made-up data: 20.70 GiB to spare (takes 2.93 of 23.63 GiB)".to_owned(),
        ),
        (
            CheckReport { made_up_data: vec!["imdb".to_owned()], ..so_far(Some("it raised X"), vec![]) },
            format!("fits RTX 4090 with made-up data so far: 1.00 GiB to spare ({takes}); it raised X"),
        ),
        (
            CheckReport { need: need(26_248, None), ..fits() },
            "fits RTX 4090: 20.70 GiB to spare (takes 2.93 of 23.63 GiB), but only by emptying PyTorch's cache"
                .to_owned(),
        ),
        (
            CheckReport { verdict: Verdict::Fits { spare_bytes, search }, ..fits() },
            format!(
                "fits RTX 4090: 1.00 GiB to spare ({takes}), with the `batch_size` that it looks for by running out"
            ),
        ),
        (
            CheckReport {
                verdict: Verdict::Fits { spare_bytes, search: Some(searched(Recovery::OtherWay, None)) },
                ..fits()
            },
            format!(
                "fits RTX 4090: 1.00 GiB to spare ({takes}), by another way that it takes after it ran out at train.py:42"
            ),
        ),
        (
            CheckReport {
                verdict: Verdict::Fits { spare_bytes, search: Some(searched(Recovery::Measured, None)) },
                ..fits()
            },
            format!(
                "fits RTX 4090: 1.00 GiB to spare ({takes}), once it has filled the device to measure it at train.py:42"
            ),
        ),
        (
            CheckReport {
                ranks: [0, 1].map(|rank| Rank { rank, device: rank, peak: usage(1, 1, 1), oom: false }).to_vec(),
                ..fits()
            },
            "fits 2 × RTX 4090: 20.70 GiB to spare (takes 2.93 of 23.63 GiB on the fullest)".to_owned(),
        ),
        (
            CheckReport { unapplied: vec!["sdpa".to_owned()], ..fits() },
            "fits RTX 4090 without sdpa, which was not applied: 20.70 GiB to spare (takes 2.93 of 23.63 GiB)"
                .to_owned(),
        ),
        (
            CheckReport { need: need(27_040, Some("it raised X")), steps: 1, ..full() },
            format!(
                "does not fit 2 × RTX 4090: needs at least 26.41 GiB on the fullest, has 23.63: at least 2.77 GiB too little. {largest}"
            ),
        ),
        (
            CheckReport {
                verdict: Verdict::Oom { spare_bytes: 1, assumed: Vec::new() },
                need: need(24_199, Some("it raised X")),
                ..full()
            },
            format!(
                "does not fit 2 × RTX 4090: 2.00 GiB could not be allocated (train.py:57); its whole need is not known. {largest}"
            ),
        ),
        (
            CheckReport {
                verdict: Verdict::Oom { spare_bytes: 1 << 20, assumed: Vec::new() },
                need: need(24_199, None),
                ..full()
            },
            format!("does not fit 2 × RTX 4090, though it needs 1.00 MiB less than the device has. {largest}"),
        ),
    ];
    for (report, expected) in cases {
        assert_eq!(headline(&report), expected);
    }
}

#[test]
fn a_need_that_was_not_seen_whole_is_a_lower_bound_in_every_format() {
    let mut report = full();
    report.need.at_least = Some("in the run without a limit the program raised ValueError at train.py:9".to_owned());
    let words = "at least 26.41 GiB on the device (25.39 GiB allocated, 25.98 GiB reserved)";
    assert!(html::check(&report, &RunPicture::default()).contains(words));
    assert!(plain(&report).contains("needs    at least 26.41 GiB on the device"), "{}", plain(&report));
    assert!(!written(&report, Format::Concise).contains("needs 26.41 GiB"));
    let json: serde_json::Value = serde_json::from_str(&written(&report, Format::Json)).unwrap();
    assert_eq!(json["need"]["at_least"].as_str(), report.need.at_least.as_deref());
}

#[test]
fn the_headline_has_the_cause_with_its_place_and_the_change_with_its_figure() {
    let start = "does not fit 2 × RTX 4090: needs 26.41 GiB on the fullest, has 23.63: 2.77 GiB too little.";
    let remedy = |standing, before: Option<u64>, after: Option<u64>| Remedy {
        remedy: "delete the earlier model".to_owned(),
        standing,
        before_bytes: before.map(Bytes::from_mib),
        after_bytes: after.map(Bytes::from_mib),
        how: String::new(),
    };
    let with = |remedies| {
        let blamed = blamed();
        CheckReport { findings: vec![Finding { remedies, ..blamed.findings[0].clone() }], ..blamed }
    };
    let fragmented = |expandable| {
        let of = |finding: &Finding| Finding { rule: CauseId::Fragmentation, ..finding.clone() };
        let blamed = with(vec![remedy(Standing::Verified, Some(4096), Some(3072))]);
        let need = Need { expandable_bytes: Some(Bytes::from_mib(expandable)), ..blamed.need.clone() };
        CheckReport {
            findings: blamed.findings.iter().map(of).collect(),
            need,
            mistake: Some(CauseId::Fragmentation),
            ..blamed
        }
    };
    let cases = [
        (blamed(), "An earlier Net is alive (train.py:3), without it 1.00 GiB allocated by then."),
        (
            with(vec![remedy(Standing::Verified, Some(2048), Some(1024))]),
            "An earlier Net is alive (train.py:3). Delete the earlier model: 1.00 GiB allocated by then, not 2.00.",
        ),
        (
            with(vec![remedy(Standing::Verified, Some(4096), Some(512))]),
            "An earlier Net is alive (train.py:3). Delete the earlier model: 512.00 MiB at the peak, not 4.00 GiB.",
        ),
        // An estimate is no figure of the change.
        (
            with(vec![remedy(Standing::Estimated, Some(2048), Some(1024))]),
            "An earlier Net is alive (train.py:3), without it 1.00 GiB allocated by then. Try: delete the earlier model.",
        ),
        (
            with(vec![remedy(Standing::Advice, None, None)]),
            "An earlier Net is alive (train.py:3), without it 1.00 GiB allocated by then. Try: delete the earlier model.",
        ),
        (fragmented(20_480), "An earlier Net is alive (train.py:3). Delete the earlier model: needs 20.00 GiB."),
        // With expandable segments the program does not fit, either.
        (
            fragmented(25_600),
            "An earlier Net is alive (train.py:3). Delete the earlier model: 3.00 GiB at the peak, not 4.00.",
        ),
    ];
    for (report, rest) in cases {
        assert_eq!(headline(&report), format!("{start} {rest}"));
    }
}

#[test]
fn the_page_says_what_the_terminal_says() {
    let mut report = full();
    report.notes = vec![Remark::note("<script>alert(1)</script>".to_owned())];
    let page = html::check(&report, &RunPicture::default());
    for words in [
        "does not fit 2 × RTX 4090: needs 26.41 GiB on the fullest, has 23.63: 2.77 GiB too little.",
        "26.41 GiB on the device (25.39 GiB allocated, 25.98 GiB reserved)",
        "each step leaves 512 B behind",
        "peak 2.00 GiB → 1.95 GiB",
        "train.py:41",
        "rank 1",
        "At the peak of allocated memory",
        "Made by these lines (alive at the peak, largest first)",
        "in torch/nn/modules/linear.py:134 forward",
        "(cudnn-convolution-workspace, up to 64.00 MiB)",
        "&lt;script&gt;alert(1)",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("<script"));
}

/// A run of two devices, of which the first grows to 20 GiB.
fn drawn(is_unlimited: bool) -> RunPicture {
    let point = |event, mib| TotalsPoint {
        event,
        time_us: None,
        allocated_bytes: Bytes::from_mib(mib),
        reserved_bytes: Bytes::from_mib(mib),
    };
    let picture = Picture { totals: vec![point(0, 512), point(7, 20_480)], ..Picture::default() };
    let peak = HistoryPeak { allocated_bytes: Bytes::from_mib(20_480), event: Some(7), ..HistoryPeak::default() };
    let device = |rank| DevicePicture {
        rank,
        events: 8,
        peak: peak.clone(),
        picture: picture.clone(),
        ..DevicePicture::default()
    };
    let part = |holder, mib| MemoryPart { holder, bytes: Bytes::from_mib(mib) };
    let parts = vec![part(Holder::Allocated(Some(Contents::Activations)), 26_000), part(Holder::OutsidePytorch, 1040)];
    let when = "at the need, without a limit".to_owned();
    let memory = DeviceMemory::new(Bytes::from_mib(27_040), Extent::Used, when, parts).ok();
    RunPicture { is_unlimited, memory, devices: vec![device(3), device(0)] }
}

/// The data that the script of a page draws.
fn page_data(page: &str) -> serde_json::Value {
    let data = page.split("id=\"page-data\">").nth(1).and_then(|rest| rest.split("</script>").next());
    serde_json::from_str(data.unwrap()).unwrap()
}

#[test]
fn the_page_draws_the_run_whose_peak_is_the_need() {
    let filling = Filling { sites: vec![site(24_000, 2, 41)], ..Filling::default() };
    let report = CheckReport { need: Need { filling: Some(filling), ..full().need }, ..full() };
    let page = html::check(&report, &drawn(true));
    for words in [
        "Where the memory in use was at the need, without a limit",
        "Memory over time</h2>\n<p class=\"summary\">The run without a limit, whose peak is the need.</p>",
        "Segments at the peak",
        "In 8 events at most 20.00 GiB were allocated",
        "Allocated at these lines (alive at the need, largest first)",
        "<th scope=\"row\">rank 3, cuda:0</th>",
    ] {
        assert!(page.contains(words), "{words}");
    }
    let data = page_data(&page);
    let names: Vec<&serde_json::Value> =
        data["devices"].as_array().unwrap().iter().map(|device| &device["name"]).collect();
    assert_eq!(names, ["rank 3, cuda:0", "rank 0, cuda:0"]);
    assert_eq!(data["devices"][0]["total_words"], "the CUDA context leaves");
    assert_eq!(data["devices"][0]["total_bytes"], 23_760u64 << 20);
    assert_eq!(data["devices"][0]["columns"]["total.event"]["length"], 2);
}

#[test]
fn the_page_names_the_gpu_of_a_run_within_its_limit() {
    let page = html::check(&fits(), &drawn(false));
    assert!(page.contains("<p class=\"summary\">The run on NVIDIA GeForce RTX 4090.</p>"));
    assert!(!page.contains("At the need"));
}
