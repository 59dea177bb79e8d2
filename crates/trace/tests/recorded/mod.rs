//! Random programs run by real PyTorch: their recordings, as values.
//!
//! Each file of `golden/` is a program: its operations, the allocator's statistics after every operation, the memory
//! history and the segments at the end. `OOMPH_GOLDEN` may name a folder of more such files.
#![expect(clippy::unwrap_used, reason = "a test")]
#![allow(dead_code, reason = "each test uses its part")]

pub(crate) mod allocator;

use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde_json::Value;
use trace::{
    Action, Address, Block, BlockState, Bytes, DeviceIndex, Event, Segment, SegmentKind, SnapshotSettings, StackId,
    Stream,
};

/// One program.
#[derive(Debug)]
pub(crate) struct Golden {
    /// The file's name.
    pub(crate) name: String,
    /// The file.
    pub(crate) json: Value,
    /// The memory history.
    pub(crate) events: Vec<Event>,
    /// The segments at the end.
    pub(crate) segments: Vec<Segment>,
    /// The settings that a snapshot would state.
    pub(crate) settings: SnapshotSettings,
}

impl Golden {
    /// The index of a statistic among those of an operation.
    pub(crate) fn column(&self, name: &str) -> usize {
        self.json["stat_names"].as_array().unwrap().iter().position(|other| other == name).unwrap()
    }
}

/// All programs, by name.
pub(crate) fn goldens() -> Vec<Golden> {
    let folder = std::env::var_os("OOMPH_GOLDEN")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden"), PathBuf::from);
    goldens_in(&folder)
}

/// All programs of a folder, by name.
pub(crate) fn goldens_in(folder: &Path) -> Vec<Golden> {
    let mut paths: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "gz"));
    paths.sort();
    assert!(!paths.is_empty(), "no golden files in {}", folder.display());
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Golden {
    let json: Value = serde_json::from_reader(GzDecoder::new(std::fs::File::open(path).unwrap())).unwrap();
    Golden {
        name: path.file_name().unwrap().to_string_lossy().into_owned(),
        events: json["trace"].as_array().unwrap().iter().map(event).collect(),
        segments: json["final_segments"].as_array().unwrap().iter().map(segment).collect(),
        settings: settings(json["conf"].as_str().unwrap(), json["torch"].as_str().unwrap()),
        json,
    }
}

fn segment(value: &Value) -> Segment {
    let mut at = address(&value["addr"]);
    let mut blocks = Vec::new();
    for block in value["blocks"].as_array().unwrap() {
        let state = match block[1].as_str().unwrap() {
            "active_allocated" => BlockState::ActiveAllocated,
            "active_pending_free" => BlockState::ActivePendingFree,
            _ => BlockState::Inactive,
        };
        let (size, requested_size) = (Bytes(block[0].as_u64().unwrap()), Bytes(block[2].as_u64().unwrap()));
        blocks.push(Block { address: at, size, requested_size, state, stack: StackId::EMPTY });
        at = at.offset(size.0);
    }
    let total_size = Bytes(value["total"].as_u64().unwrap());
    let allocated = blocks.iter().filter(|block| block.state == BlockState::ActiveAllocated);
    Segment {
        device: DeviceIndex(0),
        address: address(&value["addr"]),
        total_size,
        allocated_size: allocated.map(|block| block.size).sum(),
        stream: Stream(value["stream"].as_u64().unwrap()),
        kind: if value["type"] == "small" { SegmentKind::Small } else { SegmentKind::Large },
        is_expandable: value["addr"][0] == "va",
        pool: None,
        stack: StackId::EMPTY,
        blocks,
    }
}

fn event(entry: &Value) -> Event {
    let action = Action::from_name(entry[0].as_str().unwrap()).unwrap();
    let stream = Stream(entry[3].as_u64().unwrap());
    Event { stream, ..Event::new(action, address(&entry[1]), Bytes(entry[2].as_u64().unwrap())) }
}

/// `["m", offset]` is memory of `cudaMalloc`, `["va", offset]` of an expandable segment; an oom has a plain number.
fn address(value: &Value) -> Address {
    let start = match value[0].as_str() {
        Some("m") => 1 << 40,
        Some("va") => 1 << 44,
        _ => return Address(value.as_u64().unwrap_or(0)),
    };
    Address(start + value[1].as_u64().unwrap())
}

/// The settings that a snapshot of a program with this PYTORCH_CUDA_ALLOC_CONF states.
fn settings(conf: &str, torch: &str) -> SnapshotSettings {
    let mut settings = SnapshotSettings { conf: conf.to_owned(), ..SnapshotSettings::default() };
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
            _ => {} // Changes when memory is reserved, which the trace states.
        }
    }
    settings
}

/// The list form: the first pair also holds below its boundary, `>` for all intervals after the last. Up to 2.9, `>`
/// overwrites the last pair too.
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
