//! The formats for programs: one line a finding, GitHub's workflow commands, JSON.

use causes::CauseId;
use report::render::Format;
use report::{Finding, Location, Severity};
use serde_json::{Value, json};

use crate::{reread, samples, written};

const FULL: &str = "19.00 GiB of 24.00 GiB are in the program's hands, too much for 2.00 GiB more";

#[test]
fn each_finding_is_a_line_that_stands_alone() {
    let full = format!("model.py:57: error[need-exceeds-device] {FULL}\n");
    let neighbour = "warning[other-process-memory] process 4711 holds 2.00 GiB of the same GPU\n";
    let cases = [
        (samples::text_only(), full.clone() + neighbour),
        (samples::snapshot(), full),
        (samples::healthy(), "no out-of-memory error and no problem found: 16.00 GiB allocated at most\n".to_owned()),
        (samples::empty(), "nothing was read\n".to_owned()),
    ];
    for (report, expected) in cases {
        assert_eq!(written(&report, Format::Concise), expected);
    }
}

#[test]
fn reports_are_read_back() {
    samples::all().iter().for_each(reread::check);
}

#[test]
fn github_shows_a_finding_at_its_line() {
    let remedies = "recompute the attention in backward: checkpoint(block, x, use_reentrant=False)%0A\
                    a smaller batch: activations grow with it";
    let full = format!("::error file=model.py,line=57,title=need-exceeds-device::{FULL}%0A{remedies}\n");
    let neighbour = "::warning title=other-process-memory::process 4711 holds 2.00 GiB of the same GPU\n";
    let nothing = "::notice title=oomph explain::nothing was read\n";
    assert_eq!(written(&samples::text_only(), Format::Github), full + neighbour);
    assert_eq!(written(&samples::empty(), Format::Github), nothing);
}

#[test]
fn github_commands_are_escaped() {
    let finding = Finding {
        without: None,
        rule: CauseId::OneHugeRequest,
        severity: Severity::Info,
        message: "100 % of it\n::error::not a command, a:b".to_owned(),
        location: Some(Location { file: "a,b:c%.py".to_owned(), line: 3, column: Some(7) }),
        evidence: Vec::new(),
        remedies: Vec::new(),
    };
    let report = report::explain::ExplainReport { findings: vec![finding], ..samples::empty() };
    let expected = "::notice file=a%2Cb%3Ac%25.py,line=3,col=7,title=one-huge-request::\
                    100 %25 of it ::error::not a command, a:b\n";
    assert_eq!(written(&report, Format::Github), expected);
}

#[test]
fn markdown_is_escaped() {
    let finding = Finding {
        without: None,
        rule: CauseId::OneHugeRequest,
        severity: Severity::Info,
        message: "<b>*not bold*</b> `x` [a](b) 1|2".to_owned(),
        location: Some(Location { file: "a`` b.py".to_owned(), line: 3, column: None }),
        evidence: Vec::new(),
        remedies: Vec::new(),
    };
    let report = report::explain::ExplainReport { findings: vec![finding], ..samples::empty() };
    let item =
        "- **info** `one-huge-request` ``` a`` b.py:3 ``` \\<b\\>\\*not bold\\*\\</b\\> \\`x\\` \\[a\\](b) 1\\|2\n";
    assert_eq!(written(&report, Format::Markdown).lines().last().unwrap().to_owned() + "\n", item);
}

#[test]
fn json_has_the_keys_of_the_contract_with_plain_integers() {
    let text: Value = serde_json::from_str(&written(&samples::text_only(), Format::Json)).unwrap();
    let snapshot: Value = serde_json::from_str(&written(&samples::snapshot(), Format::Json)).unwrap();
    let compared: Value = serde_json::from_str(&written(&samples::compared(), Format::Json)).unwrap();
    let cases = [
        (&text, "/version", json!("0.1.0")),
        (&text, "/inputs/0/path", json!("crash.log")),
        (&text, "/inputs/0/kind", json!("text")),
        (&text, "/findings/0/rule", json!("need-exceeds-device")),
        (&text, "/findings/0/severity", json!("error")),
        (&text, "/findings/0/location/line", json!(57)),
        (&text, "/findings/0/location/column", Value::Null),
        (
            &text,
            "/findings/0/evidence/0",
            json!({"what": "free and cached", "value": 2u64 << 30,
            "source": "the error's own figures"}),
        ),
        (&text, "/findings/0/remedies/0/before_bytes", json!(21u64 << 30)),
        (
            &text,
            "/findings/0/remedies/1",
            json!({"remedy": "a smaller batch", "standing": "advice",
            "before_bytes": null, "after_bytes": null, "how": "activations grow with it"}),
        ),
        (&text, "/findings/1/location", Value::Null),
        (&text, "/ooms/0/framework", json!("cuda")),
        (&text, "/ooms/0/device_index", json!(0)),
        (&text, "/ooms/0/requested_bytes", json!(2u64 << 30)),
        (&text, "/ooms/0/reserved_bytes", Value::Null),
        (&text, "/ooms/0/reserved_unallocated_bytes", json!(1u64 << 30)),
        (&text, "/ooms/0/other_processes", json!([{"pid": 4711, "bytes": 2u64 << 30}])),
        (&text, "/memory/total_bytes", json!(24u64 << 30)),
        (&text, "/memory/extent", json!("device")),
        (&text, "/memory/parts/0", json!({"holder": "allocated", "category": null, "bytes": 19u64 << 30})),
        (&text, "/memory/parts/4", json!({"holder": "free", "bytes": 1u64 << 30})),
        (&text, "/peak", Value::Null),
        (&text, "/breakdown", Value::Null),
        (&snapshot, "/inputs/0/kind", json!("snapshot")),
        (&snapshot, "/inputs/0/rank", json!(0)),
        (&snapshot, "/peak/allocated_bytes", json!(16u64 << 30)),
        (&snapshot, "/peak/whole", json!(false)),
        (&snapshot, "/peak/phase", json!("forward")),
        (&snapshot, "/breakdown/0", json!({"category": "activations", "bytes": 12u64 << 30})),
        (&snapshot, "/ooms", json!([])),
        (&snapshot, "/devices/0/oom/requested_bytes", json!(2u64 << 30)),
        (&snapshot, "/devices/0/oom/counters/reserved_bytes", json!(20u64 << 30)),
        (&snapshot, "/devices/0/oom/step", json!(3)),
        (&compared, "/comparison/sites/0/bytes", json!([6u64 << 30, 12u64 << 30])),
    ];
    for (value, pointer, expected) in cases {
        assert_eq!(value.pointer(pointer), Some(&expected), "{pointer}");
    }
    assert!(snapshot.pointer("/devices/0/picture").is_none(), "drawings are for the page");
}
