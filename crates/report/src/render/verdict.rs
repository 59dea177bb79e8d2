//! The head of a `check` report, for the terminal and the page: the verdict, the need, the failed request.

use std::collections::BTreeSet;

use trace::Bytes;

use super::blame;
use super::conditions::{list_assumed, list_open};
use super::figures::Figure;
use super::layout::{grouped, line_of, short_line, words_of, words_of_growth};
use super::phrases::{part_of, shorten_gpu, without_unit_of};
use super::size_search::recovered;
use super::stages;
use crate::check::{CheckReport, Gpu, Need, Oom, Usage, Verdict};
use crate::condition::Condition;
use crate::size_search::SizeSearch;

/// The verdict and its margin, then for a program that does not fit the cause with its place, and the change with its figure. A single sentence
/// has no full stop. The forms: docs/style/sentences.md.
pub(super) fn sentence(report: &CheckReport) -> String {
    match &report.verdict {
        Verdict::Fits { spare_bytes, search } => fits(report, *spare_bytes, search.as_ref(), "", ""),
        Verdict::FitsSoFar { spare_bytes, search, stopped, conditions } => {
            // An early end says itself after how many steps it came.
            let after = if stopped.is_some() { String::new() } else { after_steps(report) };
            let fits = fits(report, *spare_bytes, search.as_ref(), " so far", &after);
            format!("{fits}; {}", list_open(conditions, stopped.as_deref(), &report.folder))
        }
        Verdict::Oom { spare_bytes, assumed } => does_not_fit(report, *spare_bytes, assumed),
        Verdict::Incomplete { reason, .. } => {
            format!("incomplete{}: {reason}{}", name_unapplied(&report.unapplied), so_far(report))
        }
    }
}

/// `; 8.64 GiB of 23.64 GiB so far`, of a program that was stopped after it had used a GPU.
fn so_far(report: &CheckReport) -> String {
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
        1 => " after 1 step".to_owned(),
        steps => format!(" after {} steps", grouped(u64::from(steps))),
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
    facts.extend(stages::list_figures(report));
    facts.push(("ran", ran(report)));
    facts
}

/// ` with made-up data`; empty for data of the program's own.
pub(super) fn made_up(names: &[String]) -> &'static str {
    if names.is_empty() { "" } else { " with made-up data" }
}

/// `fits RTX 4090 so far: 5.11 GiB to spare after 10 steps (takes 18.53 of 23.64 GiB)`; `so_far` and `after` may be empty.
fn fits(report: &CheckReport, spare: Bytes, search: Option<&SizeSearch>, so_far: &str, after: &str) -> String {
    let (name, available) = (name_of_gpus(report), report.gpu.available_bytes());
    let takes = format!("takes {}{}", part_of(available - spare, available), on_fullest(report));
    let how = match search {
        Some(search) => format!(", {}", recovered(search, &report.folder)),
        None if without_limit(report).is_some() => ", but only by emptying PyTorch's cache".to_owned(),
        None => String::new(),
    };
    format!("fits {name}{so_far}: {spare} to spare{after} ({takes}){how}")
}

/// The figure of the run without a limit, where it is more than the device of a program that fits: PyTorch empties its cache.
pub(super) fn without_limit(report: &CheckReport) -> Option<Figure> {
    let need = report.need.usage.device_bytes;
    let is_over = report.verdict.is_fit() && report.verdict.search().is_none() && need > report.gpu.available_bytes();
    is_over.then(|| ("no limit", format!("a run without a limit takes {need} with what its cache keeps")))
}

fn does_not_fit(report: &CheckReport, spare: i64, assumed: &[Condition]) -> String {
    let start = format!("does not fit {}", name_of_gpus(report));
    if let Some(growth) = blame::find_filling_growth(report) {
        let full = blame::words_of_growth(growth, report);
        return join([
            Some(format!("{start}: {full}")),
            blame::words_of_holder(report),
            blame::words_of_change(report),
        ]);
    }
    let condition = list_assumed(assumed, &report.folder);
    let margin = words_of_margin(report, spare, &condition);
    let stage = stages::words_of_error(report).map_or_else(String::new, |words| format!("; {words}"));
    join([Some(start + &margin + &stage), blame::words_of_cause(report), blame::words_of_change(report)])
}

