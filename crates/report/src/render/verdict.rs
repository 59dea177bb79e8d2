//! The head of a `check` report, for the terminal and the page: the verdict, the need, the failed request.

use trace::Bytes;

use super::facts::Fact;
use super::layout::{line_of, words_of, words_of_growth};
use crate::check::{CheckReport, Oom, Usage, Verdict};

/// The verdict in a sentence without a full stop.
pub(super) fn sentence(report: &CheckReport) -> String {
    match &report.verdict {
        Verdict::Fits => format!("fits {}", spare(report)),
        Verdict::Oom => format!("does not fit {}", spare(report)),
        Verdict::Incomplete { reason } => format!("incomplete: {reason}"),
    }
}

/// The figures behind the verdict.
pub(super) fn facts(report: &CheckReport) -> Vec<Fact> {
    let mut facts = Vec::new();
    if report.verdict == Verdict::Oom {
        facts.push(("needs", usage(&report.need)));
    }
    facts.extend([("peak", peak(report)), ("device", device(report))]);
    facts.extend(report.oom.iter().flat_map(|oom| ran_out(oom, &report.folder)));
    facts.extend(report.growth.as_ref().map(|growth| ("growth", words_of_growth(growth))));
    facts.push(("ran", ran(report)));
    facts
}

fn spare(report: &CheckReport) -> String {
    let name = &report.gpu.name;
    let bytes = Bytes(report.spare_bytes.unsigned_abs());
    match report.verdict {
        Verdict::Oom if report.spare_bytes < 0 => format!("{name}: {bytes} too little"),
        _ if report.spare_bytes < 0 => {
            format!("{name}, though with room it would take {bytes} more than there is")
        }
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

fn ran_out(oom: &Oom, folder: &str) -> Vec<Fact> {
    let asked = oom.requested_bytes.map(|bytes| format!("{bytes} requested"));
    let mut text = asked.unwrap_or_else(|| "a library's request".to_owned());
    let place = words_of(&oom.place);
    if !place.is_empty() {
        text = format!("{text} at {place}");
    }
    if let Some(location) = &oom.location {
        text = format!("{text}, {}", line_of(location, folder));
    }
    let words = ("PyTorch", oom.message.clone());
    [("ran out", text), words].into_iter().filter(|(_, text)| !text.is_empty()).collect()
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
