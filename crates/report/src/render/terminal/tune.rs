//! The report of `tune`: the setting, its effect, and the basis of the figures.

use trace::Bytes;

use super::page::Page;
use super::sections;
use crate::render::layout::COLUMNS;
use crate::render::tune::{headline, named, price, standing_of};
use crate::tune::{EmptyCache, Guide, Measured, Recommendation, Setting, TuneReport};
use crate::words::count;

/// The number of rows in a list.
const ROWS: usize = 8;
/// The largest width of a setting's name with figures on the same line.
const NAME: usize = 34;

/// Writes the answer and its figures, then their basis.
pub(super) fn write(page: &mut Page, report: &TuneReport) {
    head(page, report);
    if let Some(recommended) = &report.recommended {
        lines(page, recommended);
    }
    front(page, report);
    guides(page, &report.guides);
    empty_cache(page, &report.empty_cache);
    traces(page, report);
    sections::notes(page, report.notes.iter().map(String::as_str));
}

fn head(page: &mut Page, report: &TuneReport) {
    let styles = page.styles();
    let style = match (&report.recommended, report.current.oom) {
        (Some(_), _) => styles.unsure,
        (None, false) => styles.good,
        (None, true) => styles.bad,
    };
    page.styled_paragraph("", &headline(report), style);
    page.line("");
    page.fact("now", &figures(&report.current));
    if let Some(recommended) = &report.recommended {
        page.fact("then", &figures(&recommended.setting));
        if let Some(measured) = &recommended.measured {
            page.fact("measured", &run(measured));
        }
        page.fact("standing", &format!("{}: {}", recommended.standing.word(), recommended.how));
    }
    page.fact("limit", &limit(report));
    page.fact("device", &device(report));
    page.fact("needs", &needs(report));
    page.fact("search", &search(report));
    page.fact("torch", &report.torch);
    page.fact("oomph", &report.version);
}

fn figures(setting: &Setting) -> String {
    let Setting { reserved_bytes, allocated_bytes, retries, oom, .. } = setting;
    let end = if *oom { "; runs out" } else { "" };
    let retries = count(*retries, "retry", "retries");
    let name = named(&setting.conf);
    format!("{reserved_bytes} reserved, {allocated_bytes} allocated, {retries}, {}{end} ({name})", price(setting))
}

/// A run of the real allocator under the setting.
fn run(measured: &Measured) -> String {
    let Measured { reserved_bytes, allocated_bytes, retries, oom, as_predicted } = measured;
    let end = if *oom { "; ran out" } else { "" };
    let word = if *as_predicted { "as predicted" } else { "not as predicted" };
    format!(
        "{reserved_bytes} reserved, {allocated_bytes} allocated, {}{end}, {word}",
        count(*retries, "retry", "retries")
    )
}

fn limit(report: &TuneReport) -> String {
    let packing = match report.packing_bytes {
        Some(bytes) if bytes == report.limit_bytes => ", and one that knows the program beforehand no more".to_owned(),
        Some(bytes) => format!("; {bytes} are enough for one that knows the program beforehand"),
        None => String::new(),
    };
    let above = report.recommended.as_ref().map_or_else(String::new, |recommended| {
        format!("; what is recommended reserves {} more", recommended.above_limit_bytes)
    });
    format!("{} are alive at once: no allocator needs less{packing}{above}", report.limit_bytes)
}

fn device(report: &TuneReport) -> String {
    match &report.device {
        Some(device) => format!("{}: {}, {} for PyTorch", device.name, device.total_bytes, device.usable_bytes),
        None => "unlimited (--gpu or --vram sets a limit)".to_owned(),
    }
}

fn needs(report: &TuneReport) -> String {
    let needs = &report.needs;
    let now = needs.current_bytes.map(|bytes| format!("out of memory below {bytes} for PyTorch now"));
    let then = needs.recommended_bytes.map(|bytes| format!("below {bytes} then"));
    let parts: Vec<String> = [now, then].into_iter().flatten().collect();
    if parts.is_empty() { "not looked for".to_owned() } else { parts.join(", ") }
}