/// Joins sentences; one alone has no full stop.
fn join(sentences: [Option<String>; 3]) -> String {
    let sentences: Vec<String> = sentences.into_iter().flatten().collect();
    let end = if sentences.len() > 1 { "." } else { "" };
    sentences.join(". ") + end
}

/// `: needs 30.61 GiB, has 23.64: 6.97 GiB too little`, or as much as is known of a program without a known need.
fn words_of_margin(report: &CheckReport, spare: i64, condition: &str) -> String {
    let (need, available, missing) =
        (report.need.usage.device_bytes, report.gpu.available_bytes(), Bytes(spare.unsigned_abs()));
    if spare < 0 && !is_need_open(report) {
        let (least, has) = (words_of_least(&report.need), without_unit_of(available, need));
        let fullest = on_fullest(report);
        format!(": needs {least}{need}{fullest}, has {has}: {least}{missing} too little{condition}")
    } else if report.need.at_least.is_some() {
        let failed = report.oom.as_ref().and_then(|oom| words_of_failed(oom, &report.folder)).unwrap_or_default();
        let open = if report.mistake.is_none() { "; its whole need is not known" } else { "" };
        format!("{failed}{condition}{open}")
    } else {
        format!(", though it needs {missing} less than the device has{condition}")
    }
}

/// ` on the fullest`, where a job uses several GPUs.
fn on_fullest(report: &CheckReport) -> &'static str {
    if count_gpus(report) > 1 { " on the fullest" } else { "" }
}

/// True if the need is the bound that an error before the first whole step leaves.
fn is_need_open(report: &CheckReport) -> bool {
    report.need.at_least.is_some() && report.need.filling.is_none() && report.steps == 0 && report.oom.is_some()
}

/// `: 288.00 MiB could not be allocated (model.py:27)`; `None` without the size of the request.
fn words_of_failed(oom: &Oom, folder: &str) -> Option<String> {
    let line =
        oom.location.as_ref().map_or_else(String::new, |location| format!(" ({})", short_line(location, folder)));
    Some(format!(": {} could not be allocated{line}", oom.requested_bytes?))
}

/// `2 × H100`; the name alone for one.
fn name_of_gpus(report: &CheckReport) -> String {
    let devices = count_gpus(report);
    let count = if devices > 1 { format!("{devices} × ") } else { String::new() };
    let others = report.gpu.others_bytes;
    let beside = if others > Bytes::ZERO { format!(" beside {others} of others") } else { String::new() };
    let (data, unapplied) = (made_up(&report.made_up_data), name_unapplied(&report.unapplied));
    format!("{count}{}{beside}{data}{unapplied}", shorten_gpu(&report.gpu.name))
}

fn count_gpus(report: &CheckReport) -> usize {
    report.ranks.iter().map(|rank| rank.device).collect::<BTreeSet<u32>>().len()
}

/// ` without autocast, which was not applied`; empty if nothing was left out.
fn name_unapplied(remedies: &[String]) -> String {
    match remedies {
        [] => String::new(),
        [remedy] => format!(" without {remedy}, which was not applied"),
        remedies => format!(" without {}, which were not applied", remedies.join(" and ")),
    }
}

/// `22.04 GiB`, or `18.04 GiB (4.00 GiB of 22.04 GiB are used by others)`.
pub(super) fn words_of_available(gpu: &Gpu) -> String {
    match gpu.others_bytes {
        Bytes::ZERO => gpu.total_bytes.to_string(),
        others => format!("{} ({others} of {} are used by others)", gpu.available_bytes(), gpu.total_bytes),
    }
}

/// `at least ` for a need that was not seen whole.
fn words_of_least(need: &Need) -> &'static str {
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
