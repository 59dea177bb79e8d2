//! `--format agent`: objects that were written by hand, and what holds of every object.
#![expect(clippy::unwrap_used, reason = "test")]

mod samples;

use report::failure::{CommandError, ErrorKind};
use report::fit::FitReport;
use report::lint::LintReport;
use report::render::agent::write_error;
use report::render::terminal::Look;
use report::render::{Format, Report, render};
use report::{CheckReport, Condition, Need, Remedy};
use serde_json::{Value, json};

use samples::{fits, full, so_far};

/// The keys of every object, in their order.
const KEYS: [&str; 6] = ["headline", "verdict", "spare_bytes", "cause", "changes", "next"];

fn written(report: &dyn Report) -> String {
    render(report, Format::Agent, Look::default()).unwrap()
}

#[test]
fn a_program_that_does_not_fit() {
    let next = Some(["oomph", "fit", "--gpu", "rtx-4090", "my train.py"].map(str::to_owned).to_vec());
    let report = CheckReport { next, ..full() };
    assert_eq!(written(&report), include_str!("golden/agent_oom.json"));
}

#[test]
fn a_program_that_fits_with_room_has_the_search_as_next_command() {
    let larger = Some(["oomph", "fit", "--max-batch", "train.py"].map(str::to_owned).to_vec());
    let object: Value = serde_json::from_str(&written(&CheckReport { larger, ..fits() })).unwrap();
    assert_eq!((&object["next"], &object["cause"]), (&json!("oomph fit --max-batch train.py"), &Value::Null));
}

#[test]
fn a_program_that_fits_has_the_changes_with_figures() {
    let mut findings = full().findings;
    let advice = Remedy { before_bytes: None, after_bytes: None, ..findings[0].remedies[0].clone() };
    findings[0].remedies.push(advice);
    let object: Value = serde_json::from_str(&written(&CheckReport { findings, ..fits() })).unwrap();
    assert_eq!((&object["cause"], object["changes"].as_array().unwrap().len()), (&Value::Null, 1));
    assert_eq!(object["changes"][0]["after_bytes"], 2000 << 20);
    assert_eq!(object["also"][0]["rule"], "growing-collection");
}

#[test]
fn a_need_that_was_not_seen_whole_is_a_lower_bound() {
    let open = Need { at_least: Some("it raised X".to_owned()), ..full().need };
    for (need, expected) in [(full().need, Value::Null), (open, json!(true))] {
        let object: Value = serde_json::from_str(&written(&CheckReport { need, ..full() })).unwrap();
        assert_eq!(object["need_is_lower_bound"], expected);
    }
}

#[test]
fn every_object_has_the_keys_and_no_times() {
    let reports: [(&str, Box<dyn Report>); 5] = [
        ("fits", Box::new(CheckReport { seconds: 12.5, ..fits() })),
        ("oom", Box::new(CheckReport { seconds: 12.5, ..full() })),
        ("so far", Box::new(so_far(None, vec![Condition::Rising]))),
        ("fit", Box::new(FitReport { seconds: 12.5, ..FitReport::default() })),
        ("lint", Box::new(empty_lint())),
    ];
    for (name, report) in reports {
        let text = written(&*report);
        let object: serde_json::Map<String, Value> = serde_json::from_str(&text).unwrap();
        let found: Vec<&str> = object.keys().map(String::as_str).filter(|key| KEYS.contains(key)).collect();
        assert_eq!(found, KEYS, "{name}");
        assert!(!text.contains("12.5"), "{name}: a time is shown: {text}");
        assert!(text.starts_with("{\n\"headline\": ") && text.ends_with("\n}\n"), "{name}: {text}");
    }
}

#[test]
fn a_failure_is_an_object_of_the_same_form() {
    let error = CommandError {
        kind: ErrorKind::NoTorch,
        message: "this Python has no PyTorch".to_owned(),
        file: Some("a.py".to_owned()),
        line: None,
        hint: Some("name another one with --python".to_owned()),
        next: Some(["oomph", "check", "--help"].map(str::to_owned).to_vec()),
        output: Some("one\ntwo".to_owned()),
    };
    let object: Value = serde_json::from_str(&write_error(&error).unwrap()).unwrap();
    let expected = json!({
        "headline": "this Python has no PyTorch", "verdict": "error", "kind": "no_torch", "spare_bytes": null,
        "cause": {"file": "a.py"}, "changes": [], "hint": "name another one with --python", "output": ["one", "two"],
        "next": "oomph check --help",
    });
    assert_eq!(object, expected);
}

fn empty_lint() -> LintReport {
    LintReport {
        version: String::new(),
        findings: Vec::new(),
        unreadable: Vec::new(),
        files: 1,
        hidden: 0,
        fixed: 0,
        notes: Vec::new(),
        rules: Vec::new(),
        folder: String::new(),
    }
}
