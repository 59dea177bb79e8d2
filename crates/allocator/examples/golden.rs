//! Replays what the real allocator did, and compares every answer: `golden FILE...`, each file a recorded run
//! (JSON, plain or gzip) of real PyTorch. Prints for each `equal` or the first difference; the status is 1 if any differ.

use std::collections::HashMap;
use std::io::Read as _;
use std::process::ExitCode;

use allocator::{Allocator, BlockId, MallocError, Rules, Settings, SimulatedDevice, Stats};
use serde::Deserialize;
use serde_json::Value;
use trace::{Action, Address, BlockState, Bytes, Event, Release, SegmentKind, Stream};

#[derive(Deserialize)]
struct Recorded {
    torch: String,
    conf: String,
    set_fraction_api: Value,
    device_total: u64,
    device_used_at_start: u64,
    stream_pointer_rank: Vec<u64>,
    stat_names: Vec<String>,
    ops: Vec<Operation>,
    final_segments: Vec<Segment>,
    trace: Vec<(String, Value, u64, Option<usize>)>,
}

/// Operation, id, argument, stream, result, statistics.
#[derive(Deserialize)]
struct Operation(String, Value, Value, Option<usize>, Value, Vec<Option<u64>>);

#[derive(Deserialize)]
struct Segment {
    addr: Place,
    total: u64,
    stream: usize,
    #[serde(rename = "type")]
    kind: String,
    blocks: Vec<(u64, String, u64)>,
}

/// `["m", offset]` or `["va", offset]`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
struct Place(String, u64);

type Model = Allocator<SimulatedDevice, Vec<Event>>;

fn place(address: Address) -> Place {
    match address.0.checked_sub(SimulatedDevice::FIRST_RESERVED.0) {
        Some(offset) => Place("va".to_owned(), offset),
        None => Place("m".to_owned(), address.0 - SimulatedDevice::FIRST_ALLOCATED.0),
    }
}

fn release(version: &str) -> Option<Release> {
    let mut parts = version.split('.').map(str::parse);
    Some(Release { major: parts.next()?.ok()?, minor: parts.next()?.ok()? })
}

fn stat(stats: &Stats, name: &str) -> Option<u64> {
    Some(match name {
        "reserved" => stats.reserved_bytes.all.current,
        "allocated" => stats.allocated_bytes.all.current,
        "active" => stats.active_bytes.all.current,
        "inactive_split_bytes" => stats.inactive_split_bytes.all.current,
        "inactive_split" => stats.inactive_split.all.current,
        "segments" => stats.segment.all.current,
        "alloc_retries" => stats.num_alloc_retries,
        "ooms" => stats.num_ooms,
        "device_alloc" => stats.num_device_alloc,
        "device_free" => stats.num_device_free,
        "sync_all_streams" => stats.num_sync_all_streams,
        "requested" => stats.requested_bytes.all.current,
        "oom_rejections" => stats.num_oom_rejections,
        _ => return None,
    })
}

struct Run<'a> {
    recorded: &'a Recorded,
    model: Model,
    live: HashMap<u64, BlockId>,
}

