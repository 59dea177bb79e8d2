//! The report of `check` in some fifteen lines: the verdict, what fills the memory, the finding that matters, the next command.

use std::cmp::Reverse;

use causes::Role;
use trace::Bytes;

use super::page::Page;
use crate::breakdown::{Breakdown, Contents, Part};
use crate::check::{CheckReport, Growth, Oom, Place, Site};
use crate::finding::{Finding, Severity};
use crate::render::layout::{COLUMNS, cells, keep_end, line_of, words_of, words_of_growth, words_of_kept};
use crate::render::sites::{called, words_of_site};
use crate::render::{blame, stages, verdict};
use crate::sanitize::{clean, columns};
use crate::words::count;

/// The columns of the bar, and of the text beside a name.
const BAR: u64 = 66;
/// At most this many lines of source.
const LINES: usize = 5;
/// Parts and lines below 1/100 of the whole are left to the full report.
const LEAST_DENOMINATOR: u64 = 100;
/// At most this many categories have a letter in the legend.
const LEGEND: usize = 5;

/// Writes the report.
pub(super) fn write(page: &mut Page, report: &CheckReport) {
    let (breakdown, sites) = blame::filling(report);
    super::check::headline(page, report);
    page.line("");
    for (name, text) in figures(report) {
        page.fact(name, &text);
    }
    write_stages(page, report);
    bar(page, report, breakdown);
    lines(page, sites, breakdown.total());
    if let Some(finding) = report.findings.iter().find(|finding| matters(report, finding)) {
        write_finding(page, report, finding);
    }
    for caveat in report.notes.iter().filter(|remark| remark.is_caveat()) {
        page.fact("note", &caveat.text);
    }
    foot(page, report);
}

fn figures(report: &CheckReport) -> Vec<(&'static str, String)> {
    let gpu = &report.gpu;
    let assumed = if gpu.assumed { " (no GPU was named: this one is assumed)" } else { "" };
    let total = format!("{}{assumed}", verdict::words_of_available(gpu));
    let grows = report.growth.as_ref().is_some_and(|growth| growth.loop_at.is_some() && !growth.is_harmless());
    let mut figures = if report.verdict.is_oom() && grows {
        // A program that grows needs no size: what all passes take says nothing.
        Vec::new()
    } else if report.verdict.is_oom() {
        let place = report.need.filling.as_ref().map(|filling| &filling.place);
        vec![("needs", verdict::need_on_device(&report.need) + &at(place.unwrap_or(&Place::default())))]
    } else {
        let peak = report.peak.usage.device_bytes;
        vec![("peak", format!("{peak} of {total}{}", at(&report.peak.place)))]
    };
    figures.extend(verdict::without_limit(report));
    figures.extend(report.oom.as_ref().map(|oom| ("ran out", ran_out(oom, &report.folder))));
    let growth = report.growth.as_ref().filter(|growth| growth.is_notable());
    figures.extend(growth.map(|growth| ("growth", words_of_growth(growth) + &kept(report, growth))));
    figures
}

/// The stages of the program's life, each with the most allocated bytes.
fn write_stages(page: &mut Page, report: &CheckReport) {
    for (number, row) in stages::list_rows(report).iter().enumerate() {
        let name = if number == 0 { "stages" } else { "" };
        let head = format!("  {name:<9}{:>11}  ", row.peak_allocated_bytes);
        page.paragraph(&head, &stages::words_of_row(row, page.folder()));
    }
    for (name, text) in stages::list_figures(report) {
        page.fact(name, &text);
    }
}

/// The loop, the line and the container, where no sentence above has them.
fn kept(report: &CheckReport, growth: &Growth) -> String {
    if report.verdict.is_oom() { String::new() } else { words_of_kept(growth, &report.folder) }
}

fn at(place: &Place) -> String {
    let words = words_of(place);
    if words.is_empty() { words } else { format!(", at {words}") }
}

/// `2.00 GiB requested at step 1, forward, lm_head (train.py:57)`.
fn ran_out(oom: &Oom, folder: &str) -> String {
    let asked =
        oom.requested_bytes.map_or_else(|| "a library's request".to_owned(), |bytes| format!("{bytes} requested"));
    let place = words_of(&oom.place);
    let when = if place.is_empty() { place } else { format!(" at {place}") };
    let rank = oom.rank.map(|rank| format!(" on rank {rank}")).unwrap_or_default();
    let line = oom.location.as_ref().map_or_else(String::new, |location| format!(" ({})", line_of(location, folder)));
    asked + &rank + &when + &line
}

