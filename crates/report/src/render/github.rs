//! `--format github`: one workflow command for each finding, which GitHub shows at the line of the pull request.
//!
//! The syntax and its escapes are those of GitHub's `actions/toolkit`, `packages/core/src/command.ts`: in the message
//! `%`, `\r` and `\n` are written as percent codes, in a property also `:` and `,`.

use std::fmt::Display;

use super::layout::short_path;
use super::stages::{list_rows, words_of_whole_row};
use super::verdict::sentence;
use super::{Rendered, Renderer, against};
use crate::against::AgainstReport;
use crate::check::{CheckReport, Verdict};
use crate::explain::ExplainReport;
use crate::finding::{Finding, Location, Severity};
use crate::fit::{FitReport, FitVerdict};
use crate::lint::LintReport;
use crate::now::NowReport;
use crate::real_run::{End, RunReport};
use crate::sanitize::clean;
use crate::sweep::SweepReport;
use crate::top::TopReport;
use crate::tune::TuneReport;

/// Workflow commands.
pub(super) struct Github;

impl Renderer for Github {
    // A warning at the first line that differs; a notice without a difference.
    fn against(&self, report: &AgainstReport) -> Rendered {
        let command = if report.is_equal() { "notice" } else { "warning" };
        let parting = report.focused().and_then(|device| device.parting.as_ref());
        let request = parting.and_then(|parting| parting.requests.iter().flatten().next());
        let location = request.and_then(|request| request.line.location.as_ref());
        Ok(line(command, location, "oomph explain", &against::headline(report), &report.folder))
    }

    // The verdict, the stages that do not fit, and the findings.
    fn check(&self, report: &CheckReport) -> Rendered {
        let command = match report.verdict {
            Verdict::Fits { .. } | Verdict::FitsSoFar { .. } => "notice",
            Verdict::Oom { .. } => "error",
            Verdict::Incomplete { .. } => "warning",
        };
        let verdict = line(command, None, "oomph check", &clean(&sentence(report)), &report.folder);
        let late = list_rows(report).iter().filter(|row| row.fits == Some(false)).map(|row| {
            let message = clean(&words_of_whole_row(row, &report.folder)).into_owned();
            line("error", row.location.as_ref(), "oomph check", &message, &report.folder)
        });
        Ok(verdict + &late.collect::<String>() + &findings(&report.findings, &report.folder))
    }

    // The findings; a notice without findings.
    fn explain(&self, report: &ExplainReport) -> Rendered {
        if report.findings.is_empty() {
            return Ok(line("notice", None, "oomph explain", &super::answer::answer(report), &report.folder));
        }
        Ok(findings(&report.findings, &report.folder))
    }

    // The answer: a notice if the unchanged program fits, a warning if a plan fits, else an error. Then a notice at each line that
    // the plan changes.
    fn fit(&self, report: &FitReport) -> Rendered {
        let command = match report.verdict {
            FitVerdict::Fits => "notice",
            FitVerdict::FitsWithPlan | FitVerdict::Unknown => "warning",
            FitVerdict::DoesNotFit => "error",
        };
        let answer = line(command, None, "oomph fit", &super::fit::headline(report), &report.folder);
        let places = report.plans.first().into_iter().flat_map(|plan| &plan.places).filter(|place| place.line > 0);
        Ok(places.fold(answer, |text, place| {
            let location = Location { file: place.file.clone(), line: place.line, column: None };
            text + &line("notice", Some(&location), &place.remedy, &clean(&place.text), &report.folder)
        }))
    }

    // A warning at the line that grows; a notice without growth.
    fn now(&self, report: &NowReport) -> Rendered {
        let command = if report.is_growing() { "warning" } else { "notice" };
        let location = report.focused().and_then(|device| device.grows_at.as_ref());
        Ok(line(command, location, "oomph explain", &clean(&super::now::headline(report)), &report.folder))
    }

    // The end, at the line of an error that ended the program, with the remarks below; then the findings of an out-of-memory error.
    fn run(&self, report: &RunReport) -> Rendered {
        let (command, location) = match &report.end {
            End::Good if report.is_good() => ("notice", None),
            End::Good | End::Open => ("warning", None),
            End::Status { error: Some(raised), .. } if report.out_of_memory.is_none() => {
                ("error", raised.location.as_ref())
            }
            End::Status { .. } | End::Signal { .. } => ("error", None),
        };
        let sentences = std::iter::once(super::real_run::headline(report)).chain(super::real_run::list_remarks(report));
        let message = sentences.map(|sentence| clean(&sentence).into_owned()).collect::<Vec<_>>().join("\n");
        let found = report.out_of_memory.as_ref().map(|error| findings(&error.findings, &report.folder));
        Ok(line(command, location, "oomph run", &message, &report.folder) + &found.unwrap_or_default())
    }

    // A notice with the answer.
    fn sweep(&self, report: &SweepReport) -> Rendered {
        Ok(line("notice", None, "oomph sweep", &clean(&super::sweep::headline(report)), ""))
    }

    // A warning for each remark, or a notice.
    fn top(&self, report: &TopReport) -> Rendered {
        let command = if report.remarks.is_empty() { "notice" } else { "warning" };
        let sentences = crate::top::list_sentences(report);
        Ok(sentences.iter().map(|sentence| line(command, None, "oomph top", &clean(sentence), "")).collect())
    }

    // The findings; a notice with the answer without findings.
    fn tune(&self, report: &TuneReport) -> Rendered {
        if report.findings.is_empty() {
            return Ok(line("notice", None, "oomph tune", &super::tune::headline(report), &report.folder));
        }
        Ok(findings(&report.findings, &report.folder))
    }

    // The findings, and a warning for each unreadable file; a notice if both lists are empty.
    fn lint(&self, report: &LintReport) -> Rendered {
        let unreadable = report.unreadable.iter().map(|it| {
            let location = Location { file: it.file.clone(), line: 1, column: None };
            line("warning", Some(&location), "oomph lint", &clean(&it.reason), &report.folder)
        });
        let found = report.findings.iter().map(|found| of(&found.finding, &report.folder));
        let text: String = found.chain(unreadable).collect();
        if text.is_empty() {
            return Ok(line("notice", None, "oomph lint", &super::lint::headline(report), &report.folder));
        }
        Ok(text)
    }
}

fn findings(findings: &[Finding], folder: &str) -> String {
    findings.iter().map(|finding| of(finding, folder)).collect()
}

fn of<Rule: Display>(finding: &Finding<Rule>, folder: &str) -> String {
    let command = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let remedies = finding.remedies.iter().map(|remedy| format!("\n{}: {}", clean(&remedy.remedy), clean(&remedy.how)));
    let message = clean(&finding.message).into_owned() + &remedies.collect::<String>();
    line(command, finding.location.as_ref(), &finding.rule.to_string(), &message, folder)
}

/// `message` may have several lines; the text of each is clean.
fn line(command: &str, location: Option<&Location>, title: &str, message: &str, folder: &str) -> String {
    let place = location.map_or_else(String::new, |location| place(location, folder));
    format!("::{command} {place}title={}::{}\n", property(title), data(message))
}

fn place(location: &Location, folder: &str) -> String {
    let file = property(&clean(short_path(&location.file, folder)));
    let column = location.column.map_or_else(String::new, |column| format!("col={column},"));
    format!("file={file},line={},{column}", location.line)
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
