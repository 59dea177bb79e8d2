//! The report of `fit`: the plan, its lines, the other plans, and the remedies without effect.

use options::Form;
use trace::Bytes;

use super::page::Page;
use super::{Detail, sections};
use crate::check::Usage;
use crate::finding::Location;
use crate::fit::{
    Effect, Exactness, FitCause, FitReport, FitVerdict, MaxBatch, Mend, NextGpu, OwnSetting, Placed, Plan, Prefer,
    Tried, VramRow,
};
use crate::render::fit::{headline, line, named, own_setting, price};
use crate::render::layout::keep_start;
use crate::render::phrases::without_unit_of;
use crate::words::count;

/// The number of other plans in the whole report, and in the answer.
const PLANS: usize = 6;
const ALTERNATIVES: usize = 2;
/// The number of lines to change in the answer.
const PLACES: usize = 3;
/// The number of parts shown of the memory that no change removes.
const PARTS: usize = 4;
/// The largest width of a remedy's name with figures on the same line.
const NAME: usize = 34;
/// The groups of remedies.
const HELPS: &str = "What each remedy does alone";
const NOTHING: &str = "What does nothing here";
const FAILS: &str = "What the program fails with";
const NOT_APPLICABLE: &str = "What does not apply";

/// Writes the answer: the change, its cost, and how to apply it. The whole report has more plans and what each remedy does.
pub(super) fn write(page: &mut Page, report: &FitReport, detail: Detail) {
    let is_full = detail == Detail::Full;
    head(page, report);
    if let Some(most) = &report.max_batch {
        largest(page, report, most);
    } else {
        plan(page, report, is_full);
    }
    if is_full || report.max_batch.is_none() {
        search(page, report, is_full);
    }
    sizes(page, &report.by_vram);
    if is_full {
        plans(page, report);
        write_tried(page, report);
        sections::assumptions(page, &report.assumptions);
    }
    sections::notes(page, report.notes.iter().map(String::as_str));
}

fn head(page: &mut Page, report: &FitReport) {
    let styles = page.styles();
    let style = match report.verdict {
        FitVerdict::Fits => styles.good,
        FitVerdict::FitsWithPlan | FitVerdict::Unknown => styles.unsure,
        FitVerdict::DoesNotFit => styles.bad,
    };
    page.styled_paragraph("", &headline(report), style);
    if report.max_batch.is_none() {
        page.line("");
    }
}

