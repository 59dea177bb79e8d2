//! The report of `fit`: the plan, its lines, the other plans, and the remedies without effect.

use trace::Bytes;

use super::page::Page;
use super::{Detail, sections};
use crate::check::Usage;
use crate::finding::Location;
use crate::fit::{Effect, FitReport, FitVerdict, Plan, Tried, VramRow};
use crate::render::fit::{headline, line, named, price};
use crate::render::layout::keep_start;
use crate::words::count;

/// The number of other plans in the whole report, and in the answer.
const PLANS: usize = 6;
const ALTERNATIVES: usize = 2;
/// The number of lines to change in the answer.
const PLACES: usize = 4;
/// The number of parts shown of the memory that no change removes.
const PARTS: usize = 4;
/// The largest width of a remedy's name with figures on the same line.
const NAME: usize = 34;
/// The groups of remedies.
const HELPS: &str = "What each remedy does alone";
const NOTHING: &str = "What does nothing here";
const FAILS: &str = "What the program fails with";
const NOT_APPLICABLE: &str = "What does not apply";

/// Writes the answer: the plan, its cost, and how to apply it. The whole report has more plans and what each remedy does.
pub(super) fn write(page: &mut Page, report: &FitReport, detail: Detail) {
    let is_full = detail == Detail::Full;
    head(page, report, is_full);
    if let Some(plan) = report.plans.first() {
        places(page, plan, if is_full { usize::MAX } else { PLACES });
    }
    sizes(page, &report.by_vram);
    if is_full {
        plans(page, report);
        write_tried(page, report);
        sections::assumptions(page, &report.assumptions);
    }
    apply(page, report, is_full);
    sections::notes(page, report.notes.iter().map(String::as_str));
}

fn head(page: &mut Page, report: &FitReport, is_full: bool) {
    let styles = page.styles();
    let style = match report.verdict {
        FitVerdict::Fits => styles.good,
        FitVerdict::FitsWithPlan | FitVerdict::Unknown => styles.unsure,
        FitVerdict::DoesNotFit => styles.bad,
    };
    page.styled_paragraph("", &headline(report), style);
    page.line("");
    let before = &report.before;
    let now = if report.verdict == FitVerdict::Unknown { "so far" } else { "now" };
    page.fact(now, &usage(before));
    if let Some(plan) = report.plans.first() {
        page.fact("then", &then(plan));
        page.fact("results", &price(&plan.cost));
    }
    if let (FitVerdict::DoesNotFit, Some(floor)) = (report.verdict, &report.floor) {
        page.fact("floor", &format!("{}: {}", floor.peak.device_bytes, named(&floor.changes)));
    }
    if !report.floor_holds.is_empty() {
        page.fact("stays", &stays(report));
    }
    if let Some(gpu) = &report.smallest_gpu {
        page.fact("as it is", &format!("the smallest GPU is {} ({})", gpu.name, gpu.total_bytes));
    }
    batch(page, report);
    let end = if report.interrupted { ", interrupted" } else { "" };
    let kept = if report.kept > 0 { format!(", {} kept from before", report.kept) } else { String::new() };
    page.fact("search", &format!("{} dry runs{kept}, {:.1} s in all{end}", report.runs, report.seconds));
    if is_full {
        page.fact("oomph", &report.version);
    }
}

/// The memory that no change removes: the largest parts of the allocated bytes at the peak.
fn stays(report: &FitReport) -> String {
    let parts = report.floor_holds.iter().take(PARTS);
    let parts: Vec<String> = parts.map(|part| format!("{} {}", part.bytes, part.category.words())).collect();
    format!("{} at the peak", parts.join(", "))
}

fn then(plan: &Plan) -> String {
    let peak = &plan.peak;
    let retries = if plan.retries { "; PyTorch releases its cache to get through" } else { "" };
    format!("{}{retries}", usage(peak))
}

/// A killed process leaves no counters of PyTorch's: the device's are known alone.
fn usage(usage: &Usage) -> String {
    let Usage { device_bytes, reserved_bytes, allocated_bytes } = usage;
    let allocated = (*allocated_bytes > Bytes::ZERO).then(|| format!(", {allocated_bytes} allocated"));
    format!("{device_bytes} on the device, {reserved_bytes} reserved{}", allocated.unwrap_or_default())
}

fn batch(page: &mut Page, report: &FitReport) {
    if let Some(batch) = &report.batch {
        let is_open = report.verdict == FitVerdict::DoesNotFit && report.max_batch.is_none() && batch.size > 1;
        let next = if is_open { "; --max-batch finds the largest that fits" } else { "" };
        page.fact("batch", &format!("{} is {}{next}", batch.name, batch.size));
    }
    if let Some(most) = &report.max_batch {
        let each = most.bytes_per_sample.map_or_else(String::new, |bytes| format!(", {bytes} for each sample"));
        page.fact("largest", &format!("{} ({} dry runs{each})", most.size, most.runs));
        if let Some(smaller) = most.tried.iter().rfind(|tried| tried.size < most.size && !tried.fits) {
            page.fact(
                "",
                &format!(
                    "{} does not fit, though {} does: the allocator splits blocks differently",
                    smaller.size, most.size
                ),
            );
        }
    }
}

