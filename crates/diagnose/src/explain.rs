//! Explains the files that a crash left.

mod case;
mod comparison;
mod devices;
mod ending;
mod evidence;
mod failure;
mod growth;
mod history;
mod memory;
mod notes;
mod own_row;
mod ranks;
mod statements;
mod tables;

use report::explain::{Comparison, DeviceMemory, ExplainReport};
use report::{Finding, Site, SourceLink};

pub use self::case::{ExplainCase, ExplainInput, InputContents};
use self::comparison::comparison;
use self::devices::{Seen, list_devices};
use self::evidence::gather_facts;
use self::memory::memory;
use self::notes::notes;
use self::statements::Statements;
use crate::rules;

/// The explanation of a crash, before its findings are linked to the source.
#[derive(Debug)]
pub struct Explanation {
    version: String,
    stated: Statements,
    sites: Vec<Site>,
    comparison: Option<Comparison>,
    findings: Vec<Finding>,
    memory: Option<DeviceMemory>,
    notes: Vec<String>,
}

/// Explains `case`.
pub fn explain(case: &ExplainCase) -> Explanation {
    let seen = list_devices(case);
    let stated = Statements::of(case, &seen);
    let subject = stated.focus.and_then(|focus| seen.get(focus));
    let facts = gather_facts(&stated, &seen, subject);
    Explanation {
        version: case.version.clone(),
        sites: subject.map(Seen::sites).unwrap_or_default(),
        comparison: comparison(&seen, &stated),
        findings: rules::of_a_crash(&facts),
        memory: memory(&facts),
        notes: notes(case, &stated, subject.map(|subject| &subject.view)),
        stated,
    }
}

impl Explanation {
    /// The findings, most telling first.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Returns the report. `links`: the mistake in the source that causes each finding, in the order of the findings.
    pub fn report(self, links: Vec<Option<SourceLink>>) -> ExplainReport {
        let subject = self.stated.subject();
        ExplainReport {
            version: self.version,
            peak: subject.map(|history| history.peak.clone()),
            breakdown: subject.map(|history| history.breakdown.clone()),
            sites: self.sites,
            findings: SourceLink::join(self.findings, links),
            memory: self.memory,
            comparison: self.comparison,
            notes: self.notes,
            job: None,
            inputs: self.stated.inputs,
            ooms: self.stated.ooms,
            oom_inputs: self.stated.oom_inputs,
            focus_oom: self.stated.focus_oom,
            devices: self.stated.devices,
            focus: self.stated.focus,
            counters: self.stated.counters,
            cards: self.stated.cards,
            folder: self.stated.folder,
        }
    }
}
