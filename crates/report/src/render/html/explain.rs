//! The page of `explain`: the order of sections, and the sections of this page alone.

use super::data::{self, PageData};
use super::writer::Html;
use super::{memory, sections};
use crate::explain::{Comparison, ExplainReport, SiteDifference};
use crate::render::answer::focus;
use crate::render::figures;
use crate::render::words::{path_of_input, words_of_error, words_of_input};

/// Everything below the answer, which is in the page's head.
pub(super) fn write(html: &mut Html, report: &ExplainReport, data: Option<&PageData>) {
    sections::facts(html, figures::explain(report));
    if let Some(memory) = &report.memory {
        memory::write(html, memory);
    }
    sections::findings(html, &report.findings, &report.folder);
    if let Some(data) = data {
        drawings(html, report, data);
    }
    if let Some(breakdown) = &report.breakdown {
        sections::breakdown(html, sections::AT_THE_PEAK, breakdown);
    }
    sections::sites(html, &report.sites, &report.folder);
    if let Some(comparison) = &report.comparison {
        compare(html, comparison, &report.folder);
    }
    let errors = report.ooms.iter().enumerate().map(|(index, oom)| words_of_error(report, index, oom));
    sections::list(html, "Errors", errors);
    devices(html, report);
    let inputs = report.inputs.iter().map(|input| format!("{}: {}", path_of_input(input), words_of_input(input)));
    sections::list(html, "Read", inputs);
    sections::list(html, "Notes", report.notes.iter().cloned());
    sections::made_by(html, &report.version);
}

/// The drawing area of the script, with a sentence for browsers without scripts.
fn drawings(html: &mut Html, report: &ExplainReport, data: &PageData) {
    html.raw("<noscript><p>The drawings of memory over time, of the segments and of the stacks need JavaScript; ");
    html.raw("the tables have their figures.</p></noscript>\n<div id=\"drawings\" hidden>\n");
    html.raw("<p id=\"device-choice\" hidden><label>Device <select id=\"device\"></select></label></p>\n");
    if data.left_out > 0 {
        html.wrap("<p>", &format!("{} more devices have no drawings here: there is no room.", data.left_out), "</p>\n");
    }
    html.raw(include_str!("drawings.html"));
    html.raw("</div>\n");
    if let (Some(peak), Some(device)) = (&report.peak, focus(report)) {
        let (allocated, reserved, events) = (peak.allocated_bytes, peak.reserved_bytes, device.events);
        let text = format!("In {events} events at most {allocated} were allocated and {reserved} reserved.");
        html.wrap("<p class=\"summary\">", &text, "</p>\n");
    }
}

fn compare(html: &mut Html, comparison: &Comparison, folder: &str) {
    html.raw("<section id=\"comparison\"><h2>Comparison</h2>\n<div class=\"wide\"><table><thead><tr>");
    html.raw("<th scope=\"col\">side<th scope=\"col\">allocated at most<th scope=\"col\">reserved at most");
    html.raw("</tr></thead><tbody>\n");
    for (side, peak) in comparison.sides.iter().zip(&comparison.peaks) {
        html.wrap("<tr><th scope=\"row\">", side, "</th>");
        html.wrap("<td class=\"n\">", &peak.allocated_bytes.to_string(), "</td>");
        html.wrap("<td class=\"n\">", &peak.reserved_bytes.to_string(), "</td></tr>\n");
    }
    html.raw("</tbody></table></div>\n");
    differences(html, comparison, folder);
    html.raw("</section>\n");
}

fn differences(html: &mut Html, comparison: &Comparison, folder: &str) {
    if comparison.sites.is_empty() {
        return;
    }
    html.raw("<h3>Lines that differ, the largest difference first</h3>\n<div class=\"wide\"><table><thead><tr>");
    for side in &comparison.sides {
        html.wrap("<th scope=\"col\">", side, "</th>");
    }
    html.raw("<th scope=\"col\">line</tr></thead><tbody>\n");
    for site in &comparison.sites {
        difference(html, site, folder);
    }
    html.raw("</tbody></table></div>\n");
}

fn difference(html: &mut Html, site: &SiteDifference, folder: &str) {
    html.raw("<tr>");
    for bytes in &site.bytes {
        html.wrap("<td class=\"n\">", &bytes.to_string(), "</td>");
    }
    html.raw("<td>");
    let own = site.frames.iter().find(|frame| frame.own).or_else(|| site.frames.first());
    let place = own.map_or_else(|| "no stack was recorded".to_owned(), |frame| sections::words_of(frame, folder));
    sections::frames(html, &place, &site.frames, folder);
    html.raw("</td></tr>\n");
}

fn devices(html: &mut Html, report: &ExplainReport) {
    if report.devices.is_empty() {
        return;
    }
    html.raw(
        "<section id=\"devices\"><h2>Devices</h2>\n<div class=\"wide\"><table><thead><tr><th scope=\"col\">device",
    );
    html.raw("<th scope=\"col\">allocated at most<th scope=\"col\">reserved at most<th scope=\"col\">events");
    html.raw("</tr></thead><tbody>\n");
    for device in &report.devices {
        html.wrap("<tr><th scope=\"row\">", &data::name(report, device), "</th>");
        html.wrap("<td class=\"n\">", &device.peak.allocated_bytes.to_string(), "</td>");
        html.wrap("<td class=\"n\">", &device.peak.reserved_bytes.to_string(), "</td>");
        html.wrap("<td class=\"n\">", &device.events.to_string(), "</td></tr>\n");
    }
    html.raw("</tbody></table></div></section>\n");
}
