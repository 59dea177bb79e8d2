//! The holders of the device's memory: a bar that adds up to the whole, and a legend.

use super::sections::{class_of, shares};
use super::writer::Html;
use crate::explain::{DeviceMemory, Holder};
use crate::render::layout::cells;

/// The bar's width in its own units.
const UNITS: u64 = 1000;

/// The bar and its legend.
pub(super) fn write(html: &mut Html, memory: &DeviceMemory) {
    let heading = format!("Where {} was {}", memory.extent().words(), memory.when());
    html.wrap("<section id=\"memory\"><h2>", &heading, "</h2>\n");
    bar(html, memory);
    let parts = memory.parts().iter().map(|part| (class(part.holder), part.holder.words(), part.bytes));
    shares(html, parts, memory.total(), memory.is_exact());
    html.raw("</section>\n");
}

fn bar(html: &mut Html, memory: &DeviceMemory) {
    html.raw("<svg class=\"bar\" viewBox=\"0 0 1000 20\" preserveAspectRatio=\"none\" aria-hidden=\"true\">");
    let widths = cells(memory.parts().iter().map(|part| part.bytes.0), memory.total().0, UNITS);
    let mut start = 0;
    for (part, width) in memory.parts().iter().zip(widths) {
        html.raw("<rect height=\"20\" class=\"");
        html.raw(class(part.holder));
        html.raw("\" x=\"");
        html.number(start);
        html.raw("\" width=\"");
        html.number(width);
        html.raw("\"/>");
        start += width;
    }
    html.raw("</svg>\n");
}

/// The class of a holder's colour in `page.css`.
fn class(holder: Holder) -> &'static str {
    match holder {
        Holder::Allocated(Some(category)) => class_of(category),
        Holder::Allocated(None) => "allocated",
        Holder::Cached => "cached",
        Holder::OutsidePytorch => "outside",
        Holder::OtherProcesses => "others",
        Holder::Unaccounted => "unaccounted",
        Holder::Free => "free",
    }
}
