//! A program that allocated nothing for a while before it ended: it waited, as ranks wait in a collective for a rank that does not come.

use std::collections::BTreeMap;

use report::Location;
use report::real_run::{LastAllocation, Silence};
use trace::{Launch, Process, Run, Snapshot, StackId};

use crate::measure::own::is_own;

/// A shorter silence is work on the CPU.
const LEAST_SECONDS: u64 = 60;

/// The last events among which a line of the user is searched.
const FEW: usize = 1000;

/// The step under way and the user's line of a last allocation.
type LastPlace = (u32, Option<Location>);

/// Finds the silence before the end of a run; `None` if a process allocated in the last minute.
pub(super) fn find_silence(run: &Run, launch: &Launch) -> Option<Silence> {
    let (mut latest, mut places) = (0, BTreeMap::<LastPlace, Vec<u32>>::new());
    for process in &run.processes {
        let Some((micros, line)) = last_allocation(process) else { continue };
        latest = latest.max(micros);
        places.entry((process.step_count() + 1, line)).or_default().push(process.identity.rank);
    }
    let seconds = launch.host.as_ref()?.ended_micros.checked_sub(latest)? / 1_000_000;
    let last = places.into_iter().map(|((step, location), ranks)| LastAllocation { ranks, step, location });
    (seconds >= LEAST_SECONDS && last.len() > 0).then(|| Silence { seconds, last: last.collect() })
}

/// The time of the last event, and the last line of the user: a backward allocates without one.
fn last_allocation(process: &Process) -> Option<(u64, Option<Location>)> {
    let snapshot = process.snapshot.as_ref()?;
    let of_device = snapshot.traces.iter().max_by_key(|trace| trace.last().and_then(|event| event.time))?;
    let micros = of_device.last()?.time?.micros();
    let line = of_device.iter().rev().take(FEW).find_map(|event| line_of(snapshot, event.stack));
    Some((micros, line))
}

fn line_of(snapshot: &Snapshot, stack: StackId) -> Option<Location> {
    let frame = snapshot.stacks.frames(stack).find(|frame| is_own(&frame.file, ""))?;
    Some(Location { file: frame.file.clone(), line: frame.line, column: None })
}

#[cfg(test)]
mod tests {
    use trace::run::{HostRecord, ProcessRecord, StepRecord};
    use trace::{Action, Address, Bytes, Event, Time};

    use super::*;

    fn process(rank: u32, steps: u32, seconds: u64) -> Process {
        let event = Event {
            time: Time::from_micros(seconds * 1_000_000),
            ..Event::new(Action::Alloc, Address(512), Bytes(512))
        };
        Process {
            identity: ProcessRecord { rank, ..ProcessRecord::default() },
            steps: vec![StepRecord { step: steps, ..StepRecord::default() }],
            snapshot: Some(Snapshot { traces: vec![vec![event]], ..Snapshot::default() }),
            ..Process::default()
        }
    }

    #[test]
    fn a_silence_lists_the_ranks_by_their_steps() {
        let jobs = vec![process(0, 12, 1000), process(1, 11, 990), process(2, 12, 1000)];
        let cases = [
            (jobs.clone(), 1601, Some((601, vec![(vec![1], 12), (vec![0, 2], 13)]))),
            (jobs, 1010, None),
            (vec![process(0, 0, 1000)], 1060, Some((60, vec![(vec![0], 1)]))),
            (vec![Process::default()], 1060, None),
        ];
        for (processes, ended, expected) in cases {
            let host = HostRecord { ended_micros: ended * 1_000_000, ..HostRecord::default() };
            let launch = Launch { host: Some(Box::new(host)), ..crate::testing::launch() };
            let found = find_silence(&Run { processes }, &launch);
            let last = |(ranks, step)| LastAllocation { ranks, step, location: None };
            let expected = expected.map(|(seconds, places): (u64, Vec<(Vec<u32>, u32)>)| Silence {
                seconds,
                last: places.into_iter().map(last).collect(),
            });
            assert_eq!(found, expected);
        }
    }
}
