//! The end of a real run: the answer, and the remarks behind it.

use super::page::Page;
use super::{Look, brief, check};
use crate::real_run::{End, RunReport};
use crate::render::real_run::{headline, list_remarks};
use crate::render::terminal::Detail;

/// Writes the report. Behind the output of a program, each sentence is one line with the prefix.
pub(super) fn write(page: &mut Page, report: &RunReport, look: Look) {
    match (&report.out_of_memory, look.detail) {
        (Some(error), Detail::Brief) => brief::write(page, error),
        (Some(error), Detail::Full) => check::write(page, error),
        (None, _) => write_headline(page, report, look.prefix),
    }
    let remarks = list_remarks(report);
    if look.prefix.is_empty() && !remarks.is_empty() {
        page.line("");
    }
    for remark in &remarks {
        if look.prefix.is_empty() {
            page.paragraph("", remark);
        } else {
            page.copied(look.prefix, remark);
        }
    }
}

fn write_headline(page: &mut Page, report: &RunReport, prefix: &str) {
    if !prefix.is_empty() {
        return page.copied(prefix, &headline(report));
    }
    let styles = page.styles();
    let style = match report.end {
        _ if report.is_good() => styles.good,
        End::Good | End::Open => styles.unsure,
        End::Status { .. } | End::Signal { .. } => styles.bad,
    };
    page.styled_paragraph("", &headline(report), style);
}
