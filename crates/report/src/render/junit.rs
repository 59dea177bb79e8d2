//! JUnit XML, which CI systems read as the results of tests: `lint --format junit`, and `check --report FILE.xml`.
//!
//! The elements and attributes are those of `junit-10.xsd` of Jenkins' xUnit plugin, which other readers accept, too.

mod element;

use std::fmt::Display;

use super::layout::line_of;
use super::lint::{describe_in_file, file_of, place};
use super::report::Report as _;
use super::stages::{list_rows, words_of_whole_row};
use crate::check::{CheckReport, Verdict};
use crate::finding::{Finding, Location};
use crate::life::{StageUse, name_stage};
use crate::lint::{LintFinding, LintReport, UnreadableFile};
use crate::render::layout::short_path;
use element::XmlElement;

/// The report of `lint`: a suite for each file with findings, and a failure for each finding. Without a finding, one test that passes:
/// Jenkins takes a report without tests for a mistake.
pub fn lint(report: &LintReport) -> String {
    let class = "oomph.lint";
    let mut suites: Vec<Suite> = Vec::new();
    for found in &report.findings {
        suite_of(&mut suites, file_of(found, &report.folder)).cases.push(case_of_finding(found, report, class));
    }
    for file in &report.unreadable {
        suite_of(&mut suites, short_path(&file.file, &report.folder)).cases.push(case_of_unreadable(file, class));
    }
    if suites.is_empty() {
        let passed = TestCase::new(class, &super::lint::headline(report), TestOutcome::Passed);
        suites.push(Suite { name: "oomph lint".to_owned(), cases: vec![passed] });
    }
    write("oomph lint", &suites, None)
}

/// The report of `check`: a test for the whole program, and one for each stage of its life.
pub fn check(report: &CheckReport) -> String {
    let class = "oomph.check";
    let whole = TestCase {
        class,
        name: format!("fits {}", report.gpu.name),
        outcome: outcome_of_verdict(report),
        output: report.headline(),
        seconds: Some(report.seconds),
    };
    let stages = list_rows(report).iter().map(|row| case_of_stage(row, &report.folder, class));
    let cases = std::iter::once(whole).chain(stages).collect();
    write("oomph check", &[Suite { name: report.gpu.name.clone(), cases }], Some(report.seconds))
}

/// Tests under one name.
struct Suite {
    name: String,
    cases: Vec<TestCase>,
}

struct TestCase {
    class: &'static str,
    name: String,
    outcome: TestOutcome,
    /// More to read; may be empty.
    output: String,
    seconds: Option<f64>,
}

enum TestOutcome {
    Passed,
    Failed { kind: String, message: String, body: String },
    Error { kind: &'static str, message: String },
    Skipped(&'static str),
}

impl TestCase {
    fn new(class: &'static str, name: &str, outcome: TestOutcome) -> TestCase {
        TestCase { class, name: name.to_owned(), outcome, output: String::new(), seconds: None }
    }

    fn write(&self) -> XmlElement {
        let seconds = self.seconds.map(in_seconds);
        let case = XmlElement::new("testcase").with("classname", self.class).with("name", &self.name);
        let case = seconds.into_iter().fold(case, |case, seconds| case.with("time", &seconds));
        let case = self.outcome.write().into_iter().fold(case, XmlElement::child);
        if self.output.is_empty() { case } else { case.child(XmlElement::new("system-out").text(&self.output)) }
    }
}

impl TestOutcome {
    fn write(&self) -> Option<XmlElement> {
        match self {
            TestOutcome::Passed => None,
            TestOutcome::Failed { kind, message, body } => {
                Some(XmlElement::new("failure").with("type", kind).with("message", message).text(body))
            }
            TestOutcome::Error { kind, message } => {
                Some(XmlElement::new("error").with("type", kind).with("message", message).text(message))
            }
            TestOutcome::Skipped(reason) => Some(XmlElement::new("skipped").with("message", reason)),
        }
    }
}

/// Returns the suite of a name; findings come in the order of their files.
fn suite_of<'a>(suites: &'a mut Vec<Suite>, name: &str) -> &'a mut Suite {
    let index = suites.iter().position(|suite| suite.name == name).unwrap_or(suites.len());
    if index == suites.len() {
        suites.push(Suite { name: name.to_owned(), cases: Vec::new() });
    }
    &mut suites[index]
}

