//! A program that allocated nothing for a while before it ended: it waited, as ranks wait in a collective for a rank that does not come.

use std::collections::BTreeMap;

use report::words::relative;
use trace::{Launch, Process, Run, Snapshot, StackId};

use crate::measure::own::is_own;

/// A shorter silence is work on the CPU.
const LEAST_SECONDS: u64 = 60;

/// The last events among which a line of the user is searched.
const FEW: usize = 1000;

/// The last allocations of all processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Silence {
    seconds: u64,
    /// The ranks by their places.
    places: BTreeMap<LastPlace, Vec<u32>>,
}

/// The step under way and the user's line of a last allocation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LastPlace {
    step: u32,
    line: Option<(String, u32)>,
}

/// Finds the silence before the end of a run; `None` if a process allocated in the last minute.
pub(super) fn find_silence(run: &Run, launch: &Launch) -> Option<Silence> {
    let (mut latest, mut places) = (0, BTreeMap::<LastPlace, Vec<u32>>::new());
    for process in &run.processes {
        let Some((micros, line)) = last_allocation(process) else { continue };
        latest = latest.max(micros);
        let place = LastPlace { step: process.step_count() + 1, line };
        places.entry(place).or_default().push(process.identity.rank);
    }
    let seconds = launch.host.as_ref()?.ended_micros.checked_sub(latest)? / 1_000_000;
    (seconds >= LEAST_SECONDS && !places.is_empty()).then_some(Silence { seconds, places })
}

impl Silence {
    /// The line for the user. `folder` shortens paths.
    pub(super) fn describe(&self, folder: &str) -> String {
        let is_job = self.places.values().map(Vec::len).sum::<usize>() > 1;
        let places: Vec<String> = self
            .places
            .iter()
            .map(|(LastPlace { step, line }, ranks)| {
                let who = if is_job { words_of_ranks(ranks) + " " } else { String::new() };
                let line = line
                    .as_ref()
                    .map_or_else(String::new, |(file, line)| format!(" ({}:{line})", relative(file, folder)));
                format!("{who}at step {step}{line}")
            })
            .collect();
        format!("oomph: nothing was allocated in the last {} s; last {}", self.seconds, places.join(", "))
    }
}

fn words_of_ranks(ranks: &[u32]) -> String {
    let numbers: Vec<String> = ranks.iter().map(u32::to_string).collect();
    format!("{} {}", if ranks.len() == 1 { "rank" } else { "ranks" }, numbers.join(", "))
}

/// The time of the last event, and the last line of the user: a backward allocates without one.
fn last_allocation(process: &Process) -> Option<(u64, Option<(String, u32)>)> {
    let snapshot = process.snapshot.as_ref()?;
    let of_device = snapshot.traces.iter().max_by_key(|trace| trace.last().and_then(|event| event.time))?;
    let micros = of_device.last()?.time?.micros();
    let line = of_device.iter().rev().take(FEW).find_map(|event| line_of(snapshot, event.stack));
    Some((micros, line))
}

fn line_of(snapshot: &Snapshot, stack: StackId) -> Option<(String, u32)> {
    let frame = snapshot.stacks.frames(stack).find(|frame| is_own(&frame.file, ""))?;
    Some((frame.file.clone(), frame.line))
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
    fn a_silence_names_the_ranks_by_their_steps() {
        let jobs = vec![process(0, 12, 1000), process(1, 11, 990), process(2, 12, 1000)];
        let cases = [
            (jobs.clone(), 1601, Some("the last 601 s; last rank 1 at step 12, ranks 0, 2 at step 13")),
            (jobs, 1010, None),
            (vec![process(0, 0, 1000)], 1060, Some("the last 60 s; last at step 1")),
            (vec![Process::default()], 1060, None),
        ];
        for (processes, ended, expected) in cases {
            let host = HostRecord { ended_micros: ended * 1_000_000, ..HostRecord::default() };
            let launch = Launch { host: Some(Box::new(host)), ..crate::testing::launch() };
            let found = find_silence(&Run { processes }, &launch).map(|silence| silence.describe("/work"));
            let expected = expected.map(|words| format!("oomph: nothing was allocated in {words}"));
            assert_eq!(found, expected);
        }
    }
}
