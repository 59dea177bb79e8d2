//! The rank of a job that stopped first, where no process left an error.
//!
//! A killed process writes no last record. A launcher then often ends the others by a signal, and they write none either: the first to
//! stop is the process whose last allocation is the earliest, by a margin, because the others still work until they wait or are ended.

use report::real_run::StoppedRank;
use trace::{Process, Run};

/// Processes that end within this time are ended together, in microseconds.
const MARGIN_MICROS: u64 = 50_000;

/// Finds the process of a job that stopped first; `None` if the records do not tell.
pub(super) fn find_stopped(run: &Run) -> Option<StoppedRank> {
    let mut open: Vec<&Process> = run.processes.iter().filter(|process| process.end.is_none()).collect();
    if run.processes.len() < 2 {
        return None;
    }
    open.sort_by_key(|process| last_micros(process));
    let first = *open.first()?;
    let is_first = match open.get(1) {
        None => true,
        Some(second) => last_micros(first)? + MARGIN_MICROS < last_micros(second)?,
    };
    is_first.then(|| StoppedRank { rank: first.identity.rank, steps: first.step_count() })
}

/// The time of the last event.
fn last_micros(process: &Process) -> Option<u64> {
    let last = process.snapshot.iter().flat_map(|snapshot| &snapshot.traces).filter_map(|trace| trace.last()?.time);
    last.map(trace::Time::micros).max()
}

#[cfg(test)]
mod tests {
    use trace::run::{EndRecord, ProcessRecord, StepRecord};
    use trace::{Action, Address, Bytes, Event, Snapshot, Time};

    use super::*;

    /// A process with a last event at `millis`, and an end of its own or none.
    fn process(rank: u32, steps: u32, millis: u64, has_end: bool) -> Process {
        let time = Time::from_micros(millis * 1000);
        let event = Event { time, ..Event::new(Action::Alloc, Address(512), Bytes(512)) };
        Process {
            identity: ProcessRecord { rank, ..ProcessRecord::default() },
            steps: vec![StepRecord { step: steps, ..StepRecord::default() }],
            snapshot: Some(Snapshot { traces: vec![vec![event]], ..Snapshot::default() }),
            end: has_end.then(EndRecord::default),
            ..Process::default()
        }
    }

    #[test]
    fn the_first_to_stop_is_alone_or_earlier() {
        let cases = [
            (vec![process(0, 3, 900, false)], None),
            (vec![process(0, 4, 900, true), process(1, 3, 700, false)], Some((1, 3))),
            (vec![process(0, 4, 900, false), process(1, 3, 700, false), process(2, 4, 901, false)], Some((1, 3))),
            (vec![process(0, 4, 900, false), process(1, 4, 880, false)], None),
            (vec![process(0, 4, 900, true), process(1, 4, 880, true)], None),
        ];
        for (processes, expected) in cases {
            let found = find_stopped(&Run { processes: processes.clone() });
            assert_eq!(found.map(|it| (it.rank, it.steps)), expected, "{processes:?}");
        }
    }
}