/// The device as a bar, a letter for each category, and the legend.
fn bar(page: &mut Page, report: &CheckReport, breakdown: &Breakdown) {
    if breakdown.parts().is_empty() {
        return;
    }
    let total = breakdown.total();
    let shown: Vec<&Part> =
        breakdown.parts().iter().filter(|part| part.bytes.0 >= total.0 / LEAST_DENOMINATOR).collect();
    let legend = shown
        .iter()
        .take(LEGEND)
        .map(|part| format!("{} {} {}", letter(part.category), part.category.words(), part.bytes));
    let need = if report.verdict.is_oom() { report.need.usage.device_bytes } else { Bytes::ZERO };
    let used = need.max(report.peak.usage.device_bytes);
    let whole = used.max(report.gpu.available_bytes());
    let allocated: u64 = shown.iter().map(|part| part.bytes.0).sum();
    let rest = [used.0.saturating_sub(allocated), whole.0.saturating_sub(used.0.max(allocated))];
    let widths = cells(shown.iter().map(|part| part.bytes.0).chain(rest), whole.0.max(allocated), BAR);
    let letters = shown.iter().map(|part| letter(part.category)).chain(['-', '.']);
    let bar: String = letters
        .zip(widths)
        .map(|(letter, width)| letter.to_string().repeat(usize::try_from(width).unwrap_or_default()))
        .collect();
    page.fact("memory", &bar);
    let rest = Some(used.0.saturating_sub(total.0)).filter(|bytes| *bytes > 0);
    let rest = rest.map(|bytes| format!("- cache and context {}", Bytes(bytes)));
    page.fact("", &legend.chain(rest).collect::<Vec<_>>().join(", "));
}

/// The letter of a category in the bar.
fn letter(category: Contents) -> char {
    match category {
        Contents::Parameters => 'p',
        Contents::Gradients => 'g',
        Contents::OptimizerState => 'o',
        Contents::Buffers => 'b',
        Contents::Activations => 'a',
        Contents::Temporaries => 't',
        Contents::Inputs => 'i',
        Contents::Workspaces => 'w',
        Contents::Other | Contents::Unattributed => '?',
    }
}

/// A line of source with its callee, and all its memory of one category.
struct Row {
    bytes: Bytes,
    count: u64,
    category: Contents,
    place: String,
    /// The source file, without its ending, and the function that the line called, since two rows may share a line; a library's file and line.
    called: Option<(String, String)>,
    is_library: bool,
}

impl Row {
    /// `src/train.py:41 (linear.forward)`, or as much of it as has room.
    fn words(&self, width: usize) -> String {
        let Some((stem, function)) = &self.called else { return keep_end(&self.place, width) };
        let place = &self.place;
        let line = place.rsplit('/').next().unwrap_or(place);
        let joint = if self.is_library { ':' } else { '.' };
        let forms = [
            format!("{place} ({stem}{joint}{function})"),
            format!("{line} ({stem}{joint}{function})"),
            if self.is_library { line.to_owned() } else { format!("{line} ({function})") },
        ];
        let form = forms.into_iter().find(|form| columns(&clean(form)) <= width);
        form.unwrap_or_else(|| keep_end(place, width))
    }
}

/// The lines of source that hold the most.
fn lines(page: &mut Page, sites: &[Site], total: Bytes) {
    let rows = merge(sites, page.folder());
    let large = rows.iter().filter(|row| row.bytes.0 >= total.0 / LEAST_DENOMINATOR).take(LINES);
    for (number, row) in large.enumerate() {
        let name = if number == 0 { "lines" } else { "" };
        let count = if row.count == 1 { String::new() } else { format!("{} x ", row.count) };
        let head = format!("  {name:<9}{:>11}  {count}{}, ", row.bytes, row.category.words());
        let width = COLUMNS.saturating_sub(head.chars().count());
        page.line(&(head + &row.words(width)));
    }
}

