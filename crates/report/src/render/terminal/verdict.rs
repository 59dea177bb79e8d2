//! The head of the report: does it fit, how much does it take, where does it run out.

use trace::Bytes;

use super::page::Page;
use crate::check::{CheckReport, Oom, Usage, Verdict};
use crate::render::layout::{words_of, words_of_growth};

/// The verdict and the figures that decide it.
pub(super) fn write(page: &mut Page, report: &CheckReport) {
    headline(page, report);
    page.line("");
    if report.verdict == Verdict::Oom {
        page.fact("needs", &usage(&report.need));
    }
    page.fact("peak", &peak(report));
    page.fact("device", &device(report));
    if let Some(oom) = &report.oom {
        ran_out(page, oom);
    }
    if let Some(growth) = &report.growth {
        page.fact("growth", &words_of_growth(growth));
    }
    page.fact("ran", &ran(report));
}

fn headline(page: &mut Page, report: &CheckReport) {
    let styles = page.styles();
    let (words, style) = match &report.verdict {
        Verdict::Fits => (format!("fits {}", spare(report)), styles.good),
        Verdict::Oom => (format!("does not fit {}", spare(report)), styles.bad),
        Verdict::Incomplete { reason } => (format!("incomplete: {reason}"), styles.unsure),
    };
    page.styled_paragraph("", &words, style);
}

fn spare(report: &CheckReport) -> String {
    let name = &report.gpu.name;
    let bytes = Bytes(report.spare_bytes.unsigned_abs());
    if report.spare_bytes < 0 {
        return format!("{name}: {bytes} too little");
    }
    match report.verdict {
        Verdict::Oom => format!("{name}, though its need is {bytes} less than the device has"),
        _ => format!("{name}: {bytes} to spare"),
    }
}

fn usage(usage: &Usage) -> String {
    format!(
        "{} on the device ({} allocated, {} reserved)",
        usage.device_bytes, usage.allocated_bytes, usage.reserved_bytes
    )
}

fn peak(report: &CheckReport) -> String {
    let place = words_of(&report.peak.place);
    let at = if place.is_empty() { "" } else { ", at " };
    format!("{}{at}{place}", usage(&report.peak.usage))
}

fn device(report: &CheckReport) -> String {
    let gpu = &report.gpu;
    let chosen = if gpu.assumed { " (no GPU was named: this one is assumed)" } else { "" };
    format!("{} less {} for the CUDA context leaves {}{chosen}", gpu.total_bytes, gpu.context_bytes, gpu.usable_bytes)
}

fn ran_out(page: &mut Page, oom: &Oom) {
    let mut text = format!("{} requested", oom.requested_bytes);
    let place = words_of(&oom.place);
    if !place.is_empty() {
        text = format!("{text} at {place}");
    }
    if let Some(location) = &oom.location {
        text = format!("{text}, {}", page.line_of(location));
    }
    page.fact("ran out", &text);
    if !oom.message.is_empty() {
        page.fact("PyTorch", &oom.message);
    }
}

fn ran(report: &CheckReport) -> String {
    let torch = report.torch.as_ref();
    let torch = torch.map_or_else(String::new, |torch| format!(" with PyTorch {torch}"));
    let steps = match report.steps {
        1 => "1 optimizer step".to_owned(),
        n => format!("{n} optimizer steps"),
    };
    format!("{steps}{torch} in {:.1} s, oomph {}", report.seconds, report.version)
}