/// The next plans, how to make the first one permanent, and where the rest is.
fn apply(page: &mut Page, report: &FitReport, is_full: bool) {
    if is_full && report.next.is_none() {
        return;
    }
    page.line("");
    for plan in report.plans.iter().skip(1).take(if is_full { 0 } else { ALTERNATIVES }) {
        page.fact("or", &line(plan));
    }
    if let Some(next) = &report.next {
        page.command("  patch    ", next, "the same command with --emit diff prints the change");
    }
    if !is_full {
        let assumed = count(u64::try_from(report.assumptions.len()).unwrap_or(u64::MAX), "assumption", "assumptions");
        let rest = if report.assumptions.is_empty() { String::new() } else { format!(", with {assumed}") };
        page.fact("more", &format!("-v has all plans and what each remedy does alone{rest}, as --json"));
    }
}

/// The lines that the plan changes, `most` at most.
fn places(page: &mut Page, plan: &Plan, most: usize) {
    page.heading("What to change");
    for placed in plan.places.iter().take(most) {
        let location = Location { file: placed.file.clone(), line: placed.line, column: None };
        let place = if placed.line > 0 { format!("{}: ", page.line_of(&location)) } else { String::new() };
        page.paragraph("  - ", &format!("{place}{} ({})", placed.text, placed.remedy));
    }
    if plan.places.len() > most {
        page.line(&format!("  - {} more", plan.places.len() - most));
    }
    for change in plan.changes.iter().filter(|change| change.remedy == remedies::ALLOCATOR_SETTINGS) {
        if let Some(conf) = change.settings.get(remedies::setting::CONF).and_then(serde_json::Value::as_str) {
            page.copied("  ", &format!("export PYTORCH_CUDA_ALLOC_CONF={conf}"));
        }
    }
}

fn plans(page: &mut Page, report: &FitReport) {
    if report.plans.len() < 2 {
        return;
    }
    page.heading("Other plans that fit");
    for plan in report.plans.iter().skip(1).take(PLANS) {
        page.paragraph("  - ", &line(plan));
    }
}

fn sizes(page: &mut Page, rows: &[VramRow]) {
    if rows.is_empty() {
        return;
    }
    page.heading("By memory");
    for row in rows {
        let plan = match &row.plan {
            Some(plan) if plan.changes.is_empty() => "fits as it is".to_owned(),
            Some(plan) => line(plan),
            None => "no allowed change fits".to_owned(),
        };
        page.paragraph(&format!("  {:>10}  ", row.total_bytes.to_string()), &plan);
    }
}

fn write_tried(page: &mut Page, report: &FitReport) {
    for heading in [HELPS, NOTHING, FAILS, NOT_APPLICABLE] {
        let rows: Vec<&Tried> = report.tried.iter().filter(|tried| heading_of(&tried.effect) == heading).collect();
        if !rows.is_empty() {
            page.heading(heading);
        }
        let alike = |one: &&Tried, two: &&Tried| {
            one.change.remedy == two.change.remedy && words(one, report) == words(two, report)
        };
        for same in rows.chunk_by(alike) {
            let [first, others @ ..] = same else { continue };
            let alone = named(std::slice::from_ref(&first.change));
            let name = if others.is_empty() { alone } else { first.change.remedy.clone() };
            page.paragraph(&format!("  {:<NAME$}  ", keep_start(&name, NAME)), &words(first, report));
        }
    }
}

fn heading_of(effect: &Effect) -> &'static str {
    match effect {
        Effect::Helps { .. } => HELPS,
        Effect::Nothing { .. } => NOTHING,
        Effect::Fails { .. } => FAILS,
        Effect::NotApplicable { .. } => NOT_APPLICABLE,
    }
}

fn words(row: &Tried, report: &FitReport) -> String {
    match &row.effect {
        Effect::Helps { peak, cost } => {
            let saved = report.before.device_bytes - peak.device_bytes;
            format!("{saved} less: {}, {}", peak.device_bytes, price(cost))
        }
        Effect::Nothing { peak, why } => {
            let more = peak.device_bytes - report.before.device_bytes;
            let what = if more.0 == 0 { "0 bytes".to_owned() } else { format!("{more} more") };
            why.as_ref().map_or(what.clone(), |why| format!("{what}: {why}"))
        }
        Effect::NotApplicable { why } => why.clone(),
        Effect::Fails { message } => message.clone(),
    }
}