/// Adds up the sites that a reader could not tell apart, the largest first: their stacks differ within libraries.
fn merge(sites: &[Site], folder: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for row in sites.iter().map(|site| row_of(site, folder)) {
        let same =
            |other: &&mut Row| (other.category, &other.place, &other.called) == (row.category, &row.place, &row.called);
        match rows.iter_mut().find(same) {
            Some(other) => (other.bytes, other.count) = (other.bytes + row.bytes, other.count + row.count),
            None => rows.push(row),
        }
    }
    rows.sort_by_key(|row| Reverse(row.bytes));
    rows
}

fn row_of(site: &Site, folder: &str) -> Row {
    let called = called(site).filter(|_| site.location.is_some());
    let is_library = called.is_some_and(|frame| !frame.file.contains("/torch/"));
    Row {
        bytes: site.bytes,
        count: site.count,
        category: site.category,
        place: words_of_site(site, folder),
        called: called.map(|frame| {
            let name = frame.file.rsplit('/').next().unwrap_or(&frame.file);
            if is_library {
                (name.to_owned(), frame.line.to_string())
            } else {
                (stem_of(&frame.file).to_owned(), frame.function.clone())
            }
        }),
        is_library,
    }
}

/// The name of a source file without folders and ending.
fn stem_of(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.split('.').next().unwrap_or(name)
}

/// True for the finding that the short report has room for: the first more important than a remark, or of a notable growth, unless it repeats
/// the headline.
fn matters(report: &CheckReport, finding: &Finding) -> bool {
    let repeats = repeats_headline(report, finding) && finding.remedies.is_empty();
    let is_search = report.verdict.search().is_some() && finding.rule.role() == Role::Caught;
    let is_growth = finding.rule.role() == Role::Growth && report.growth.as_ref().is_some_and(Growth::is_notable);
    (finding.severity != Severity::Info || is_search || is_growth) && !repeats
}

/// True for the finding that the headline states: the cause, or the need of a program that does not fit.
fn repeats_headline(report: &CheckReport, finding: &Finding) -> bool {
    let is_stated = blame::find_stated(report).is_some_and(|stated| std::ptr::eq(stated, finding));
    report.verdict.is_oom() && (is_stated || finding.rule.role() == Role::Need)
}

/// False for a figure of the run that ran out, in a report whose other figures are those of the run without a limit.
fn is_of_need(report: &CheckReport, before: Bytes) -> bool {
    let is_of_two_runs = report.verdict.is_oom() && report.need.filling.is_some();
    !is_of_two_runs || before == report.need.usage.device_bytes
}

fn write_finding(page: &mut Page, report: &CheckReport, finding: &Finding) {
    let is_known = repeats_headline(report, finding);
    let at = finding.location.as_ref().map_or_else(String::new, |location| format!(" ({})", page.line_of(location)));
    let remedy = finding.remedies.first().map(|remedy| {
        let effect = match (remedy.before_bytes, remedy.after_bytes) {
            (Some(before), Some(after)) => {
                let when = if is_of_need(report, before) { "" } else { " at the error" };
                format!(": {before} to {after}{when}, {}", remedy.standing.word())
            }
            _ => String::new(),
        };
        format!("{}{effect}", remedy.remedy)
    });
    if !is_known {
        page.fact(finding.severity.word(), &format!("{}{at}", finding.message));
    }
    if let Some(remedy) = remedy {
        let (name, start) = if is_known { ("try", "") } else { ("", "try: ") };
        page.fact(name, &format!("{start}{remedy}"));
    }
}

/// `oomph fit, with the options and the program of this command`, of a command with too many words.
fn instead_of(words: &[String]) -> String {
    let name = words.iter().take(2).map(String::as_str).collect::<Vec<_>>().join(" ");
    format!("{name}, with the options and the program of this command")
}

/// The course of the run, the further contents of the full report, and the next command.
fn foot(page: &mut Page, report: &CheckReport) {
    page.fact("ran", &verdict::ran(report));
    let counts = [
        (report.findings.len(), "finding"),
        (report.assumptions.len(), "assumption"),
        (report.notes.iter().filter(|remark| !remark.is_caveat()).count(), "note"),
        (report.ranks.len(), "rank"),
    ];
    let rest: Vec<String> = counts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| count(*number, word, &format!("{word}s")))
        .collect();
    let with = if rest.is_empty() { String::new() } else { format!(", with {}", rest.join(", ")) };
    page.fact("more", &format!("-v has the whole report{with}; --html FILE a page"));
    if let Some(next) = &report.next {
        page.command("  next     ", next, &instead_of(next));
    }
}
