//! The renderers of `tune`, against texts that were written by hand.
#![expect(clippy::unwrap_used, reason = "test")]

mod reread;

use causes::CauseId;
use report::render::terminal::Look;
use report::render::{Format, Report, render};
use report::tune::{
    Agreement, Calls, CostModel, Effect, EmptyCache, Guide, Lines, Measured, Needs, Recommendation, Search, Setting,
    TuneReport, TunedDevice, TunedTrace,
};
use report::{Evidence, Finding, Remedy, Severity, Standing, Value};
use trace::{Bytes, DeviceIndex};

fn written(report: &dyn Report, format: Format) -> String {
    render(report, format, Look::default()).unwrap()
}

fn setting(conf: &str, mib: u64, calls: Calls, cost_us: u64) -> Setting {
    Setting {
        conf: conf.to_owned(),
        reserved_bytes: Bytes::from_mib(mib),
        allocated_bytes: Bytes::from_mib(480),
        segments: 5,
        calls,
        cost_us,
        ..Setting::default()
    }
}

fn mallocs(cuda_malloc: u64) -> Calls {
    Calls { cuda_malloc, ..Calls::default() }
}

fn guide(conf: &str, mib: u64, change_mib: i64, effect: Effect) -> Guide {
    Guide { setting: setting(conf, mib, mallocs(5), 500), change_bytes: change_mib << 20, effect, refused: None }
}

fn recommendation() -> Recommendation {
    let pages = Calls { pages_mapped: 26, ..Calls::default() };
    Recommendation {
        setting: setting("expandable_segments:True", 484, pages, 1300),
        saved_bytes: Bytes::from_mib(590),
        above_limit_bytes: Bytes::from_mib(2),
        standing: Standing::Verified,
        how: "replayed; under the recorded settings the replay did all that was recorded".to_owned(),
        variable: "PYTORCH_CUDA_ALLOC_CONF".into(),
        lines: Lines {
            bash: "export A=\"expandable_segments:True\"".to_owned(),
            powershell: "$env:A=\"expandable_segments:True\"".to_owned(),
            cmd: "set \"A=expandable_segments:True\"".to_owned(),
            python: "os.environ[\"A\"] = \"expandable_segments:True\"".to_owned(),
        },
        without_expandable: None,
        measured: None,
    }
}

fn finding() -> Finding {
    Finding {
        without: None,
        rule: CauseId::Fragmentation,
        severity: Severity::Warning,
        message: "484.00 MiB would do".to_owned(),
        location: None,
        evidence: vec![Evidence { what: "alive".to_owned(), value: Value::Count(1), source: "replay".into() }],
        remedies: vec![Remedy {
            remedy: "set it".to_owned(),
            standing: Standing::Verified,
            before_bytes: Some(Bytes::from_mib(1074)),
            after_bytes: Some(Bytes::from_mib(484)),
            how: "replayed".to_owned(),
        }],
    }
}

fn trace(difference: Option<&str>) -> TunedTrace {
    TunedTrace {
        path: "/home/ann/run/snapshot.pickle".to_owned(),
        rank: None,
        device: DeviceIndex(0),
        events: 97,
        whole: true,
        recorded_reserved_bytes: Bytes::from_mib(1074),
        replayed_reserved_bytes: Bytes::from_mib(1074),
        agreement: Agreement {
            exact: difference.is_none(),
            segment_events: 5,
            placements: 32,
            difference: difference.map(str::to_owned),
        },
    }
}

fn report() -> TuneReport {
    let current = setting("", 1074, mallocs(5), 500);
    let recommended = recommendation();
    TuneReport {
        version: "0.1.0".to_owned(),
        torch: "2.11".to_owned(),
        traces: vec![trace(None)],
        settings: vec![recommended.setting.clone(), current.clone()],
        front: vec![current.clone(), recommended.setting.clone()],
        guides: vec![
            guide("max_split_size_mb:128", 2562, 1488, Effect::Worse),
            guide("expandable_segments:True", 484, -590, Effect::Better),
        ],
        current,
        recommended: Some(recommended),
        limit_bytes: Bytes::from_mib(482),
        savable_bytes: Bytes::from_mib(592),
        packing_bytes: Some(Bytes::from_mib(483)),
        needs: Needs {
            current_bytes: Some(Bytes::from_mib(490)),
            recommended_bytes: Some(Bytes::from_mib(484)),
            contradicted_at: None,
        },
        search: Search { considered: 300, replayed: 120, interrupted: false },
        cost_model: CostModel { cuda_malloc_us: 100, cuda_free_us: 100, page_us: 50, retry_us: 1000 },
        findings: vec![finding()],
        notes: vec!["expandable segments are ignored on Windows".to_owned()],
        seconds: 0.3,
        folder: "/home/ann/run".to_owned(),
        ..TuneReport::default()
    }
}

#[test]
fn a_setting_that_saves() {
    assert_eq!(written(&report(), Format::Terminal), include_str!("tune/saves.txt"));
}

#[test]
fn made_up_data_is_in_the_headline() {
    let page = written(&TuneReport { made_up_data: vec!["imdb".to_owned()], ..report() }, Format::Terminal);
    let headline = page.lines().take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    assert!(headline.ends_with(" less than now with made-up data"), "{headline}");
}

