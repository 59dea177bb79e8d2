//! How fast histories are replayed: `speed SETTINGS FILE...` replays each snapshot under its own settings on one core, and
//! then under so many settings on all cores. Prints events per second.

use std::process::ExitCode;
use std::time::Instant;

use allocator::replay::{Program, recorded_settings, replay};
use allocator::{Rules, Settings, SimulatedDevice};
use rayon::prelude::*;
use trace::{Bytes, DeviceIndex, History, Release, read_snapshot};

const ROOM_BYTES: u64 = 1 << 40;

fn read(path: &str) -> Result<(Program, Settings), String> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let snapshot = read_snapshot(file).map_err(|error| error.to_string())?;
    let history = History::of(&snapshot, DeviceIndex(0));
    let program = Program::of(&snapshot, DeviceIndex(0), &history).map_err(|error| error.to_string())?;
    let settings = recorded_settings(&snapshot.settings, &snapshot.traces[0]);
    Ok((program, settings))
}

/// Settings of every kind, none like another.
fn variants(settings: &Settings, count: u64) -> Vec<Settings> {
    let variant = |n: u64| Settings {
        expandable_segments: n.is_multiple_of(3),
        max_split_size: (n % 3 != 0).then_some(Bytes((20 + n) << 20)),
        roundup_power2_divisions: [1 << (n % 5); 16],
        ..settings.clone()
    };
    (0..count).map(variant).collect()
}

fn measure(path: &str, count: u64) -> Result<(), String> {
    let (program, settings) = read(path)?;
    let rules = Rules::of(Release { major: 2, minor: 11 });
    let run = |settings: &Settings| replay(&program, settings, rules, SimulatedDevice::new(ROOM_BYTES, 0));
    let repeats = 10_000_000 / program.event_count() + 1;
    let start = Instant::now();
    let reserved = (0..repeats).map(|_| run(&settings).peak_reserved_bytes()).max();
    let seconds = start.elapsed().as_secs_f64();
    let events = (repeats * program.event_count()) as f64;
    println!("{path}: {} events, peak {reserved:?}", program.event_count());
    println!("  one core: {:.1} million events a second", events / seconds / 1e6);
    let variants = variants(&settings, count);
    let start = Instant::now();
    variants.par_iter().for_each(|settings| drop(run(settings)));
    let seconds = start.elapsed().as_secs_f64();
    let events = (variants.len() * program.event_count()) as f64;
    println!("  {count} settings: {seconds:.1} s, {:.1} million events a second", events / seconds / 1e6);
    Ok(())
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let count = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(0);
    for path in arguments {
        if let Err(error) = measure(&path, count) {
            println!("{path}: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
