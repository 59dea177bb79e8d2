//! `--format markdown`: the answer as a heading and each finding as an item, for a pull request, an issue or a job's summary.
//!
//! The escapes are those of CommonMark 0.31, section 2.4: a backslash before ASCII punctuation makes it plain text.

use std::fmt::Display;

use super::layout::{line_of, short_path};
use super::stages::{list_rows, words_of_shortened, words_of_whole_row};
use super::{Rendered, Renderer, against};
use crate::against::AgainstReport;
use crate::check::CheckReport;
use crate::explain::ExplainReport;
use crate::finding::{Finding, Remedy};
use crate::fit::FitReport;
use crate::lint::LintReport;
use crate::now::NowReport;
use crate::real_run::RunReport;
use crate::sanitize::clean;
use crate::sweep::SweepReport;
use crate::top::TopReport;
use crate::tune::TuneReport;

/// Characters that could start a construct of Markdown or HTML inside a line.
const SPECIAL: &str = "\\`*_[]<>|~#&$";

/// Items of Markdown.
pub(super) struct Markdown;

impl Renderer for Markdown {
    fn against(&self, report: &AgainstReport) -> Rendered {
        let items = report.focused().into_iter().flat_map(|device| &device.lines).map(|line| {
            let place = against::words_of_line(&line.line, &report.folder);
            format!("- {} {}\n", code(&place), escape(&against::words_of_pair(&line.bytes)))
        });
        Ok(page("explain", &against::headline(report), &items.collect::<String>()))
    }

    fn check(&self, report: &CheckReport) -> Rendered {
        let stages = list_rows(report).iter().map(|row| words_of_whole_row(row, &report.folder));
        let shortened = stages.chain(words_of_shortened(report)).collect::<Vec<_>>();
        let items = findings(&report.findings, &report.folder) + &sentences(&shortened);
        Ok(page("check", &super::verdict::sentence(report), &items))
    }

    fn explain(&self, report: &ExplainReport) -> Rendered {
        Ok(page("explain", &super::answer::answer(report), &findings(&report.findings, &report.folder)))
    }

    fn fit(&self, report: &FitReport) -> Rendered {
        let places = report.plans.first().into_iter().flat_map(|plan| &plan.places);
        let items = places.map(|place| match place.line {
            0 => format!("- {}: {}\n", code(&place.remedy), escape(&place.text)),
            line => {
                let at = format!("{}:{line}", short_path(&place.file, &report.folder));
                format!("- {} {}: {}\n", code(&at), code(&place.remedy), escape(&place.text))
            }
        });
        Ok(page("fit", &super::fit::headline(report), &items.collect::<String>()))
    }

    fn lint(&self, report: &LintReport) -> Rendered {
        let found = report.findings.iter().map(|found| item(&found.finding, &report.folder));
        let unreadable = report
            .unreadable
            .iter()
            .map(|file| format!("- {}: {}\n", code(short_path(&file.file, &report.folder)), escape(&file.reason)));
        Ok(page("lint", &super::lint::headline(report), &found.chain(unreadable).collect::<String>()))
    }

    fn now(&self, report: &NowReport) -> Rendered {
        let holders = report.focused().map(|device| super::now::list_holders(device, &report.folder));
        Ok(page("explain", &super::now::headline(report), &sentences(&holders.unwrap_or_default())))
    }

    fn run(&self, report: &RunReport) -> Rendered {
        let found = report.out_of_memory.as_ref().map(|error| findings(&error.findings, &report.folder));
        let items = found.unwrap_or_default() + &sentences(&super::real_run::list_remarks(report));
        Ok(page("run", &super::real_run::headline(report), &items))
    }

    fn sweep(&self, report: &SweepReport) -> Rendered {
        let map = [super::sweep::list_maps(report), super::sweep::list_gpus(report)].concat().join("\n");
        let map = if map.is_empty() { map } else { format!("```text{}\n```\n\n", clean(&map)) };
        let items = map + &sentences(&super::sweep::list_remarks(report));
        Ok(page("sweep", &super::sweep::headline(report), &items))
    }

    fn top(&self, report: &TopReport) -> Rendered {
        let all = crate::top::list_sentences(report);
        let (answer, remarks) = all.split_first().map_or(("", all.as_slice()), |(answer, rest)| (answer, rest));
        Ok(page("top", answer, &sentences(remarks)))
    }

    fn tune(&self, report: &TuneReport) -> Rendered {
        let setting = report.recommended.iter().map(|recommended| format!("- {}\n", code(&recommended.lines.bash)));
        let items = setting.chain(report.findings.iter().map(|finding| item(finding, &report.folder)));
        Ok(page("tune", &super::tune::headline(report), &items.collect::<String>()))
    }
}

fn page(command: &str, answer: &str, items: &str) -> String {
    let gap = if items.is_empty() { "" } else { "\n" };
    format!("### oomph {command}: {}\n{gap}{items}", escape(answer))
}

fn sentences(sentences: &[String]) -> String {
    let items = sentences.iter().map(|sentence| format!("- {}\n", escape(sentence)));
    items.collect()
}

fn findings(findings: &[Finding], folder: &str) -> String {
    findings.iter().map(|finding| item(finding, folder)).collect()
}

fn item<Rule: Display>(finding: &Finding<Rule>, folder: &str) -> String {
    let at = finding.location.as_ref().map_or_else(String::new, |location| code(&line_of(location, folder)) + " ");
    let (word, rule) = (finding.severity.word(), code(&finding.rule.to_string()));
    let remedies = finding.remedies.iter().map(remedy);
    format!("- **{word}** {rule} {at}{}\n{}", escape(&finding.message), remedies.collect::<String>())
}

fn remedy(remedy: &Remedy) -> String {
    format!("  - {}: {}\n", escape(&remedy.remedy), code(&remedy.how))
}

/// A text that Markdown shows as it is.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in clean(text).chars() {
        if SPECIAL.contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// A code span; its fence is longer than every run of backticks in the text.
fn code(text: &str) -> String {
    let text = clean(text);
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let gap = if longest > 0 { " " } else { "" };
    format!("{fence}{gap}{text}{gap}{fence}")
}
