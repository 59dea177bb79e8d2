//! The page: it loads nothing, stays small, and its script reads the packed data.

use std::path::Path;
use std::process::Command;

use report::explain::{BlockPicture, Picture, SegmentPicture, Span, StackPicture, TotalsPoint};
use report::render::html;
use report::{Contents, SiteFrame};
use trace::{Address, Bytes};

use crate::samples;

#[test]
fn a_page_names_its_script_and_style_and_nothing_else() {
    for report in samples::all() {
        let page = html::explain(&report);
        let policy = page.split("Content-Security-Policy\" content=\"").nth(1).unwrap().split('"').next().unwrap();
        assert!(policy.starts_with("default-src &#39;none&#39;; script-src &#39;sha256-"), "{policy}");
        for absent in ["http:", "https:", "//cdn", "@import", "url(", " style=\"", " onclick=", "unsafe-inline"] {
            assert!(!page.contains(absent), "{absent}");
        }
    }
}

#[test]
fn without_script_everything_but_the_drawings_is_there() {
    let page = html::explain(&samples::snapshot());
    for words in
        ["<noscript>", "16.00 GiB allocated", "model.py:57", "recompute the attention in backward", "21.00 GiB → "]
    {
        assert!(page.contains(words), "{words}");
    }
    let text_only = html::explain(&samples::text_only());
    assert!(!text_only.contains("<script"), "there is nothing to draw");
}

/// Numbers below a limit that follow no pattern.
fn numbers() -> impl FnMut(u32) -> u32 {
    let mut state = 1u64;
    move |limit| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((state >> 33) % u64::from(limit)).unwrap()
    }
}

fn spans(below: &mut impl FnMut(u32) -> u32) -> Vec<Span> {
    let span = |_| {
        let from = below(1_700_000);
        Span { from, to: from + below(100_000), bytes: Bytes(below(1 << 31).into()), stack: below(2000) }
    };
    let mut spans: Vec<Span> = (0..20_000).map(span).collect();
    spans.sort_by_key(|span| span.from);
    spans
}

fn total(event: u32, below: &mut impl FnMut(u32) -> u32) -> TotalsPoint {
    TotalsPoint {
        event: event * 425,
        time_us: Some(1_700_000_000_000_000 + u64::from(below(1 << 30))),
        allocated_bytes: Bytes(u64::from(below(1 << 31)) * 16),
        reserved_bytes: Bytes(32 << 30),
    }
}

fn segment(number: u32, below: &mut impl FnMut(u32) -> u32) -> SegmentPicture {
    let block = |at: u64| BlockPicture { offset: at << 20, bytes: Bytes(below(1 << 20).into()), stack: below(2000) };
    SegmentPicture {
        address: Address(u64::from(number) << 30),
        bytes: Bytes::from_mib(20),
        kind: None,
        is_expandable: false,
        blocks: (0..20).map(block).collect(),
    }
}

fn stack(line: u32) -> StackPicture {
    let frame = |line| SiteFrame { function: "forward".to_owned(), file: format!("/v/m{line}.py"), line, own: false };
    let frames = (0..40).map(|depth| frame(line % 50 + depth)).collect();
    StackPicture { frames, category: Contents::Activations, bytes: Bytes(512), count: 1 }
}

/// As much as a picture may hold.
fn long() -> Picture {
    let mut below = numbers();
    Picture {
        spans: spans(&mut below),
        totals: (0..4000).map(|event| total(event, &mut below)).collect(),
        segments: (0..1000).map(|number| segment(number, &mut below)).collect(),
        stacks: (0..2000).map(stack).collect(),
        steps: Vec::new(),
    }
}

#[test]
fn the_page_of_a_long_history_stays_below_2_mb_and_says_what_it_leaves_out() {
    let mut report = samples::snapshot();
    report.devices[0].picture = long();
    let page = html::explain(&report);
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(!page.contains("more devices"));
    report.devices = vec![report.devices[0].clone(); 4];
    let page = html::explain(&report);
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(page.contains("more devices have no drawings here"));
}

/// Runs `tests/explain/page.mjs`, which knows the contents of the sample, on a page of the snapshot sample.
#[test]
fn the_script_reads_what_was_packed() {
    if Command::new("node").arg("--version").output().is_err() {
        eprintln!("skipped: node is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    std::fs::write(&page, html::explain(&samples::snapshot())).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/explain/page.mjs");
    let run = Command::new("node").arg(script).arg(&page).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