fn case_of_finding(found: &LintFinding, report: &LintReport, class: &'static str) -> TestCase {
    let finding = &found.finding;
    let at = place(found, &report.folder);
    let body = format!("{at}: {}", describe(finding, None, &report.folder));
    let failed = TestOutcome::Failed { kind: finding.rule.to_string(), message: describe_in_file(found), body };
    TestCase::new(class, &format!("{} {at}", finding.rule), failed)
}

fn case_of_unreadable(file: &UnreadableFile, class: &'static str) -> TestCase {
    TestCase::new(class, "is read", TestOutcome::Error { kind: "unreadable", message: file.reason.clone() })
}

fn case_of_stage(row: &StageUse, folder: &str, class: &'static str) -> TestCase {
    let words = words_of_whole_row(row, folder);
    let outcome = match row.fits {
        Some(true) => TestOutcome::Passed,
        Some(false) => {
            TestOutcome::Failed { kind: "out-of-memory".to_owned(), message: words.clone(), body: words.clone() }
        }
        None => TestOutcome::Skipped("it is not known whether the stage fits"),
    };
    TestCase { output: words, ..TestCase::new(class, name_stage(row.stage), outcome) }
}

fn outcome_of_verdict(report: &CheckReport) -> TestOutcome {
    match &report.verdict {
        Verdict::Fits { .. } | Verdict::FitsSoFar { .. } => TestOutcome::Passed,
        Verdict::Oom { .. } => TestOutcome::Failed {
            kind: report.mistake.map_or_else(|| "out-of-memory".to_owned(), |cause| cause.to_string()),
            message: report.headline(),
            body: report.findings.iter().map(|it| describe(it, it.location.as_ref(), &report.folder)).collect(),
        },
        Verdict::Incomplete { .. } => TestOutcome::Error { kind: "incomplete", message: report.headline() },
    }
}

/// The finding and its remedies, a line each.
fn describe<Rule: Display>(finding: &Finding<Rule>, at: Option<&Location>, folder: &str) -> String {
    let at = at.map_or_else(String::new, |at| line_of(at, folder) + ": ");
    let remedies = finding.remedies.iter().map(|remedy| format!("  {}: {}\n", remedy.remedy, remedy.how));
    let remedies: String = remedies.collect();
    format!("{at}{}[{}] {}\n{remedies}", finding.severity.word(), finding.rule, finding.message)
}

fn write(name: &str, suites: &[Suite], seconds: Option<f64>) -> String {
    let counts = OutcomeCounts::of(suites.iter().flat_map(|suite| &suite.cases));
    let root = counts.attributes().fold(XmlElement::new("testsuites").with("name", name), with_count);
    let root = seconds.into_iter().fold(root, |root, seconds| root.with("time", &in_seconds(seconds)));
    let root = suites.iter().map(|suite| write_suite(suite, seconds)).fold(root, XmlElement::child);
    root.document()
}

fn write_suite(suite: &Suite, seconds: Option<f64>) -> XmlElement {
    let counts = OutcomeCounts::of(suite.cases.iter());
    let element = counts.attributes().fold(XmlElement::new("testsuite").with("name", &suite.name), with_count);
    let element = element.with("skipped", &counts.skipped.to_string());
    let element = seconds.into_iter().fold(element, |element, seconds| element.with("time", &in_seconds(seconds)));
    suite.cases.iter().map(TestCase::write).fold(element, XmlElement::child)
}

fn with_count(element: XmlElement, (name, count): (&'static str, usize)) -> XmlElement {
    element.with(name, &count.to_string())
}

/// The numbers of tests by outcome.
#[derive(Default)]
struct OutcomeCounts {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

impl OutcomeCounts {
    fn of<'a>(cases: impl Iterator<Item = &'a TestCase>) -> OutcomeCounts {
        cases.fold(OutcomeCounts::default(), |mut counts, case| {
            counts.tests += 1;
            match case.outcome {
                TestOutcome::Passed => {}
                TestOutcome::Failed { .. } => counts.failures += 1,
                TestOutcome::Error { .. } => counts.errors += 1,
                TestOutcome::Skipped(_) => counts.skipped += 1,
            }
            counts
        })
    }

    /// The counts that a list of suites and a suite share.
    fn attributes(&self) -> impl Iterator<Item = (&'static str, usize)> {
        [("tests", self.tests), ("failures", self.failures), ("errors", self.errors)].into_iter()
    }
}

/// Seconds in the form of the schema: no group of more than three digits without a comma.
fn in_seconds(seconds: f64) -> String {
    format!("{seconds:.3}")
}
