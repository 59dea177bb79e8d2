//! The head of a `check` report, for the terminal and the page: the verdict, the need, the failed request.

use std::collections::BTreeSet;

use causes::{CauseId, Role};
use trace::Bytes;

use super::conditions::{list_assumed, list_open};
use super::figures::Figure;
use super::layout::{grouped, line_of, words_of, words_of_growth};
use super::size_search::recovered;
use crate::check::{CheckReport, Condition, Gpu, Growth, Keeper, Need, Oom, Usage, Verdict};
use crate::finding::Without;
use crate::size_search::SizeSearch;
use crate::words::count;

/// The verdict in a sentence without a full stop.
pub(super) fn sentence(report: &CheckReport) -> String {
    let verdict = words_of_verdict(report);
    match report.unapplied.as_slice() {
        [] => verdict,
        [remedy] => format!("{remedy} was not applied: without it, the program {verdict}"),
        remedies => format!("{} were not applied: without them, the program {verdict}", remedies.join(" and ")),
    }
}

fn words_of_verdict(report: &CheckReport) -> String {
    match &report.verdict {
        Verdict::Fits { spare_bytes, search } => fits(report, *spare_bytes, search.as_ref(), ""),
        Verdict::FitsSoFar { spare_bytes, search, stopped, conditions } => {
            let fits = fits(report, *spare_bytes, search.as_ref(), " so far");
            // An early end says itself after how many steps it came.
            let after = if stopped.is_some() { String::new() } else { after_steps(report) };
            format!("{fits}{after}; {}", list_open(conditions, stopped.as_deref(), &report.folder))
        }
        Verdict::Oom { spare_bytes, assumed } => does_not_fit(report, *spare_bytes, assumed),
        Verdict::Incomplete { reason, .. } => {
            let is = if report.unapplied.is_empty() { "" } else { "is " };
            format!("{is}incomplete: {reason}{}", so_far(report))
        }
    }
}

/// `; 8.64 GiB of 23.64 GiB so far`, of a program that was stopped after it had used a GPU.
pub(super) fn so_far(report: &CheckReport) -> String {
    let peak = report.peak.usage.device_bytes;
    match &report.stop {
        Some(_) if peak > Bytes::ZERO => format!("; {peak} of {} so far", words_of_available(&report.gpu)),
        _ => String::new(),
    }
}

/// ` after 3 steps`; empty for a program without steps.
fn after_steps(report: &CheckReport) -> String {
    match report.steps {
        0 => String::new(),
        steps => format!(" after {}", count(u64::from(steps), "step", "steps")),
    }
}

/// The figures behind the verdict.
pub(super) fn facts(report: &CheckReport) -> Vec<Figure> {
    let mut facts = Vec::new();
    if report.verdict.is_oom() {
        facts.push(("needs", need(&report.need)));
    }
    facts.extend([("peak", peak(report)), ("device", device(report))]);
    facts.extend(without_limit(report));
    facts.extend(report.oom.iter().flat_map(|oom| ran_out(oom, &report.folder)));
    facts.extend(report.growth.as_ref().map(|growth| ("growth", words_of_growth(growth))));
    facts.push(("ran", ran(report)));
    facts
}

/// ` with made-up data`; empty for data of the program's own.
pub(super) fn made_up(names: &[String]) -> &'static str {
    if names.is_empty() { "" } else { " with made-up data" }
}

/// `so_far`: empty, or the words that follow `fits` and the GPU.
fn fits(report: &CheckReport, spare: Bytes, search: Option<&SizeSearch>, so_far: &str) -> String {
    let name = name_of_gpus(report);
    match search {
        Some(search) => format!("fits {name}{so_far} {}: {spare} to spare", recovered(search, &report.folder)),
        None if without_limit(report).is_some() => {
            format!("fits {name}{so_far}, but only by emptying PyTorch's cache: {spare} to spare")
        }
        None => format!("fits {name}{so_far}: {spare} to spare"),
    }
}

/// The figure of the run without a limit, where it is more than the device of a program that fits: PyTorch empties its cache.
pub(super) fn without_limit(report: &CheckReport) -> Option<Figure> {
    let need = report.need.usage.device_bytes;
    let is_over = report.verdict.is_fit() && report.verdict.search().is_none() && need > report.gpu.available_bytes();
    is_over.then(|| ("no limit", format!("a run without a limit takes {need} with what its cache keeps")))
}

