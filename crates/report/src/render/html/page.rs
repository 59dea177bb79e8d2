//! The one page of all reports: the order of its sections, the area of the drawings and the table of devices.

use super::contents::{Drawing, Page};
use super::data::PageData;
use super::writer::Html;
use super::{comparison, memory, sections};

/// Writes everything below the answer. `data` is there if the page has drawings.
pub(super) fn write(html: &mut Html, page: &Page, data: Option<&PageData>) {
    sections::facts(html, &page.facts);
    if let Some(memory) = page.memory {
        memory::write(html, memory);
    }
    sections::findings(html, page.findings, page.folder);
    if let Some(data) = data {
        drawings(html, page, data);
    }
    for filled in &page.fillings {
        sections::filled(html, filled, page.folder);
    }
    if let Some(comparison) = page.comparison {
        comparison::write(html, comparison, page.folder);
    }
    sections::lists(html, &page.upper_lists);
    devices(html, page);
    sections::lists(html, &page.lower_lists);
    sections::made_by(html, page.version);
}

/// The drawing area of the script, with a sentence for browsers without scripts.
fn drawings(html: &mut Html, page: &Page, data: &PageData) {
    html.raw("<noscript><p>The drawings of memory over time, of the segments and of the stacks need JavaScript; ");
    html.raw("the tables have their figures.</p></noscript>\n<div id=\"drawings\" hidden>\n");
    html.raw("<p id=\"device-choice\" hidden><label>Device <select id=\"device\"></select></label></p>\n");
    if data.left_out > 0 {
        html.wrap("<p>", &format!("{} more devices have no drawings here: there is no room.", data.left_out), "</p>\n");
    }
    html.raw("<section aria-labelledby=\"over-time\" id=\"time-section\"><h2 id=\"over-time\">Memory over time</h2>\n");
    sections::summary(html, &page.run);
    html.raw(include_str!("drawings.html"));
    html.raw("</div>\n");
    peaks(html, page);
}

/// The peaks of the main device in a sentence, for browsers without scripts.
fn peaks(html: &mut Html, page: &Page) {
    if let Some(Drawing { peak, events, .. }) = page.devices.iter().find(|device| device.is_main) {
        let (allocated, reserved) = (peak.allocated_bytes, peak.reserved_bytes);
        let text = format!("In {events} events at most {allocated} were allocated and {reserved} reserved.");
        sections::summary(html, &text);
    }
}

fn devices(html: &mut Html, page: &Page) {
    if page.devices.is_empty() {
        return;
    }
    html.raw("<section id=\"devices\"><h2>Devices</h2>\n");
    sections::summary(html, &page.run);
    html.raw("<div class=\"wide\"><table><thead><tr><th scope=\"col\">device");
    html.raw("<th scope=\"col\">allocated at most<th scope=\"col\">reserved at most<th scope=\"col\">events");
    html.raw("</tr></thead><tbody>\n");
    for device in &page.devices {
        html.wrap("<tr><th scope=\"row\">", &device.name, "</th>");
        html.wrap("<td class=\"n\">", &device.peak.allocated_bytes.to_string(), "</td>");
        html.wrap("<td class=\"n\">", &device.peak.reserved_bytes.to_string(), "</td>");
        html.wrap("<td class=\"n\">", &device.events.to_string(), "</td></tr>\n");
    }
    html.raw("</tbody></table></div></section>\n");
}
