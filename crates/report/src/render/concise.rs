//! One self-contained line per verdict and finding: for logs, chats and editors.

use super::against;
use super::answer::answer;
use super::layout::{line_of, short_path};
use super::lint::place;
use super::verdict::sentence;
use super::{Rendered, Renderer};
use crate::against::AgainstReport;
use crate::check::CheckReport;
use crate::explain::ExplainReport;
use crate::finding::Finding;
use crate::fit::FitReport;
use crate::lint::LintReport;
use crate::now::NowReport;
use crate::real_run::RunReport;
use crate::sanitize::clean;
use crate::sweep::SweepReport;
use crate::top::TopReport;
use crate::tune::TuneReport;

/// One line for each finding.
pub(super) struct Concise;

impl Renderer for Concise {
    // The answer, then a line for each line of the program whose bytes differ at the peak.
    fn against(&self, report: &AgainstReport) -> Rendered {
        let different = report.focused().into_iter().flat_map(|device| &device.lines).map(|line| {
            let place = against::words_of_line(&line.line, &report.folder);
            format!("{place}: {} at the peak", against::words_of_pair(&line.bytes))
        });
        let lines = std::iter::once(against::headline(report)).chain(different);
        Ok(lines.map(|line| clean(&line).into_owned() + "\n").collect())
    }

    // The verdict, then the findings, one line each.
    fn check(&self, report: &CheckReport) -> Rendered {
        Ok(clean(&sentence(report)).into_owned() + "\n" + &lines(&report.findings, &report.folder))
    }

    // The findings, a line each, or a line that states their absence.
    fn explain(&self, report: &ExplainReport) -> Rendered {
        if report.findings.is_empty() {
            return Ok(clean(&answer(report)).into_owned() + "\n");
        }
        Ok(lines(&report.findings, &report.folder))
    }

    // The answer, then a line for each place of the plan.
    fn fit(&self, report: &FitReport) -> Rendered {
        let places = report.plans.first().into_iter().flat_map(|plan| &plan.places);
        let places = places.map(|place| match place.line {
            0 => format!("[{}] {}", place.remedy, place.text),
            line => format!("{}:{line}: [{}] {}", short_path(&place.file, &report.folder), place.remedy, place.text),
        });
        let lines = std::iter::once(super::fit::headline(report)).chain(places);
        Ok(lines.map(|line| clean(&line).into_owned() + "\n").collect())
    }

    // A line for each finding, `train.py:41:5: error[accumulated-graph] message`, and for each unreadable file.
    fn lint(&self, report: &LintReport) -> Rendered {
        let findings = report.findings.iter().map(|found| {
            let finding = &found.finding;
            format!(
                "{}: {}[{}] {}",
                place(found, &report.folder),
                finding.severity.word(),
                finding.rule,
                finding.message
            )
        });
        let unreadable =
            report.unreadable.iter().map(|it| format!("{}: {}", short_path(&it.file, &report.folder), it.reason));
        Ok(findings.chain(unreadable).map(|line| clean(&line).into_owned() + "\n").collect())
    }

    // A line for each device of each process; the answer without a device.
    fn now(&self, report: &NowReport) -> Rendered {
        let devices = report.devices.iter().map(|device| super::now::summarize(device, &report.folder));
        let is_unused = report.devices.is_empty();
        let answer = is_unused.then(|| super::now::headline(report));
        Ok(answer.into_iter().chain(devices).map(|line| clean(&line).into_owned() + "\n").collect())
    }

    // The answer, then the findings of an out-of-memory error and the remarks, one line each.
    fn run(&self, report: &RunReport) -> Rendered {
        let line = |text: &str| clean(text).into_owned() + "\n";
        let findings = report.out_of_memory.iter().map(|error| lines(&error.findings, &report.folder));
        let remarks = super::real_run::list_remarks(report);
        let remarks = remarks.iter().map(|remark| line(remark));
        Ok(std::iter::once(line(&super::real_run::headline(report))).chain(findings).chain(remarks).collect())
    }

    // The answer, then the remarks, one line each.
    fn sweep(&self, report: &SweepReport) -> Rendered {
        let lines = std::iter::once(super::sweep::headline(report)).chain(super::sweep::list_remarks(report));
        Ok(lines.map(|line| clean(&line).into_owned() + "\n").collect())
    }

    // The answer, then the remarks, one line each.
    fn top(&self, report: &TopReport) -> Rendered {
        let lines = crate::top::list_sentences(report);
        Ok(lines.iter().map(|line| clean(line).into_owned() + "\n").collect())
    }

    // The answer, then the setting, one line each.
    fn tune(&self, report: &TuneReport) -> Rendered {
        let setting = report.recommended.iter().map(|recommended| recommended.lines.bash.as_str());
        let answer = super::tune::headline(report);
        Ok(std::iter::once(answer.as_str()).chain(setting).map(|line| clean(line).into_owned() + "\n").collect())
    }
}

fn lines(findings: &[Finding], folder: &str) -> String {
    let line = |finding| clean(&line(finding, folder)).into_owned() + "\n";
    findings.iter().map(line).collect()
}

/// `train.py:41: warning[growing-collection] message`; the message alone without a location.
fn line(finding: &Finding, folder: &str) -> String {
    let place = finding.location.as_ref().map(|location| line_of(location, folder) + ": ");
    let word = finding.severity.word();
    format!("{}{word}[{}] {}", place.unwrap_or_default(), finding.rule, finding.message)
}
