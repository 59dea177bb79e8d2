//! The difference between two inputs, or between ranks.

use super::sections;
use super::writer::Html;
use crate::explain::{Comparison, SiteDifference};
use crate::render::sites::describe;

/// The peaks of the sides, then the lines that differ.
pub(super) fn write(html: &mut Html, comparison: &Comparison, folder: &str) {
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
    let place = own.map_or_else(|| "no stack was recorded".to_owned(), |frame| describe(frame, folder));
    sections::frames(html, &place, &site.frames, folder);
    html.raw("</td></tr>\n");
}