fn does_not_fit(report: &CheckReport, spare: i64, assumed: &[Condition]) -> String {
    let (name, bytes) = (name_of_gpus(report), Bytes(spare.unsigned_abs()));
    let full = report.growth.as_ref().and_then(|growth| full_at(growth, &report.folder));
    if let Some(full) =
        full.filter(|_| report.mistake.is_none_or(|cause| cause.role() == Role::Growth || is_holder(cause)))
    {
        let holder =
            report.findings.first().filter(|finding| report.mistake == Some(finding.rule) && is_holder(finding.rule));
        let holder = holder.map_or_else(String::new, |finding| format!("; {}", finding.message));
        return format!("does not fit {name}: {full}{holder}");
    }
    let condition = list_assumed(assumed, &report.folder);
    if let Some(mistake) = words_of_mistake(report).filter(|_| assumed.is_empty()) {
        return format!("does not fit {name}: {mistake}");
    }
    if spare < 0 && !is_need_open(report) {
        format!("does not fit {name}: {}{bytes} too little{condition}", words_of_least(&report.need))
    } else if report.need.at_least.is_some() {
        let failed = report.oom.as_ref().and_then(|oom| words_of_failed(oom, &report.folder));
        format!("does not fit {name}{}{condition}; what it needs in all is not known", failed.unwrap_or_default())
    } else {
        format!("does not fit {name}{condition}, though its need is {bytes} less than the device has")
    }
}

/// True if the need is the bound that an error before the first whole step leaves.
fn is_need_open(report: &CheckReport) -> bool {
    report.need.at_least.is_some() && report.need.filling.is_none() && report.steps == 0 && report.oom.is_some()
}

/// `: 288.00 MiB could not be allocated (model.py:27)`; `None` without the size of the request.
fn words_of_failed(oom: &Oom, folder: &str) -> Option<String> {
    let line = oom.location.as_ref().map_or_else(String::new, |location| format!(" ({})", line_of(location, folder)));
    Some(format!(": {} could not be allocated{line}", oom.requested_bytes?))
}

/// True for a cause that names the holder of a loop's tensors.
fn is_holder(cause: CauseId) -> bool {
    matches!(cause, CauseId::ExceptionHoldsFrames | CauseId::ReferenceCycle)
}

/// The mistake, with the line and the peak up to the failed request without the mistake.
fn words_of_mistake(report: &CheckReport) -> Option<String> {
    let finding = report.findings.first().filter(|finding| Some(finding.rule) == report.mistake)?;
    let line = finding.location.as_ref().map(|location| format!(" ({})", line_of(location, &report.folder)));
    let freed = finding.without.filter(Without::lowers_peak);
    let without = freed.map(|Without { before_bytes, after_bytes, .. }| {
        format!("; without it at most {after_bytes} would be allocated by then, not {before_bytes}")
    });
    Some(format!("{}{}{}", finding.message, line.unwrap_or_default(), without.unwrap_or_default()))
}

/// `full at step 9 of 1,000, as 0.50 GiB stay of each (train.py:41)`, or `full at pass 9 of the loop at eval.py:7, …`; `None` if it never is.
fn full_at(growth: &Growth, folder: &str) -> Option<String> {
    let of = growth.of_iterations.map_or_else(String::new, |total| format!(" of {}", grouped(total)));
    let line =
        growth.location.as_ref().map_or_else(String::new, |location| format!(" ({})", line_of(location, folder)));
    let step = growth.full_at.filter(|_| !growth.is_harmless())?;
    let at = growth.loop_at.as_ref().map_or_else(String::new, |at| format!(" of the loop at {}", line_of(at, folder)));
    let (unit, step) = (growth.unit(), grouped(u64::from(step)));
    let keeper = growth.keeper.as_ref().map_or_else(String::new, |keeper| words_of_keeper(keeper, growth, folder));
    Some(format!("full at {unit} {step}{of}{at}, as {} stay of each{line}{keeper}", growth.bytes_per_iteration))
}

