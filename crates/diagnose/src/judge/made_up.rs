//! The data sets that a run made up (Note `[Made-up data]` in `python/oomph/agent/scenery/data`).

use std::collections::BTreeSet;

use trace::Run;

/// The kind of a stand-in for a data set.
const DATA: &str = "data";

/// Returns the names of the data sets that were made up, sorted; the ranks of a job have equal ones.
pub(crate) fn list_made_up(run: &Run) -> Vec<String> {
    let records = run.processes.iter().flat_map(|process| &process.stand_ins).filter(|record| record.what == DATA);
    let names: BTreeSet<&str> = records.map(|record| record.name.as_str()).collect();
    names.into_iter().map(str::to_owned).collect()
}
