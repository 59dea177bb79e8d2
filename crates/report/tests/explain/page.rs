//! The page: it loads nothing, stays small, and its script reads what was packed.

use std::path::Path;
use std::process::Command;

use report::explain::{ExplainReport, Picture, Span, StackPicture, TotalsPoint};
use report::render::html;
use report::{Contents, SiteFrame};
use trace::Bytes;

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

/// As much as a thinned picture of a long history holds.
fn long() -> ExplainReport {
    let frame = |line| SiteFrame { function: "forward".to_owned(), file: format!("/v/m{line}.py"), line, own: false };
    let mut numbers = (1u64..).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20);
    let mut below = |limit: u32| u32::try_from(numbers.next().unwrap() % u64::from(limit)).unwrap();
    let mut spans: Vec<Span> = (0..20_000)
        .map(|_| {
            let from = below(1_700_000);
            Span { from, to: from + below(100_000), bytes: Bytes(u64::from(below(1 << 31))), stack: below(2000) }
        })
        .collect();
    spans.sort_by_key(|span| span.from);
    let totals = (0..4000).map(|event| TotalsPoint {
        event: event * 425,
        time_us: Some(1_700_000_000_000_000 + u64::from(below(1 << 30))),
        allocated_bytes: Bytes(u64::from(below(1 << 31)) * 16),
        reserved_bytes: Bytes(32 << 30),
    });
    let totals = totals.collect();
    let stacks = (0..2000).map(|line| StackPicture {
        frames: (0..40).map(|depth| frame(line % 50 + depth)).collect(),
        category: Contents::Activations,
        bytes: Bytes(512),
        count: 1,
    });
    let mut report = samples::snapshot();
    report.devices[0].picture = Picture { totals, spans, stacks: stacks.collect(), ..Picture::default() };
    report
}

#[test]
fn the_page_of_a_long_history_stays_below_2_mb() {
    let page = html::explain(&long());
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
}

/// Runs `tests/explain/page.mjs` on a page of the snapshot sample; that file knows what the sample holds.
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
