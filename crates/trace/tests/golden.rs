//! The account kept by [`trace::Occupancy`] against what PyTorch's own allocator said of itself.
//!
//! Each file of `golden/` is one random program that real PyTorch ran: its operations, the allocator's statistics after
//! every one of them, and the memory history. `OOMPH_GOLDEN` may name another folder of such files.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde_json::Value;
use trace::{Action, Address, Bytes, Event, EventIndex, Occupancy, Settings, StackId, Stream};

#[test]
fn allocated_active_and_reserved_are_what_pytorch_counted_after_every_operation() {
    let folder = std::env::var_os("OOMPH_GOLDEN")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden"), PathBuf::from);
    let mut paths: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "gz"));
    paths.sort();
    assert!(!paths.is_empty(), "no golden files in {}", folder.display());
    let failures: Vec<String> = paths.iter().filter_map(|path| check(path).err()).collect();
    assert!(failures.is_empty(), "{} of {} files differ:\n{}", failures.len(), paths.len(), failures.join("\n"));
}

fn check(path: &Path) -> Result<(), String> {
    let golden: Value = serde_json::from_reader(GzDecoder::new(std::fs::File::open(path).unwrap())).unwrap();
    let mut replay = Replay::new(&golden);
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    for (number, op) in golden["ops"].as_array().unwrap().iter().enumerate() {
        replay
            .run(op)
            .and_then(|()| replay.compare(op))
            .map_err(|difference| format!("{name}: operation {number} {op}: {difference}"))?;
    }
    replay.compare_blocks(&golden["final_segments"]).map_err(|difference| format!("{name}: at the end: {difference}"))
}

/// Where PyTorch's figure is among an operation's statistics, and what it is compared with.
type Column = (usize, fn(&Occupancy) -> Bytes);

struct Replay {
    events: Vec<Event>,
    next: usize,
    occupancy: Occupancy,
    columns: [Column; 3],
    /// The stream of each block, and whether another one uses it too: then its free completes later.
    blocks: HashMap<u64, (u64, bool)>,
}

impl Replay {
    fn new(golden: &Value) -> Replay {
        let names = golden["stat_names"].as_array().unwrap();
        let column = |name: &str| names.iter().position(|other| other == name).unwrap();
        Replay {
            events: golden["trace"].as_array().unwrap().iter().map(event).collect(),
            next: 0,
            occupancy: Occupancy::new(&settings(golden["conf"].as_str().unwrap(), golden["torch"].as_str().unwrap())),
            columns: [
                (column("reserved"), Occupancy::reserved),
                (column("allocated"), Occupancy::allocated),
                (column("active"), Occupancy::active),
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
        let index = EventIndex(u32::try_from(self.next).unwrap());
        self.next += 1;
        self.occupancy.apply(index, event).map_err(|inconsistency| inconsistency.to_string())?;
        Ok(event.action)
    }

    fn compare(&self, op: &Value) -> Result<(), String> {
        for &(column, counted) in &self.columns {
            let (expected, found) = (op[5][column].as_u64().unwrap(), counted(&self.occupancy).0);
            if expected != found {
                return Err(format!("column {column}: PyTorch counted {expected}, oomph {found}"));
            }
        }
        Ok(())
    }

    /// Every live block, with its address and both sizes.
    fn compare_blocks(&self, segments: &Value) -> Result<(), String> {
        let mut expected = Vec::new();
        for segment in segments.as_array().unwrap() {
            let mut at = address(&segment["addr"]);
            for block in segment["blocks"].as_array().unwrap() {
                if block[1] == "active_allocated" {
                    expected.push((at, block[2].as_u64().unwrap(), block[0].as_u64().unwrap()));
                }
                at = at.offset(block[0].as_u64().unwrap());
            }
        }
        expected.sort();
        let found: Vec<_> = self.occupancy.live().map(|live| (live.address, live.requested.0, live.block.0)).collect();
        if expected == found { Ok(()) } else { Err(format!("PyTorch's blocks {expected:?}, oomph's {found:?}")) }
    }
}

fn event(entry: &Value) -> Event {
    Event {
        action: Action::from_name(entry[0].as_str().unwrap()).unwrap(),
        address: address(&entry[1]),
        size: Bytes(entry[2].as_u64().unwrap()),
        stream: Stream(entry[3].as_u64().unwrap()),
        stack: StackId::EMPTY,
        mark: None,
    }
}

/// `["m", offset]` is memory of `cudaMalloc`, `["va", offset]` of an expandable segment; of an oom it is a plain number.
fn address(value: &Value) -> Address {
    let start = match value[0].as_str() {
        Some("m") => 1 << 40,
        Some("va") => 1 << 44,
        _ => return Address(value.as_u64().unwrap_or(0)),
    };
    Address(start + value[1].as_u64().unwrap())
}

/// What a snapshot of a program with this PYTORCH_CUDA_ALLOC_CONF states as its settings.
fn settings(conf: &str, torch: &str) -> Settings {
    let mut settings = Settings { conf: conf.to_owned(), ..Settings::default() };
    let (conf, list) = match conf.split_once('[') {
        Some((before, list)) => (before, list.split_once(']').unwrap().0),
        None => (conf, ""),
    };
    for option in conf.split(',').filter(|option| !option.is_empty()) {
        match option.split_once(':').unwrap() {
            ("max_split_size_mb", mib) => {
                settings.max_split_size = Some(Bytes::from_mib(mib.parse().unwrap()));
            }
            ("expandable_segments", on) => settings.expandable_segments = on == "True",
            ("roundup_power2_divisions", "") => {
                settings.roundup_power2_divisions = divisions(list, torch);
            }
            ("roundup_power2_divisions", n) => {
                settings.roundup_power2_divisions = divisions(&format!(">:{n}"), torch);
            }
            _ => {} // Says when memory is obtained, which the trace states.
        }
    }
    settings
}

/// The list form: the first pair also holds below its boundary, `>` for what follows the last. Up to 2.9, `>` overwrites
/// the last pair too.
fn divisions(list: &str, torch: &str) -> Vec<(u64, u64)> {
    let old = ["2.0.", "2.1.", "2.4.", "2.6.", "2.8.", "2.9."].iter().any(|version| torch.starts_with(version));
    let mut filled = [0; 16];
    let mut previous = None;
    for pair in list.split(',') {
        let (boundary, n) = pair.split_once(':').unwrap();
        let n = n.parse().unwrap();
        let interval = boundary.parse().ok().map(|mib: u64| mib.ilog2().min(15) as usize);
        match (interval, previous) {
            (Some(interval), None) => filled[..=interval].fill(n),
            (Some(interval), Some(_)) => filled[interval] = n,
            (None, None) => filled.fill(n),
            (None, Some(previous)) => filled[previous + usize::from(!old)..].fill(n),
        }
        previous = interval;
    }
    filled.iter().enumerate().map(|(interval, &n)| (1 << interval, n)).collect()
}
