//! The answer to whether a program ran out of memory.

use report::SizeSearch;
use trace::{Process, Run};

use super::caught::find_search;
use super::ending::ended_by_oom;
use super::probes::find_probes;
use super::unserved::has_unserved_request;

/// The fate of the requests of a process, or of all processes of a run. See Note [Caught errors] in `caught.rs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every request was served.
    Served,
    /// Requests failed while the program looked for a size that fits, and it found one.
    Searched(SizeSearch),
    /// A request failed, and the program went on.
    Caught,
    /// A failed request ended the process.
    Ended,
}

impl Outcome {
    /// Judges all processes of a run: the worst outcome counts, and of several searches the first.
    pub fn of(run: &Run) -> Outcome {
        let outcomes = run.processes.iter().map(|process| Outcome::of_process(process, run));
        let worse = |worst: Outcome, next: Outcome| if next.weight() > worst.weight() { next } else { worst };
        outcomes.fold(Outcome::Served, worse)
    }

    /// Judges a process of `run`.
    pub(crate) fn of_process(process: &Process, run: &Run) -> Outcome {
        if ended_by_oom(process) {
            return Outcome::Ended;
        }
        if !has_unserved_request(process) {
            return Outcome::Served;
        }
        let search = find_search(process).or_else(|| find_probes(process, run));
        search.map_or(Outcome::Caught, Outcome::Searched)
    }

    /// Checks that the program ran out, and found no size that fits.
    pub fn ran_out(&self) -> bool {
        matches!(self, Outcome::Caught | Outcome::Ended)
    }

    fn weight(&self) -> u8 {
        match self {
            Outcome::Served => 0,
            Outcome::Searched(_) => 1,
            Outcome::Caught => 2,
            Outcome::Ended => 3,
        }
    }
}
