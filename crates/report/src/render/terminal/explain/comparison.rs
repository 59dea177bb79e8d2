//! The difference between two inputs, or between ranks.

use std::fmt::Display;

use crate::explain::{Comparison, SiteDifference};
use crate::render::layout::{COLUMNS, keep_end};
use crate::render::sites::describe;
use crate::render::terminal::page::Page;

/// The number of lines of code shown.
const SITES: usize = 10;

/// The largest number of sides shown in columns; more sides are listed.
const COLUMNED: usize = 4;

/// The peaks, then the lines that differ.
pub(super) fn write(page: &mut Page, comparison: &Comparison) {
    page.heading("Comparison of peaks");
    for (index, side) in comparison.sides.iter().enumerate() {
        peak(page, comparison, index, side);
    }
    if comparison.sites.is_empty() {
        return;
    }
    page.heading("Lines that differ, the largest difference first");
    let is_columned = comparison.sides.len() <= COLUMNED;
    if is_columned {
        let names = (1..=comparison.sides.len()).map(|number| format!("[{number}]"));
        page.line(&columns(names));
    }
    for site in comparison.sites.iter().take(SITES) {
        if is_columned { write_columns(page, site) } else { write_list(page, site) }
    }
}

fn peak(page: &mut Page, comparison: &Comparison, index: usize, side: &str) {
    let figures = comparison.peaks.get(index).map_or_else(String::new, |peak| {
        format!("{:>11} allocated {:>11} reserved", peak.allocated_bytes, peak.reserved_bytes)
    });
    let start = format!("  {:<4} {figures}  ", format!("[{}]", index + 1));
    page.line(&(start.clone() + &keep_end(side, COLUMNS.saturating_sub(start.len()))));
}

fn write_columns(page: &mut Page, site: &SiteDifference) {
    let start = columns(site.bytes.iter()) + "  ";
    page.line(&(start.clone() + &keep_end(&place(page, site), COLUMNS.saturating_sub(start.len()))));
}

fn columns(cells: impl Iterator<Item = impl Display>) -> String {
    cells.fold("  ".to_owned(), |line, cell| line + &format!("{cell:>11}"))
}

fn write_list(page: &mut Page, site: &SiteDifference) {
    page.line(&format!("  {}", keep_end(&place(page, site), COLUMNS - 2)));
    let figures = site.bytes.iter().enumerate().map(|(index, bytes)| format!("[{}] {bytes}", index + 1));
    page.paragraph("      ", &figures.collect::<Vec<_>>().join(", "));
}

/// The user's innermost line, or the innermost line.
fn place(page: &Page, site: &SiteDifference) -> String {
    let own = site.frames.iter().find(|frame| frame.own).or_else(|| site.frames.first());
    own.map_or_else(|| "no stack was recorded".to_owned(), |frame| describe(frame, page.folder()))
}
