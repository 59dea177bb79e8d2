//! The sections that pages share: findings, breakdown, sites, lists.

use trace::Bytes;

use super::contents::{Filled, List};
use super::writer::Html;
use crate::breakdown::Contents;
use crate::check::{Site, SiteFrame};
use crate::finding::{Finding, Remedy};
use crate::render::figures::Figure;
use crate::render::layout::{line_of, permille};
use crate::render::sites::{called, describe, words_of_site};

/// The figures below the answer.
pub(super) fn facts(html: &mut Html, facts: &[Figure]) {
    if facts.is_empty() {
        return;
    }
    html.raw("<dl class=\"facts\">\n");
    for (name, text) in facts {
        html.wrap("<dt>", name, "</dt>");
        html.wrap("<dd>", text, "</dd>\n");
    }
    html.raw("</dl>\n");
}

/// The findings, most serious first.
pub(super) fn findings(html: &mut Html, findings: &[Finding], folder: &str) {
    if findings.is_empty() {
        return;
    }
    html.raw("<section id=\"findings\"><h2>Findings</h2>\n");
    for finding in findings {
        write_finding(html, finding, folder);
    }
    html.raw("</section>\n");
}

fn write_finding(html: &mut Html, finding: &Finding, folder: &str) {
    html.raw("<article class=\"finding ");
    html.raw(finding.severity.word());
    html.raw("\"><h3>");
    html.wrap("<span class=\"severity\">", finding.severity.word(), "</span> ");
    html.wrap("<span class=\"rule\">", finding.rule.name(), "</span></h3>\n");
    html.wrap("<p>", &finding.message, "</p>\n");
    if let Some(location) = &finding.location {
        html.wrap("<p class=\"at\">at <code>", &line_of(location, folder), "</code></p>\n");
    }
    evidence(html, finding);
    remedies(html, &finding.remedies);
    html.raw("</article>\n");
}

fn evidence(html: &mut Html, finding: &Finding) {
    if finding.evidence.is_empty() {
        return;
    }
    html.raw("<table class=\"evidence\"><tbody>\n");
    for evidence in &finding.evidence {
        html.wrap("<tr><th scope=\"row\">", &evidence.what, "</th>");
        html.wrap("<td>", &evidence.value.to_string(), "</td>");
        html.wrap("<td class=\"source\">", &evidence.source, "</td></tr>\n");
    }
    html.raw("</tbody></table>\n");
}

fn remedies(html: &mut Html, remedies: &[Remedy]) {
    if remedies.is_empty() {
        return;
    }
    html.raw("<ul class=\"remedies\">\n");
    for remedy in remedies {
        html.wrap("<li><b>", &remedy.remedy, "</b> ");
        html.raw("<span class=\"standing\">");
        html.raw(remedy.standing.word());
        if let (Some(before), Some(after)) = (remedy.before_bytes, remedy.after_bytes) {
            html.text(&format!(", peak {before} → {after}"));
        }
        html.wrap("</span><br>", &remedy.how, "</li>\n");
    }
    html.raw("</ul>\n");
}

/// The memory at one moment: by category, then by line.
pub(super) fn filled(html: &mut Html, filled: &Filled, folder: &str) {
    breakdown(html, filled);
    sites(html, filled, folder);
}

/// Opens a section with its heading.
fn open(html: &mut Html, id: &'static str, heading: &'static str) {
    html.raw("<section id=\"");
    html.raw(id);
    html.raw("\"><h2>");
    html.raw(heading);
    html.raw("</h2>\n");
}

/// The allocated bytes by category, to the byte.
fn breakdown(html: &mut Html, filled: &Filled) {
    let breakdown = filled.breakdown;
    if breakdown.parts().is_empty() {
        return;
    }
    open(html, filled.ids[0], filled.headings[0]);
    let parts = breakdown.parts().iter();
    let parts = parts.map(|part| (class_of(part.category), part.category.words(), part.bytes));
    shares(html, parts, breakdown.total(), true);
    html.raw("</section>\n");
}

