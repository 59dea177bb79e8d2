//! The account of [`trace::History`] against the statistics of PyTorch's own allocator.
#![expect(clippy::unwrap_used, reason = "a test")]

mod recorded;

use std::collections::HashMap;

use recorded::{Golden, goldens};
use serde_json::Value;
use trace::{Action, Bytes, Event, EventIndex, FailedRequest, History, SegmentState, Totals};

#[test]
fn the_totals_are_what_pytorch_counted_after_every_operation() {
    let goldens = goldens();
    let failures: Vec<String> = goldens.iter().filter_map(|golden| check(golden).err()).collect();
    assert!(failures.is_empty(), "{} of {} files differ:\n{}", failures.len(), goldens.len(), failures.join("\n"));
}

/// `inactive_split_bytes` leaves out expandable segments, `segments` does not count them.
#[test]
fn the_gaps_between_blocks_are_what_pytorch_counted() {
    for golden in goldens() {
        let mut replay = Replay::new(&golden);
        let columns = ["segments", "inactive_split", "inactive_split_bytes"].map(|name| golden.column(name));
        for (number, op) in golden.json["ops"].as_array().unwrap().iter().enumerate() {
            replay.run(op).unwrap();
            let Some(last) = replay.next.checked_sub(1) else { continue };
            let state = replay.history.state_after(EventIndex(u32::try_from(last).unwrap()));
            let segments = state.segments.iter().filter(|segment| !segment.is_expandable);
            let split = |segment: &&SegmentState| !segment.used.is_empty();
            let gaps: Vec<u64> =
                segments.clone().filter(split).flat_map(SegmentState::gaps).map(|gap| gap.size.0).collect();
            let found = [segments.count() as u64, gaps.len() as u64, gaps.iter().sum()];
            let expected = columns.map(|column| op[5][column].as_u64().unwrap());
            assert_eq!(found, expected, "{}: operation {number} {op}", golden.name);
        }
    }
}

/// The device's size was set for the program; the history infers it from a failed request.
#[test]
fn a_failed_request_tells_how_much_memory_there_is() {
    let mut failed = 0;
    for golden in goldens() {
        let [total, taken] = ["device_total", "device_used_at_start"].map(|key| golden.json[key].as_u64().unwrap());
        let history = History::walk(&golden.events, None, &golden.settings);
        for request in history.ooms() {
            assert_eq!(request.capacity(), Bytes(total - taken), "{}: {request:?}", golden.name);
            check_free_blocks(&golden, &history, request);
            failed += 1;
        }
    }
    assert!(failed > 0);
}

/// A large-enough free block is not used if its size is limited (`max_split_size_mb`), or if it was freed only while
/// memory was released: PyTorch searches before the release (`get_free_block`).
fn check_free_blocks(golden: &Golden, history: &History, request: &FailedRequest) {
    let free = history.free_blocks_at(request, |_| true);
    assert!(free.serving <= free.any, "{}", golden.name);
    let was_pending = golden.events[..request.event.0 as usize].iter().rev();
    let was_pending = was_pending.take_while(|event| event.action != Action::Alloc);
    let was_pending = was_pending.map(|event| event.action).any(|action| action == Action::FreeCompleted);
    let limited = golden.settings.max_split_size.is_some();
    assert!(free.serving < request.requested || was_pending || limited, "{}: {request:?} {free:?}", golden.name);
}

fn check(golden: &Golden) -> Result<(), String> {
    let mut replay = Replay::new(golden);
    for (number, op) in golden.json["ops"].as_array().unwrap().iter().enumerate() {
        replay
            .run(op)
            .and_then(|()| replay.compare(op))
            .map_err(|difference| format!("{}: operation {number} {op}: {difference}", golden.name))?;
    }
    Ok(())
}

/// The index of PyTorch's figure in an operation's statistics, and the total to compare.
type Column = (usize, fn(&Totals) -> Bytes);

struct Replay<'a> {
    events: &'a [Event],
    history: History,
    next: usize,
    /// The totals after each event.
    totals: Vec<Totals>,
    columns: [Column; 4],
    /// The stream of each block, and true for a block of several streams, whose free is delayed.
    blocks: HashMap<u64, (u64, bool)>,
}

impl Replay<'_> {
    fn new(golden: &Golden) -> Replay<'_> {
        let history = History::walk(&golden.events, None, &golden.settings);
        assert_eq!(history.inconsistencies().first, [], "{}", golden.name);
        Replay {
            events: &golden.events,
            next: 0,
            totals: history.totals().collect(),
            history,
            columns: [
                (golden.column("reserved"), |totals| totals.reserved),
                (golden.column("allocated"), |totals| totals.allocated),
                (golden.column("active"), |totals| totals.active),
                (golden.column("requested"), |totals| totals.requested),
            ],
            blocks: HashMap::new(),
        }
    }

    /// Applies the events of an operation.
    fn run(&mut self, op: &Value) -> Result<(), String> {
        let id = op[1].as_u64();
        match op[0].as_str().unwrap() {
            "alloc" => {
                self.blocks.insert(id.unwrap(), (op[3].as_u64().unwrap(), false));
                let last = if op[4].is_string() { Action::Oom } else { Action::Alloc };
                while self.step()? != last {}
            }
            "free" => {
                while self.step()? != Action::FreeRequested {}
                if !self.blocks[&id.unwrap()].1 {
                    self.step()?;
                }
            }
            "record_stream" => {
                let (stream, shared) = self.blocks.get_mut(&id.unwrap()).unwrap();
                *shared |= op[3].as_u64().or(op[2].as_u64()) != Some(*stream);
            }
            "empty_cache" => {
                let releases = [Action::FreeCompleted, Action::SegmentFree, Action::SegmentUnmap];
                while self.events.get(self.next).is_some_and(|event| releases.contains(&event.action)) {
                    self.step()?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn step(&mut self) -> Result<Action, String> {
        let event = self.events.get(self.next).ok_or("the trace is over")?;
        self.next += 1;
        Ok(event.action)
    }

    fn compare(&self, op: &Value) -> Result<(), String> {
        let totals = self.next.checked_sub(1).map_or(Totals::default(), |last| self.totals[last]);
        for &(column, counted) in &self.columns {
            let (expected, found) = (op[5][column].as_u64().unwrap(), counted(&totals).0);
            if expected != found {
                return Err(format!("column {column}: PyTorch counted {expected}, oomph {found}"));
            }
        }
        Ok(())
    }
}
