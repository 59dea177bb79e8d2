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

mod against;
mod check;
mod comparison;
mod contents;
mod data;
mod explain;
mod memory;
mod now;
mod page;
mod real_run;
mod sections;
mod writer;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::against::AgainstReport;
use crate::check::CheckReport;
use crate::explain::ExplainReport;
use crate::now::NowReport;
use crate::real_run::RunReport;
use crate::run_picture::RunPicture;
use contents::Page;
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
    write("oomph explain", &explain::page(report))
}

/// The report of `check` as a page, with the picture of the run that the report is about.
pub fn check(report: &CheckReport, run: &RunPicture) -> String {
    write("oomph check", &check::page(report, run))
}

/// The report about two recorded runs as a page.
pub fn against(report: &AgainstReport) -> String {
    write("oomph explain", &against::page(report))
}

/// The report about a running program as a page.
pub fn now(report: &NowReport) -> String {
    write("oomph explain", &now::page(report))
}

/// The report of a real run as a page, with the picture of the run.
pub fn run(report: &RunReport, picture: &RunPicture) -> String {
    write("oomph run", &real_run::page(report, picture))
}

fn write(title: &'static str, page: &Page) -> String {
    let mut html = head(title, &page.headline);
    let data = data::encode(&page.devices);
    page::write(&mut html, page, data.as_ref());
    if let Some(data) = &data {
        html.raw("<script type=\"application/json\" id=\"page-data\">");
        html.write_json(&data.json);
        html.raw("</script>\n<script type=\"module\">");
        html.raw(SCRIPT);
        html.raw("</script>\n");
    }
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