#[test]
fn a_run_under_the_setting_is_shown() {
    let measured = |mib, as_predicted| Measured {
        reserved_bytes: Bytes::from_mib(mib),
        allocated_bytes: Bytes::from_mib(480),
        retries: 1,
        oom: false,
        as_predicted,
    };
    let cases = [
        (measured(484, true), "  measured 484.00 MiB reserved, 480.00 MiB allocated, 1 retry, as predicted\n"),
        (measured(500, false), "  measured 500.00 MiB reserved, 480.00 MiB allocated, 1 retry, not as predicted\n"),
    ];
    for (measured, line) in cases {
        let recommended = Some(Recommendation { measured: Some(measured), ..recommendation() });
        let page = written(&TuneReport { recommended, ..report() }, Format::Terminal);
        assert!(page.contains(line), "{page}");
    }
}

/// Nothing is worth setting, and the search was ended early.
fn nothing() -> TuneReport {
    let device = TunedDevice {
        name: "NVIDIA L4".to_owned(),
        total_bytes: Bytes::from_mib(22_000),
        usable_bytes: Bytes::from_mib(21_700),
    };
    TuneReport {
        recommended: None,
        findings: Vec::new(),
        front: Vec::new(),
        guides: vec![Guide {
            effect: Effect::Refused,
            refused: Some("Unrecognized key".to_owned()),
            ..guide("large_segment_size_mb:1", 0, 0, Effect::Refused)
        }],
        device: Some(device),
        needs: Needs::default(),
        search: Search { interrupted: true, ..report().search },
        traces: vec![trace(Some("event 7: the replay fails"))],
        empty_cache: vec![EmptyCache {
            at: "after each step".to_owned(),
            times: 3,
            setting: setting("", 900, Calls { cuda_malloc: 9, cuda_free: 4, ..Calls::default() }, 1_300_000),
        }],
        notes: Vec::new(),
        ..report()
    }
}

#[test]
fn nothing_to_set() {
    assert_eq!(written(&nothing(), Format::Terminal), include_str!("tune/nothing.txt"));
}

#[test]
fn reports_are_read_back() {
    let several = Setting { reserved_bytes_by_trace: vec![Bytes(1), Bytes(2)], ..setting("", 9, mallocs(1), 7) };
    let measured = Some(Measured { retries: 1, ..Measured::default() });
    let recommended = Recommendation { without_expandable: Some(several), measured, ..recommendation() };
    reread::check(&report());
    reread::check(&nothing());
    reread::check(&TuneReport { recommended: Some(recommended), ..report() });
}

#[test]
fn one_line_for_the_answer_and_one_for_the_setting() {
    let saves = "with expandable_segments:True 484.00 MiB are reserved, 590.00 MiB less than now\n\
                 export A=\"expandable_segments:True\"\n";
    assert_eq!(written(&report(), Format::Concise), saves);
    let gone = TuneReport { recommended: None, findings: Vec::new(), ..report() };
    let nothing = "no setting is worth it: 1.05 GiB reserved, and no allocator could save more than 592.00 MiB of it\n";
    assert_eq!(written(&gone, Format::Concise), nothing);
    assert_eq!(written(&gone, Format::Github), format!("::notice title=oomph tune::{nothing}"));
    let annotation = "::warning title=fragmentation::484.00 MiB would do%0Aset it: replayed\n";
    assert_eq!(written(&report(), Format::Github), annotation);
}

#[test]
fn an_answer_for_each_way_to_run_out() {
    let device = TunedDevice { usable_bytes: Bytes::from_mib(500), ..TunedDevice::default() };
    let out = TuneReport { current: Setting { oom: true, ..report().current }, device: Some(device), ..report() };
    let cases = [
        (out.clone(), "with expandable_segments:True it gets through, with 484.00 MiB reserved; now it runs out"),
        (TuneReport { recommended: None, ..out.clone() }, "it runs out under every setting that was replayed"),
        (
            TuneReport { recommended: None, limit_bytes: Bytes::from_mib(501), ..out },
            "no setting helps: 501.00 MiB are alive at once, more than the 500.00 MiB that PyTorch can have",
        ),
    ];
    let calm = Setting { retries: 2, reserved_bytes: Bytes::from_mib(484), ..report().current };
    let calmer = "with expandable_segments:True 484.00 MiB are reserved as now, with 0 retries in place of 2";
    let cases = cases.into_iter().chain([(TuneReport { current: calm, ..report() }, calmer)]);
    for (report, expected) in cases {
        assert_eq!(written(&report, Format::Concise).lines().next(), Some(expected));
    }
}

#[test]
fn json_has_the_keys_of_the_contract() {
    let object: serde_json::Value = serde_json::from_str(&written(&report(), Format::Json)).unwrap();
    for setting in [&object["current"], &object["settings"][0], &object["recommended"], &object["guides"][0]] {
        for key in ["conf", "reserved_bytes", "allocated_bytes", "segments", "retries", "oom"] {
            assert!(!setting[key].is_null(), "{key} is missing in {setting}");
        }
    }
    assert_eq!(object["limit_bytes"], 482 << 20);
    assert_eq!(object["findings"][0]["remedies"][0]["standing"], "verified");
    assert_eq!(object["folder"], report().folder, "names of files in the headline are relative to it");
    assert!(object["recommended"]["measured"].is_null());
}

#[test]
fn what_comes_from_outside_has_no_effect() {
    let mut hostile = report();
    hostile.current.conf = "\u{1b}[31mred".to_owned();
    hostile.recommended.as_mut().unwrap().lines.bash = "export A=\"\u{1b}]0;title\u{7}\"".to_owned();
    hostile.traces[0].path = "\u{202e}gpj".to_owned();
    let page = written(&hostile, Format::Terminal) + &written(&hostile, Format::Concise);
    assert!(!page.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{page}");
}
