//! Replays recorded runs of the real allocator, and compares every result.
//!
//! ```sh
//! cargo run --release -p allocator --example golden -- FILE...
//! ```
//!
//! A file is a recorded run of real PyTorch (JSON, plain or gzip), or many runs, one per line (`.jsonl`, or `-` for
//! standard input). Prints `equal` or the first difference for each file, and for files of many runs only the
//! differences; the status is 1 if any run differs.

mod compare;
mod device;
mod message;
mod pools;
mod recorded;
mod run;
mod statistics;
mod steps;

use std::io::{BufRead as _, Read as _};
use std::path::Path;
use std::process::ExitCode;

use recorded::Recorded;
use run::Run;

#[derive(Default)]
struct Tally {
    equal: u64,
    different: u64,
}

impl Tally {
    fn add(&mut self, name: &str, result: Result<(), String>) {
        match result {
            Ok(()) => self.equal += 1,
            Err(difference) => {
                self.different += 1;
                println!("{name}: {difference}");
            }
        }
    }
}

fn main() -> ExitCode {
    let mut tally = Tally::default();
    for path in std::env::args().skip(1) {
        let result = if has_lines(&path) { check_lines(&path, &mut tally) } else { check_file(&path, &mut tally) };
        if let Err(problem) = result {
            tally.add(&path, Err(problem));
        }
    }
    println!("{} equal, {} different", tally.equal, tally.different);
    if tally.different == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn has_lines(path: &str) -> bool {
    path == "-" || Path::new(path).extension().is_some_and(|extension| extension == "jsonl")
}

fn check_lines(path: &str, tally: &mut Tally) -> Result<(), String> {
    for (index, line) in recorded::open(path)?.lines().enumerate() {
        let line = line.map_err(|error| error.to_string())?;
        tally.add(&format!("{path}:{}", index + 1), check(&line));
    }
    Ok(())
}

fn check_file(path: &str, tally: &mut Tally) -> Result<(), String> {
    let mut text = String::new();
    recorded::open(path)?.read_to_string(&mut text).map_err(|error| error.to_string())?;
    let result = check(&text);
    if result.is_ok() {
        println!("{path}: equal");
    }
    tally.add(path, result);
    Ok(())
}

fn check(text: &str) -> Result<(), String> {
    let recorded: Recorded = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let result = Run::new(&recorded).and_then(Run::check);
    let Recorded { seed, number, torch, conf, .. } = &recorded;
    result.map_err(|difference| match (seed, number) {
        (Some(seed), Some(number)) => format!("seed {seed}, program {number} ({torch}; {conf}): {difference}"),
        _ => difference,
    })
}