/// A table of parts, each with the class of its colour, and their total.
pub(super) fn shares(
    html: &mut Html,
    parts: impl Iterator<Item = (&'static str, &'static str, Bytes)>,
    total: Bytes,
    is_exact: bool,
) {
    html.raw("<table class=\"figures\"><tbody>\n");
    for (class, words, bytes) in parts {
        let permille = permille(bytes.0, total.0);
        html.raw("<tr><td><i class=\"swatch ");
        html.raw(class);
        html.wrap("\"></i></td><th scope=\"row\">", words, "</th>");
        html.wrap("<td class=\"n\">", &bytes.to_string(), "</td>");
        html.wrap("<td class=\"n\">", &format!("{}.{} %", permille / 10, permille % 10), "</td></tr>\n");
    }
    html.wrap("<tr class=\"total\"><td></td><th scope=\"row\">total</th><td class=\"n\">", &total.to_string(), "</td>");
    let exact = if is_exact { format!("{} B", total.0) } else { String::new() };
    html.wrap("<td class=\"n\">", &exact, "</td></tr>\n</tbody></table>\n");
}

/// The CSS class of a category's colour in `page.css`; the number is the category's number in the page data.
pub(super) fn class_of(category: Contents) -> &'static str {
    match category {
        Contents::Parameters => "k0",
        Contents::Gradients => "k1",
        Contents::OptimizerState => "k2",
        Contents::Buffers => "k3",
        Contents::Activations => "k4",
        Contents::Temporaries => "k5",
        Contents::Inputs => "k6",
        Contents::Workspaces => "k7",
        Contents::Other => "k8",
        Contents::Unattributed => "k9",
    }
}

/// The lines that allocated the live blocks; a click opens the whole stack.
fn sites(html: &mut Html, filled: &Filled, folder: &str) {
    if filled.sites.is_empty() {
        return;
    }
    open(html, filled.ids[1], filled.headings[1]);
    html.raw("<div class=\"wide\"><table><thead><tr><th scope=\"col\">bytes<th scope=\"col\">allocations");
    html.raw("<th scope=\"col\">contents<th scope=\"col\">line</tr></thead><tbody>\n");
    for site in filled.sites {
        write_site(html, site, folder);
    }
    html.raw("</tbody></table></div></section>\n");
}

fn write_site(html: &mut Html, site: &Site, folder: &str) {
    html.wrap("<tr><td class=\"n\">", &site.bytes.to_string(), "</td>");
    html.wrap("<td class=\"n\">", &site.count.to_string(), "</td>");
    html.wrap("<td>", site.category.words(), "</td><td>");
    frames(html, &words_of_site(site, folder), &site.frames, folder);
    if let Some(frame) = called(site) {
        html.wrap("<span class=\"source\">in ", &describe(frame, folder), "</span>");
    }
    html.raw("</td></tr>\n");
}

/// A line, with a stack that a click opens.
pub(super) fn frames(html: &mut Html, place: &str, frames: &[SiteFrame], folder: &str) {
    if frames.is_empty() {
        html.wrap("<code>", place, "</code>");
        return;
    }
    html.wrap("<details><summary><code>", place, "</code></summary><ol class=\"stack\">\n");
    for frame in frames {
        html.raw(if frame.own { "<li class=\"own\"><code>" } else { "<li><code>" });
        html.text(&describe(frame, folder));
        html.raw("</code></li>\n");
    }
    html.raw("</ol></details>");
}

/// Lists of sentences, each under its heading; empty lists are left out.
pub(super) fn lists(html: &mut Html, lists: &[List]) {
    for (heading, items) in lists.iter().filter(|(_, items)| !items.is_empty()) {
        html.wrap("<section><h2>", heading, "</h2>\n<ul>\n");
        for item in items {
            html.wrap("<li>", item, "</li>\n");
        }
        html.raw("</ul></section>\n");
    }
}

/// A sentence about what follows; nothing for an empty sentence.
pub(super) fn summary(html: &mut Html, sentence: &str) {
    if !sentence.is_empty() {
        html.wrap("<p class=\"summary\">", sentence, "</p>\n");
    }
}

/// The footer: version and program.
pub(super) fn made_by(html: &mut Html, version: &str) {
    html.wrap("<footer>Made by oomph ", version, ". This page loads nothing from anywhere.</footer>\n");
}
