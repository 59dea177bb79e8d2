//! Replays recorded histories under their own settings: `replay FILE...`, each a snapshot. Prints for each device the
//! number of segment events and placements that the model repeats; the status is 1 if any differ.

use std::process::ExitCode;

use allocator::replay::{Program, recorded_by, recorded_settings};
use trace::{DeviceIndex, History, read_snapshot};

fn check(path: &str) -> Result<bool, String> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let snapshot = read_snapshot(file).map_err(|error| error.to_string())?;
    let mut same = true;
    for (index, events) in (0..).zip(&snapshot.traces) {
        if events.is_empty() {
            continue;
        }
        let history = History::of(&snapshot, DeviceIndex(index));
        let program = Program::of(&snapshot, DeviceIndex(index), &history).map_err(|error| error.to_string())?;
        let settings = recorded_settings(&snapshot.settings, events, snapshot.torch.from);
        let (release, agreement) = recorded_by(&program, events, &settings, snapshot.torch);
        let whole = if program.is_whole() { "from its beginning" } else { "from a reconstructed state" };
        println!(
            "{path} device {index}: {} events {whole}, as torch {release}: {} segment events and {} placements as recorded{}",
            events.len(),
            agreement.segment_events,
            agreement.placements,
            agreement.difference.as_ref().map_or(String::new(), |difference| format!(", then {difference:?}"))
        );
        same &= agreement.difference.is_none();
    }
    Ok(same)
}

fn main() -> ExitCode {
    let mut same = true;
    for path in std::env::args().skip(1) {
        match check(&path) {
            Ok(equal) => same &= equal,
            Err(error) => {
                println!("{path}: {error}");
                same = false;
            }
        }
    }
    if same { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
