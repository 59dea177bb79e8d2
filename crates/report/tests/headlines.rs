//! The first sentence of a report of `check`.
#![expect(clippy::unwrap_used, reason = "test")]

mod samples;

use causes::CauseId;
use report::render::terminal::{Detail, Look};
use report::render::{Format, render};
use report::{
    CheckReport, Condition, Finding, Growth, LifeReport, Location, Need, Oom, Place, Rank, Recovery, Remedy, Severity,
    StageUse, Standing, Usage, Verdict, Without,
};
use trace::{Bytes, LifeStage};

use samples::{at, fits, full, searched, so_far, usage};

fn plain(report: &CheckReport) -> String {
    render(report, Format::Terminal, Look { detail: Detail::Full, ..Look::default() }).unwrap()
}

fn written(report: &CheckReport, format: Format) -> String {
    render(report, format, Look::default()).unwrap()
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
        (vec![Condition::Cut { location: Some(at(9)) }], "not run: the rest of a loop (train.py:9)"),
        (vec![Condition::Unread { location: Some(at(9)) }], "open: the rest of its source was not read (train.py:9)"),
        (vec![Condition::LaterSteps], "not run: later steps (--steps 0 runs them)"),
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

/// A need of so many bytes on the device.
fn need(device_mib: u64, at_least: Option<&str>) -> Need {
    Need {
        usage: Usage { device_bytes: Bytes::from_mib(device_mib), ..Usage::default() },
        at_least: at_least.map(str::to_owned),
        ..Need::default()
    }
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
    let text = plain(report);
    text.split("\n\n").next().unwrap_or_default().replace('\n', " ")
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
fn a_program_that_fits_has_its_margin() {
    let takes = "takes 22.63 of 23.63 GiB";
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
    ];
    for (report, expected) in cases {
        assert_eq!(headline(&report), expected);
    }
}

#[test]
fn a_program_that_lives_with_its_errors_says_how_it_fits() {
    let search = Some(searched(Recovery::Smaller, Some("batch_size")));
    let spare_bytes = Bytes::from_mib(1024);
    let takes = "takes 22.63 of 23.63 GiB";
    let cases = [
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
    ];
    for (report, expected) in cases {
        assert_eq!(headline(&report), expected);
    }
}

#[test]
fn the_headline_never_says_more_than_was_seen() {
    let largest = "Largest: activations 1.25 GiB, of these 1.00 GiB at train.py:41.";
    let cases = vec![
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

/// A program that runs out in a stage, at step 501; the stage began at `begins_step`.
fn late(stage: LifeStage, begins_step: u32) -> String {
    let row = StageUse {
        stage,
        step: Some(501),
        begins_step: Some(begins_step),
        peak_allocated_bytes: Bytes::from_mib(26_000),
        peak_reserved_bytes: Bytes::from_mib(26_600),
        peak_device_bytes: Bytes::from_mib(27_040),
        only_there_bytes: Bytes::ZERO,
        only_there_location: None,
        location: Some(at(57)),
        begins_at: Some(at(50)),
        fits: Some(false),
    };
    let place = Place { step: Some(501), stage: Some(stage), ..Place::default() };
    let oom = full().oom.map(|oom| Oom { place, location: Some(at(57)), ..oom });
    let life = LifeReport { stages: vec![row], ..LifeReport::default() };
    headline(&CheckReport { growth: None, life, oom, ..full() })
}

#[test]
fn an_error_after_the_first_steps_has_its_stage() {
    use LifeStage::{Evaluation, Load, NextEpoch, Steps, WorstBatches};
    let cases = [
        (Evaluation, 501, " too little; it runs out in the first evaluation, after step 500 (train.py:57)."),
        (Evaluation, 301, " too little; it runs out in the evaluation, after step 500 (train.py:57)."),
        (WorstBatches, 501, " too little; it runs out with the largest batches, at step 501 (train.py:57)."),
        (NextEpoch, 201, " too little; it runs out in the next epoch, at step 501 (train.py:57)."),
        (Load, 1, " too little."),
        (Steps, 1, " too little."),
    ];
    for (stage, begins_step, expected) in cases {
        let headline = late(stage, begins_step);
        assert!(headline.contains(expected), "{stage:?}: {headline}");
    }
}
