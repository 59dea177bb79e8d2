//! `--html`: one page that needs nothing but itself, for a browser, a phone and a printer.
//!
//! The whole report is in the page as text and tables, readable without a script. The script adds three
//! drawings (use over time, segments as a map, stacks as a flame graph) from the page data (Note [Page data] in `data.rs`).
//!
//! # Note [Content policy]
//! The page asks the browser to run one script and apply one style, each named by its SHA-256, and to load nothing:
//! a foreign string that got past the escapes could neither run a script nor load a file. The policy also means that no
//! element may have a `style` attribute: static widths are attributes of SVG shapes, and the script sets styles through
//! the object model, which the policy allows.

mod data;
mod explain;
mod memory;
mod sections;
mod writer;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::check::CheckReport;
use crate::explain::ExplainReport;
use crate::render::words::words_of_rank;
use crate::render::{answer, verdict};
use writer::Html;

const STYLE: &str = include_str!("html/page.css");

/// The script's files in order: each file uses only the files before it.
const SCRIPT: &str = concat!(
    include_str!("html/data.js"),
    include_str!("html/layout.js"),
    include_str!("html/look.js"),
    include_str!("html/timeline.js"),
    include_str!("html/segments.js"),
    include_str!("html/flame.js"),
    include_str!("html/main.js"),
);

/// The report of `explain` as a page.
pub fn explain(report: &ExplainReport) -> String {
    let mut html = head("oomph explain", &answer::answer(report));
    let data = data::encode(report);
    explain::write(&mut html, report, data.as_ref());
    if let Some(data) = &data {
        html.raw("<script type=\"application/json\" id=\"page-data\">");
        html.write_json(&data.json);
        html.raw("</script>\n<script type=\"module\">");
        html.raw(SCRIPT);
        html.raw("</script>\n");
    }
    foot(html)
}

/// The report of `check` as a page.
pub fn check(report: &CheckReport) -> String {
    let mut html = head("oomph check", &verdict::sentence(report));
    sections::facts(&mut html, verdict::facts(report));
    sections::findings(&mut html, &report.findings, &report.folder);
    if let Some(filling) = &report.need.filling {
        sections::breakdown(&mut html, "At the need, without a limit", &filling.breakdown);
        sections::sites(&mut html, &filling.sites, &report.folder);
    } else {
        sections::breakdown(&mut html, sections::AT_THE_PEAK, &report.breakdown);
        sections::sites(&mut html, &report.sites, &report.folder);
    }
    let ranks = report.ranks.iter().map(words_of_rank);
    sections::list(&mut html, "Ranks", ranks);
    let assumptions = report.assumptions.iter().map(|assumption| format!("{} ({})", assumption.text, assumption.bytes));
    sections::list(&mut html, "Assumptions", assumptions);
    sections::list(&mut html, "Notes", report.notes.iter().cloned());
    sections::made_by(&mut html, &report.version);
    foot(html)
}

fn head(title: &'static str, answer: &str) -> Html {
    let mut html = Html::default();
    html.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"");
    html.text(&policy());
    html.raw("\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.raw("<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
    html.text(title);
    html.raw("</title>\n<style>");
    html.raw(STYLE);
    html.raw("</style>\n</head>\n<body>\n<main>\n<header><p class=\"title\">");
    html.text(title);
    html.wrap("</p>\n<h1>", answer, "</h1></header>\n");
    html
}

fn foot(mut html: Html) -> String {
    html.raw("</main>\n</body>\n</html>\n");
    html.into_text()
}

/// Note [Content policy].
fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}
