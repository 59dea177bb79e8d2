//! The launcher's knowledge about the surroundings of dry runs: the guards and the user's environment.

use report::Remark;
use trace::run::Effects;

/// Remarks and effects that no record of a run holds. A report shows them behind its own.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The remarks, in the order of the report.
    pub remarks: Vec<Remark>,
    /// The effects of the first run on files and other machines.
    pub effects: Option<Effects>,
}

impl Surroundings {
    /// The remarks of a report without weights.
    pub(crate) fn sentences(&self) -> impl Iterator<Item = String> {
        self.remarks.iter().map(|remark| remark.text.clone())
    }
}