/// What to change, before and after, the price, the next plans.
fn plan(page: &mut Page, report: &FitReport, is_full: bool) {
    if let Some(cause) = &report.cause {
        page.fact("mistake", &format!("{} ({})", cause.what, cause.rule));
        match &cause.mend {
            Some(mend) => mended(page, report, cause, mend),
            None => said(page, report, cause),
        }
        let keeps_mistake = cause.mend.as_ref().is_none_or(|mend| mend.is_enough);
        if keeps_mistake {
            for plan in report.plans.iter().take(usize::from(!is_full)) {
                page.fact("else", &format!("with the mistake: {}", line(plan)));
            }
            return;
        }
    }
    if let Some(plan) = report.plans.first() {
        changes(page, plan, if is_full { usize::MAX } else { PLACES });
        page.fact("memory", &before_and_after(&report.before, plan));
        page.fact("price", &price(&plan.cost));
        for plan in report.plans.iter().skip(1).take(if is_full { 0 } else { ALTERNATIVES }) {
            page.fact("or", &line(plan));
        }
        if report.next.is_some() && edits_files(plan) {
            page.fact("apply", "the same command with --apply; with --emit diff it prints the patch");
        }
    } else {
        let now = if report.verdict == FitVerdict::Unknown { "so far" } else { "now" };
        page.fact(now, &usage(&report.before));
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
    if let Some(batch) = report.batch.as_ref().filter(|_| is_full || report.verdict == FitVerdict::DoesNotFit) {
        let is_open = report.verdict == FitVerdict::DoesNotFit && batch.size > 1;
        let next = if is_open { "; --max-batch finds the largest that fits" } else { "" };
        page.fact("batch", &format!("{} is {}{next}", batch.name, batch.size));
    }
}

/// The lines of a mend that the program ran with.
fn mended(page: &mut Page, report: &FitReport, cause: &FitCause, mend: &Mend) {
    for (index, edit) in mend.edits.iter().enumerate() {
        let location = Location { file: cause.file.clone(), line: edit.line, column: None };
        let change = if edit.mended_line.is_empty() { "delete the line" } else { &edit.mended_line };
        page.fact(if index == 0 { "mend" } else { "" }, &format!("{}: {change}", page.line_of(&location)));
    }
    if mend.is_enough {
        let (before, after) = (&report.before, &mend.peak);
        page.fact("memory", &from_to(before, after, ""));
        let price = if mend.is_safe { "identical results" } else { "the results may differ: read the change" };
        page.fact("price", price);
        page.fact("apply", "the same command with --apply; with --emit diff it prints the patch");
    }
}

/// A mistake that is mended by hand.
fn said(page: &mut Page, report: &FitReport, cause: &FitCause) {
    if cause.is_mended_by_lint {
        page.fact("mend", &format!("oomph lint --diff {} shows it, --fix makes it", page.path(&cause.file)));
    }
    page.fact("memory", &format!("{} on the device with the mistake", report.before.device_bytes));
}

/// True if a plan changes files, not the command line alone.
fn edits_files(plan: &Plan) -> bool {
    let is_of_file = |setting: &OwnSetting| options::form_of(&setting.key) == Form::File;
    plan.settings.iter().any(is_of_file) || plan.list_edits().next().is_some()
}

/// The changes of a plan: the program's own settings, the command line with them, then at most `most` lines of the source.
fn changes(page: &mut Page, plan: &Plan, most: usize) {
    let own = plan.settings.iter().map(|setting| {
        let now = options::to_text(&setting.from);
        let is_flag =
            setting.from.is_null() || (setting.from.is_boolean() && setting.to == serde_json::Value::Bool(true));
        let now = if is_flag { String::new() } else { format!(" (now {now})") };
        format!("{}{now}", own_setting(&setting.key, &setting.to))
    });
    let of_allocator = plan.changes.iter().filter(|change| change.remedy == remedies::ALLOCATOR_SETTINGS);
    let conf = of_allocator.filter_map(|change| change.settings.get(remedies::setting::CONF)?.as_str());
    let conf = conf.map(|conf| format!("PYTORCH_CUDA_ALLOC_CONF={conf} in the environment"));
    let shown = |placed: &&Placed| plan.list_edits().any(|change| change.remedy == placed.remedy);
    let edits: Vec<&Placed> = plan.places.iter().filter(shown).collect();
    let more = edits.len().saturating_sub(most);
    let lines = edits.iter().take(most).map(|placed| {
        let location = Location { file: placed.file.clone(), line: placed.line, column: None };
        let place = if placed.line > 0 { format!("{}: ", page.line_of(&location)) } else { String::new() };
        format!("{place}{}", placed.text)
    });
    let more = (more > 0).then(|| format!("and {more} more lines (-v)"));
    let all: Vec<String> = own.chain(conf).chain(lines).chain(more).collect();
    for (index, line) in all.iter().enumerate() {
        page.fact(if index == 0 { "change" } else { "" }, line);
    }
    if !plan.command.is_empty() {
        page.command("  run      ", &plan.command, "the command line with these values (`command` in --json)");
    }
}

fn before_and_after(before: &Usage, plan: &Plan) -> String {
    let retries = if plan.retries { "; PyTorch releases its cache to get through" } else { "" };
    from_to(before, &plan.peak, retries)
}

/// `119.53 -> 15.82 GiB on the device, 107.32 -> 14.11 GiB allocated`.
fn from_to(before: &Usage, after: &Usage, retries: &str) -> String {
    let pair = |before: Bytes, after: Bytes| format!("{} -> {after}", without_unit_of(before, after));
    let allocated = (after.allocated_bytes > Bytes::ZERO && before.allocated_bytes > Bytes::ZERO)
        .then(|| format!(", {} allocated", pair(before.allocated_bytes, after.allocated_bytes)));
    format!("{} on the device{}{retries}", pair(before.device_bytes, after.device_bytes), allocated.unwrap_or_default())
}

/// The memory that no change removes: the largest parts of the allocated bytes at the peak.
fn stays(report: &FitReport) -> String {
    let parts = report.floor_holds.iter().take(PARTS);
    let parts: Vec<String> = parts.map(|part| format!("{} {}", part.bytes, part.category.words())).collect();
    format!("{} at the peak", parts.join(", "))
}

/// A killed process leaves no counters of PyTorch's: the device's are known alone.
fn usage(usage: &Usage) -> String {
    let Usage { device_bytes, reserved_bytes, allocated_bytes } = usage;
    let allocated = (*allocated_bytes > Bytes::ZERO).then(|| format!(", {allocated_bytes} allocated"));
    format!("{device_bytes} on the device, {reserved_bytes} reserved{}", allocated.unwrap_or_default())
}

/// The largest size: what a further unit takes, and what the next GPU allows.
fn largest(page: &mut Page, report: &FitReport, most: &MaxBatch) {
    if most.independent {
        return page.fact("size", "--batch-arg NAME names another option or variable");
    }
    let now = report.batch.as_ref().map_or_else(String::new, |batch| format!("{} is {} now", batch.name, batch.size));
    let each = most.bytes_per_sample.map_or_else(String::new, |bytes| format!(", each further one takes {bytes}"));
    let smaller = most.tried.iter().rfind(|tried| tried.size < most.size && !tried.fits);
    let gap = smaller.map_or_else(String::new, |smaller| {
        format!("; {} does not fit, though {} does: the allocator splits blocks differently", smaller.size, most.size)
    });
    page.fact("size", &format!("{now}{each}{gap} ({} dry runs, {:.1} s)", report.runs + report.kept, report.seconds));
    if let Some(NextGpu { gpu, size }) = &most.next_gpu {
        page.fact("more", &format!("about {size} on {} ({})", gpu.name, gpu.total_bytes));
    }
}

/// The work of the search, the order of its plans, and where the rest is.
fn search(page: &mut Page, report: &FitReport, is_full: bool) {
    let end = if report.interrupted { ", interrupted" } else { "" };
    let kept = if report.kept > 0 { format!(", {} kept from before", report.kept) } else { String::new() };
    let is_exact = report.plans.first().is_none_or(|plan| plan.cost.exactness <= Exactness::UpToRounding);
    let keeps_mistake = report.cause.as_ref().is_some_and(|cause| cause.mend.is_none());
    let order = match report.prefer {
        _ if keeps_mistake && report.plans.is_empty() => "; --try-all looks for plans that keep the mistake",
        Prefer::Options if !is_exact => "; --prefer results looks for plans with the same results",
        _ if report.plans.len() < 2 => "",
        Prefer::Options => "; the program's own options come first (--prefer)",
        Prefer::Results => "; the same results come first (--prefer)",
        Prefer::Time => "; the least time comes first (--prefer)",
        Prefer::Edits => "; the fewest edits come first (--prefer)",
    };
    page.fact("search", &format!("{} dry runs{kept}, {:.1} s in all{end}{order}", report.runs, report.seconds));
    if is_full {
        return page.fact("oomph", &report.version);
    }
    let assumed = count(u64::try_from(report.assumptions.len()).unwrap_or(u64::MAX), "assumption", "assumptions");
    let rest = if report.assumptions.is_empty() { String::new() } else { format!(", {assumed}") };
    page.fact("more", &format!("-v: all plans, what each remedy does alone{rest}; --json the same"));
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
