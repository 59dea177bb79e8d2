//! Measures the speed of replays: `speed SETTINGS SNAPSHOT [OPERATIONS]` replays a history under its own settings on
//! one core, then under `SETTINGS` different settings on all cores, then without each of 20 causes on all cores, and prints the
//! figures as JSON. The third argument is a file for the requests, to be read by the benchmark of the real allocator
//! (benches/allocator.py).

use std::error::Error;
use std::io::{BufWriter, Write as _};
use std::time::Instant;

use allocator::replay::{AllocationChange, Program, recorded_settings, replay};
use allocator::{Rules, Settings, SimulatedDevice};
use rayon::prelude::*;
use serde_json::json;
use trace::{Bytes, DeviceIndex, EventIndex, History, Lifetime, Moment, Release, read_snapshot};

const ROOM_BYTES: u64 = 1 << 40;
const EVENTS: usize = 20_000_000;
const CAUSES: usize = 20;
/// A cause frees its blocks so many events after their allocation.
const SHORT_LIFE: u32 = 100;

/// Settings of every kind, all different.
fn variants(settings: &Settings, count: u64) -> Vec<Settings> {
    let variant = |n: u64| Settings {
        expandable_segments: n.is_multiple_of(3),
        max_split_size: (!n.is_multiple_of(3)).then_some(Bytes((20 + n) << 20)),
        roundup_power2_divisions: [1 << (n % 5); 16],
        ..settings.clone()
    };
    (0..count).map(variant).collect()
}

/// The changes of a cause: one block of [`CAUSES`] is freed early.
fn cause(history: &History, number: usize) -> impl Iterator<Item = (&Lifetime, AllocationChange)> {
    let lives = history.lifetimes().iter().skip(number).step_by(CAUSES);
    lives.filter_map(|life| {
        let begun = life.begun.event_before()?;
        Some((life, AllocationChange::FreeAfter(EventIndex(begun.0 + SHORT_LIFE))))
    })
}

/// Writes requests and frees, one per line. For histories of one stream that begin with the program.
fn write_operations(history: &History, path: &str) -> Result<(), Box<dyn Error>> {
    let mut operations = Vec::new();
    for (slot, life) in history.lifetimes().iter().enumerate() {
        operations.push((life.begun, format!("m {slot} {}", life.requested.0)));
        if life.free_requested != Moment::NEVER {
            operations.push((life.free_requested, format!("f {slot}")));
        }
    }
    operations.sort_by_key(|&(moment, _)| moment);
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    for (_, line) in operations {
        writeln!(file, "{line}")?;
    }
    Ok(file.flush()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [count, path, operations @ ..] = arguments.as_slice() else {
        return Err("usage: speed SETTINGS SNAPSHOT [OPERATIONS]".into());
    };
    let snapshot = read_snapshot(std::fs::File::open(path)?)?;
    let history = History::of(&snapshot, DeviceIndex(0));
    let program = Program::of(&snapshot, DeviceIndex(0), &history)?;
    let settings = recorded_settings(&snapshot.settings, &snapshot.traces[0], snapshot.torch.from);
    if let [operations] = operations {
        write_operations(&history, operations)?;
    }
    let rules = Rules::of(Release { major: 2, minor: 11 });
    let run = |settings: &Settings| replay(&program, settings, rules, SimulatedDevice::new(ROOM_BYTES, 0));
    let repeats = EVENTS / program.event_count() + 1;
    let start = Instant::now();
    let reserved = (0..repeats).map(|_| run(&settings).peak_reserved_bytes()).max();
    let seconds = start.elapsed().as_secs_f64();
    let variants = variants(&settings, count.parse()?);
    let start = Instant::now();
    variants.par_iter().for_each(|settings| drop(run(settings)));
    let settings_seconds = start.elapsed().as_secs_f64();
    let start = Instant::now();
    (0..CAUSES).into_par_iter().for_each(|number| {
        let edited = program.edited(cause(&history, number));
        // On a device that is never full, and on that of the recording.
        for bytes in [SimulatedDevice::NEVER_FULL_BYTES, ROOM_BYTES] {
            drop(replay(&edited, &settings, rules, SimulatedDevice::new(bytes, 0)));
        }
    });
    println!(
        "{}",
        json!({
            "history_events": program.event_count(),
            "events": repeats * program.event_count(),
            "operations": repeats * program.operation_count(),
            "seconds": seconds,
            "reserved_bytes": reserved,
            "settings_seconds": settings_seconds,
            "causes": CAUSES,
            "causes_seconds": start.elapsed().as_secs_f64(),
        })
    );
    Ok(())
}
