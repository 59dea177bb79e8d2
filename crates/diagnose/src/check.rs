//! Diagnoses the runs of a program: does it fit, what does it need, and why.

mod attempt;
mod case;
mod conditions;
mod courses;
mod draw;
mod facts;
mod foresee;
mod leftovers;
mod measured;
mod need;
mod notes;
mod oom;
mod ranks;
mod remarks;
mod report;
mod subject;
mod verdict;
mod whole_life;

use ::report::{CheckReport, Finding, Remark, RunPicture, SourceLink};
use causes::CauseId;

use self::case::Case;
pub use self::case::CheckCase;
use self::draw::draw;
use self::facts::gather_facts;
use self::measured::Measured;
use self::remarks::list_remarks;
use self::report::make_report;
use self::subject::find_subject;
use self::verdict::decide;
use crate::rules;

/// The diagnosis of a case, before its findings are linked to the source.
#[derive(Debug)]
pub struct Diagnosis<'a> {
    asked: &'a CheckCase,
    case: Case<'a>,
    measured: Measured,
    findings: Vec<Finding>,
    /// The cause of the first finding, if the program fits without it.
    mistake: Option<CauseId>,
    remarks: Vec<Remark>,
}

/// Diagnoses `asked`.
pub fn check(asked: &CheckCase) -> Diagnosis<'_> {
    let case = Case::of(asked);
    let decision = decide(&case);
    let Some((process, device, usage)) = find_subject(&case) else {
        let measured = Measured::without_device(&case, &decision);
        let remarks = list_remarks(asked, &case, &decision, None, &measured);
        return Diagnosis { asked, case, measured, findings: Vec::new(), mistake: None, remarks };
    };
    let view = case.views.find(process, device);
    let measured = Measured::of(&case, &view, usage, &decision);
    let later = case.find_later(&view);
    let found = rules::of_a_check(&gather_facts(&case, &view, later.as_deref(), &measured));
    let remarks = list_remarks(asked, &case, &decision, Some(&view), &measured);
    Diagnosis { asked, case, measured, findings: found.all, mistake: found.mistake, remarks }
}

impl Diagnosis<'_> {
    /// The findings, most serious first.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The cause of the first finding, if the program fits without it.
    pub fn mistake(&self) -> Option<CauseId> {
        self.mistake
    }

    /// Returns the report. `links`: the mistake in the source that causes each finding, in the order of the findings.
    pub fn report(&self, links: Vec<Option<SourceLink>>) -> CheckReport {
        make_report(self, links)
    }

    /// Draws the run that the report takes its figures from: the run without a limit if the program does not fit and the run
    /// shows the need, else the run within the limit.
    pub fn draw(&self) -> RunPicture {
        draw(&self.case, &self.measured)
    }
}