impl Run<'_> {
    fn stream(&self, index: Option<usize>) -> Stream {
        Stream(index.map_or(0, |index| self.recorded.stream_pointer_rank[index]))
    }

    fn apply(&mut self, Operation(name, id, argument, stream, result, _): &Operation) -> Result<(), String> {
        let id_or = id;
        let id = id.as_u64().unwrap_or_default();
        match name.as_str() {
            "alloc" => return self.malloc(id, argument.as_u64().ok_or("no size")?, *stream, result),
            "free" => {
                let block = self.live.remove(&id).ok_or("freed twice")?;
                self.model.free(block);
            }
            "record_stream" => {
                let stream = argument.as_u64().and_then(|index| usize::try_from(index).ok());
                self.model.record_stream(self.live[&id], self.stream(stream));
            }
            "hold_events" => self.model.hold_events(id_or.as_bool().unwrap_or(true)),
            "complete_events" => self.model.complete_events(),
            "empty_cache" => self.model.empty_cache(),
            _ => return Err(format!("unknown operation {name}")),
        }
        Ok(())
    }

    fn malloc(&mut self, id: u64, size: u64, stream: Option<usize>, result: &Value) -> Result<(), String> {
        let got = self.model.malloc(Bytes(size), self.stream(stream));
        if let Ok(block) = got {
            self.live.insert(id, block);
        }
        let expected = Place::deserialize(result);
        match (got, expected) {
            (Ok(block), Ok(expected)) if place(self.model.address(block)) == expected => Ok(()),
            (Ok(block), expected) => {
                Err(format!("at {:?}, recorded {expected:?} {result}", place(self.model.address(block))))
            }
            (Err(MallocError::OutOfMemory(_)), Err(_)) if !result.as_str().unwrap_or("").contains("reject") => Ok(()),
            (Err(MallocError::Rejected { .. }), Err(_)) if result.as_str().unwrap_or("").contains("reject") => Ok(()),
            (Err(error), _) => Err(format!("{error}, recorded {result}")),
        }
    }

    fn compare_stats(&self, expected: &[Option<u64>]) -> Result<(), String> {
        for (name, expected) in self.recorded.stat_names.iter().zip(expected) {
            let got = stat(self.model.stats(), name).ok_or_else(|| format!("unknown statistic {name}"))?;
            if expected.is_some_and(|expected| expected != got) {
                return Err(format!("{name} {got}, recorded {expected:?}"));
            }
        }
        Ok(())
    }

    fn compare_segments(&self) -> Result<(), String> {
        let mut expected: Vec<&Segment> = self.recorded.final_segments.iter().collect();
        expected.sort_by_key(|segment| (segment.addr.0.clone(), segment.addr.1));
        let got = self.model.segments();
        if got.len() != expected.len() {
            return Err(format!("{} segments, recorded {}", got.len(), expected.len()));
        }
        for (got, expected) in got.iter().zip(expected) {
            let state = |state| match state {
                BlockState::ActiveAllocated => "active_allocated",
                BlockState::ActivePendingFree => "active_pending_free",
                BlockState::Inactive => "inactive",
            };
            let blocks: Vec<_> =
                got.blocks.iter().map(|b| (b.size.0, state(b.state).to_owned(), b.requested_size.0)).collect();
            let kind = if got.kind == SegmentKind::Small { "small" } else { "large" };
            let same = place(got.address) == expected.addr
                && got.total_size.0 == expected.total
                && got.stream == self.stream(Some(expected.stream))
                && kind == expected.kind
                && blocks == expected.blocks;
            if !same {
                return Err(format!("segment {got:?}, recorded at {:?} {:?}", expected.addr, expected.blocks));
            }
        }
        Ok(())
    }

    /// Runs of `free_completed` have no order between streams: they are sorted on both sides.
    fn compare_trace(&self) -> Result<(), String> {
        let got = self.model.observer().iter().map(|event| {
            let address = match event.action {
                Action::Oom => event.address.0.to_string(),
                _ => format!("{:?}", place(event.address)),
            };
            (event.action, address, event.size.0, event.stream.0)
        });
        let expected = self.recorded.trace.iter().map(|(action, address, size, stream)| {
            let action = Action::from_name(action).ok_or_else(|| format!("unknown action {action}"))?;
            let address = match Place::deserialize(address) {
                Ok(place) => format!("{place:?}"),
                Err(_) => address.to_string(),
            };
            Ok((action, address, *size, self.stream(*stream).0))
        });
        let got = sorted_runs(got.collect());
        let expected = sorted_runs(expected.collect::<Result<_, String>>()?);
        for (index, (got, expected)) in got.iter().zip(&expected).enumerate() {
            if got != expected {
                return Err(format!("history entry {index}: {got:?}, recorded {expected:?}"));
            }
        }
        if got.len() != expected.len() {
            return Err(format!("{} history entries, recorded {}", got.len(), expected.len()));
        }
        Ok(())
    }
}

type Entry = (Action, String, u64, u64);

fn sorted_runs(mut entries: Vec<Entry>) -> Vec<Entry> {
    for run in entries.chunk_by_mut(|a, b| a.0 == Action::FreeCompleted && b.0 == Action::FreeCompleted) {
        run.sort();
    }
    entries
}

fn read(path: &str) -> Result<Recorded, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let mut text = String::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).map_err(|error| error.to_string())?;
    } else {
        text = String::from_utf8(bytes).map_err(|error| error.to_string())?;
    }
    serde_json::from_str(&text).map_err(|error| error.to_string())
}