/// `, in the dict `features` of Extractor (store.py:12)`, without the line that allocates.
fn words_of_keeper(keeper: &Keeper, growth: &Growth, folder: &str) -> String {
    let other = keeper.location.as_ref().filter(|at| Some(*at) != growth.location.as_ref());
    let line = other.map_or_else(String::new, |at| format!(" ({})", line_of(at, folder)));
    format!(", in {}{line}", keeper.container)
}

/// `2 × NVIDIA H100`; the name alone for one.
fn name_of_gpus(report: &CheckReport) -> String {
    let devices: BTreeSet<u32> = report.ranks.iter().map(|rank| rank.device).collect();
    let count = if devices.len() > 1 { format!("{} × ", devices.len()) } else { String::new() };
    let others = report.gpu.others_bytes;
    let beside = if others > Bytes::ZERO { format!(" beside {others} of others") } else { String::new() };
    format!("{count}{}{beside}{}", report.gpu.name, made_up(&report.made_up_data))
}

/// `22.04 GiB`, or `18.04 GiB (4.00 GiB of 22.04 GiB are used by others)`.
pub(super) fn words_of_available(gpu: &Gpu) -> String {
    match gpu.others_bytes {
        Bytes::ZERO => gpu.total_bytes.to_string(),
        others => format!("{} ({others} of {} are used by others)", gpu.available_bytes(), gpu.total_bytes),
    }
}

/// `at least ` for a need that was not seen whole.
pub(super) fn words_of_least(need: &Need) -> &'static str {
    if need.at_least.is_some() { "at least " } else { "" }
}

/// `at least 26.45 GiB on the device: the reason`.
pub(super) fn need_on_device(need: &Need) -> String {
    let cached =
        need.unlimited_bytes.map(|bytes| format!("without a limit {bytes}: its cache keeps blocks of many sizes"));
    let expandable = need.expandable_bytes.map(|bytes| format!("{bytes} with expandable segments"));
    let reasons: Vec<&str> = expandable.iter().chain(&cached).chain(&need.at_least).map(String::as_str).collect();
    let reason = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join("; ")) };
    format!("{}{} on the device{reason}", words_of_least(need), need.usage.device_bytes)
}

fn need(need: &Need) -> String {
    let reason = need.at_least.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
    format!("{}{}{reason}", words_of_least(need), usage(&need.usage))
}

fn usage(usage: &Usage) -> String {
    // A killed process leaves no counters of PyTorch's: the device's are known alone.
    let allocated = (usage.allocated_bytes > Bytes::ZERO).then(|| format!("{} allocated, ", usage.allocated_bytes));
    format!("{} on the device ({}{} reserved)", usage.device_bytes, allocated.unwrap_or_default(), usage.reserved_bytes)
}

fn peak(report: &CheckReport) -> String {
    let place = words_of(&report.peak.place);
    let at = if place.is_empty() { "" } else { ", at " };
    format!("{}{at}{place}", usage(&report.peak.usage))
}

fn device(report: &CheckReport) -> String {
    let gpu = &report.gpu;
    let chosen = if gpu.assumed { " (no GPU was named: this one is assumed)" } else { "" };
    let others = (gpu.others_bytes > Bytes::ZERO).then(|| format!(" less {} of other processes", gpu.others_bytes));
    let others = others.unwrap_or_default();
    let (total, context, usable) = (gpu.total_bytes, gpu.context_bytes, gpu.usable_bytes);
    format!("{total}{others} less {context} for the CUDA context leaves {usable}{chosen}")
}

fn ran_out(oom: &Oom, folder: &str) -> Vec<Figure> {
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

/// `3 optimizer steps with PyTorch 2.11.0 in 4.2 s, oomph 0.1.0`; the steps are those under the limit.
pub(super) fn ran(report: &CheckReport) -> String {
    let torch = report.torch.as_ref();
    let torch = torch.map_or_else(String::new, |torch| format!(" with PyTorch {torch}"));
    let steps = match report.steps {
        1 => "1 optimizer step".to_owned(),
        n => format!("{n} optimizer steps"),
    };
    let again = if report.need.filling.is_some() { ", then again without a limit," } else { "" };
    format!("{steps}{again}{torch} in {:.1} s, oomph {}", report.seconds, report.version)
}