fn search(report: &TuneReport) -> String {
    let search = &report.search;
    let end = if search.interrupted { ", interrupted" } else { "" };
    format!(
        "{} settings, {} that differ here replayed; {:.1} s in all{end}",
        search.considered, search.replayed, report.seconds
    )
}

/// Lines to copy, never broken.
fn lines(page: &mut Page, recommended: &Recommendation) {
    page.heading("Set it");
    let lines = &recommended.lines;
    let all =
        [("bash", &lines.bash), ("PowerShell", &lines.powershell), ("cmd", &lines.cmd), ("Python", &lines.python)];
    for (name, line) in all {
        page.line(&format!("  {name}"));
        page.copied("    ", line);
    }
    if let Some(plain) = &recommended.without_expandable {
        page.paragraph("  ", &format!("Without expandable segments: {}", figures(plain)));
    }
}

fn front(page: &mut Page, report: &TuneReport) {
    let front = &report.front;
    if front.len() < 2 {
        return;
    }
    page.heading("Less memory for more time in calls");
    for setting in spread(front) {
        row(page, setting, &price(setting));
    }
    let model = &report.cost_model;
    let assumed = format!(
        "Assumed, not measured: cudaMalloc {} us, cudaFree {} us, a page mapped or unmapped {} us, a retry {} us.",
        model.cuda_malloc_us, model.cuda_free_us, model.page_us, model.retry_us
    );
    page.paragraph("  ", &assumed);
}

/// Samples a list: both ends, and evenly spaced rows between them.
fn spread(front: &[Setting]) -> Vec<&Setting> {
    if front.len() <= ROWS {
        return front.iter().collect();
    }
    (0..ROWS).filter_map(|index| front.get(index * (front.len() - 1) / (ROWS - 1))).collect()
}

fn guides(page: &mut Page, guides: &[Guide]) {
    if guides.is_empty() {
        return;
    }
    page.heading("What is often recommended, on this program");
    for guide in guides {
        match &guide.refused {
            Some(reason) => page.paragraph("  ", &format!("{}: refused: {reason}", guide.setting.conf)),
            None => row(
                page,
                &guide.setting,
                &format!("{:>12}  {}", format_change(guide.change_bytes), guide.effect.word()),
            ),
        }
    }
}

/// `+1.45 GiB`, `-590.00 MiB`, `0 B`.
fn format_change(bytes: i64) -> String {
    let sign = match bytes {
        ..0 => "-",
        0 => "",
        1.. => "+",
    };
    format!("{sign}{}", Bytes(bytes.unsigned_abs()))
}

/// A setting and its figures, on two lines for a long name.
fn row(page: &mut Page, setting: &Setting, rest: &str) {
    let name = named(&setting.conf);
    let figures = format!("{:>11}  {rest}", setting.reserved_bytes.to_string());
    if name.chars().count() <= NAME {
        page.line(&format!("  {name:<NAME$}{figures}"));
    } else {
        page.copied("  ", name);
        page.line(&format!("  {:<NAME$}{figures}", ""));
    }
}

fn empty_cache(page: &mut Page, tried: &[EmptyCache]) {
    if tried.is_empty() {
        return;
    }
    page.heading("torch.cuda.empty_cache(), under the current settings");
    for one in tried {
        let text = format!("{}, {} times: {}", one.at, one.times, figures_of_calls(&one.setting));
        page.paragraph("  - ", &text);
    }
}

fn figures_of_calls(setting: &Setting) -> String {
    let end = if setting.oom { "; runs out" } else { "" };
    format!("{} reserved, {}{end}", setting.reserved_bytes, price(setting))
}

fn traces(page: &mut Page, report: &TuneReport) {
    page.heading("Replayed");
    for trace in report.traces.iter().take(ROWS) {
        let path = if trace.path == "-" { "standard input" } else { page.path(&trace.path) };
        let rank = trace.rank.map_or_else(String::new, |rank| format!(" rank {rank},"));
        let text = format!("{path}:{rank} cuda:{}, {} events; {}", trace.device.0, trace.events, standing_of(trace));
        page.paragraph("  - ", &text);
    }
    if report.traces.len() > ROWS {
        page.line(&format!("    and {} more", report.traces.len() - ROWS));
    }
}

const _: () = assert!(NAME + 15 < COLUMNS);
