//! The account kept by [`trace::History`] against what PyTorch's own allocator said of itself.
#![expect(clippy::unwrap_used, reason = "a test")]

mod recorded;

use std::collections::HashMap;

use recorded::{Golden, goldens};
use serde_json::Value;
use trace::{Action, Bytes, Event, History, Totals};

#[test]
fn the_totals_are_what_pytorch_counted_after_every_operation() {
    let goldens = goldens();
    let failures: Vec<String> = goldens.iter().filter_map(|golden| check(golden).err()).collect();
    assert!(failures.is_empty(), "{} of {} files differ:\n{}", failures.len(), goldens.len(), failures.join("\n"));
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

/// Where PyTorch's figure is among an operation's statistics, and what it is compared with.
type Column = (usize, fn(&Totals) -> Bytes);

struct Replay<'a> {
    events: &'a [Event],
    next: usize,
    /// After each event.
    totals: Vec<Totals>,
    columns: [Column; 4],
    /// The stream of each block, and whether another one uses it too: then its free completes later.
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
            columns: [
                (golden.column("reserved"), |totals| totals.reserved),
                (golden.column("allocated"), |totals| totals.allocated),
                (golden.column("active"), |totals| totals.active),
                (golden.column("requested"), |totals| totals.requested),
            ],
            blocks: HashMap::new(),
        }
    }

    /// Applies the events that belong to one operation.
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