fn check(path: &str) -> Result<(), String> {
    let recorded = read(path)?;
    let release = release(&recorded.torch).ok_or_else(|| format!("no version in {:?}", recorded.torch))?;
    let settings = settings(&recorded.conf, release)?;
    let device = SimulatedDevice::new(recorded.device_total, recorded.device_used_at_start);
    let model = Allocator::new(Rules::of(release), settings, device, Vec::new());
    let mut run = Run { recorded: &recorded, model, live: HashMap::new() };
    let fraction = match &recorded.set_fraction_api {
        Value::String(text) if !text.is_empty() => Some(text.parse().map_err(|_| format!("no fraction: {text}"))?),
        other => other.as_f64(),
    };
    if let Some(fraction) = fraction {
        run.model.set_memory_fraction(fraction);
    }
    for (index, operation) in recorded.ops.iter().enumerate() {
        run.apply(operation)
            .and_then(|()| run.compare_stats(&operation.5))
            .map_err(|difference| format!("operation {index} {} {}: {difference}", operation.0, operation.2))?;
    }
    run.compare_segments()?;
    run.compare_trace()
}

fn main() -> ExitCode {
    let (mut equal, mut different) = (0, 0);
    for path in std::env::args().skip(1) {
        match check(&path) {
            Ok(()) => {
                equal += 1;
                println!("{path}: equal");
            }
            Err(difference) => {
                different += 1;
                println!("{path}: {difference}");
            }
        }
    }
    println!("{equal} equal, {different} different");
    if different == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn settings(conf: &str, release: Release) -> Result<Settings, String> {
    let mib = |value: &str| value.parse::<u64>().map(|n| Bytes(n << 20)).map_err(|_| value.to_owned());
    let mut settings = Settings::default();
    let mut rest = conf;
    let mut non_split = false;
    while !rest.is_empty() {
        let (key, value) = rest.split_once(':').ok_or("no colon")?;
        let end = if value.starts_with('[') {
            value.find(']').map_or(value.len(), |i| i + 1)
        } else {
            value.find(',').unwrap_or(value.len())
        };
        let (value, after) = value.split_at(end);
        rest = after.trim_start_matches(',');
        match key {
            "max_split_size_mb" => settings.max_split_size = Some(mib(value)?),
            "max_non_split_rounding_mb" => {
                settings.max_non_split_rounding = mib(value)?;
                non_split = true;
            }
            "large_segment_size_mb" => {
                settings.large_segment_size = mib(value)?;
                if !non_split {
                    settings.max_non_split_rounding = mib(value)?;
                }
            }
            "garbage_collection_threshold" => {
                settings.garbage_collection_threshold = value.parse().map_err(|_| value.to_owned())?
            }
            "per_process_memory_fraction" => {
                settings.per_process_memory_fraction = value.parse().map_err(|_| value.to_owned())?
            }
            "expandable_segments" => settings.expandable_segments = value == "True",
            "throw_on_cudamalloc_oom" => settings.throw_on_cudamalloc_oom = value == "True",
            "expandable_segments_reserve" => {
                settings.expandable_segments_reserve = Some(match value.strip_suffix('G') {
                    Some(n) => allocator::Reserve::Bytes(Bytes(n.parse::<u64>().map_err(|_| value.to_owned())? << 30)),
                    None => allocator::Reserve::Fraction(value.parse().map_err(|_| value.to_owned())?),
                })
            }
            "roundup_power2_divisions" => {
                if let Ok(n) = value.parse() {
                    settings.roundup_power2_divisions = [n; 16];
                } else {
                    let inner = value.trim_matches(['[', ']']);
                    let mut last = 0usize;
                    let mut first = true;
                    for pair in inner.split(',') {
                        let (b, d) = pair.split_once(':').ok_or("pair")?;
                        let d: u64 = d.parse().map_err(|_| pair.to_owned())?;
                        if b == ">" {
                            let from = if release >= (Release { major: 2, minor: 10 }) { last + 1 } else { last };
                            for slot in settings.roundup_power2_divisions.iter_mut().skip(from) {
                                *slot = d;
                            }
                        } else {
                            let i = (b.parse::<u64>().map_err(|_| pair.to_owned())?.ilog2() as usize).min(15);
                            if first {
                                settings.roundup_power2_divisions[..i].fill(d);
                                first = false;
                            }
                            settings.roundup_power2_divisions[i] = d;
                            last = i;
                        }
                    }
                }
            }
            _ => return Err(format!("unknown key {key}")),
        }
    }
    Ok(settings)
}
