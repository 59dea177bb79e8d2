//! Replays what the real allocator did, and compares every answer: `golden FILE...`, each a recorded run of real PyTorch
//! (JSON, plain or gzip) or many of them, one a line (`.jsonl`, or `-` for standard input). Prints for each `equal` or the first
//! difference, of lines the differences alone; the status is 1 if any differ.

mod compare;
mod device;
mod message;
mod recorded;
mod run;
mod statistics;

use std::io::{BufRead as _, Read as _};
use std::process::ExitCode;

use recorded::Recorded;
use run::Run;

#[derive(Default)]
struct Tally {
    equal: u64,
    different: u64,
}

impl Tally {
    fn add(&mut self, name: &str, result: Result<(), String>, says_equal: bool) {
        match result {
            Ok(()) => {
                self.equal += 1;
                if says_equal {
                    println!("{name}: equal");
                }
            }
            Err(difference) => {
                self.different += 1;
                println!("{name}: {difference}");
            }
        }
    }
}

fn check(text: &str) -> Result<(), String> {
    let recorded: Recorded = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let result = Run::new(&recorded).and_then(Run::check);
    result.map_err(|difference| match (recorded.seed, recorded.number) {
        (Some(seed), Some(number)) => {
            format!("seed {seed}, program {number} ({}; {}): {difference}", recorded.torch, recorded.conf)
        }
        _ => difference,
    })
}

fn check_file(path: &str, tally: &mut Tally) -> Result<(), String> {
    let mut file = recorded::open(path)?;
    if path == "-" || path.ends_with(".jsonl") {
        for (index, line) in file.lines().enumerate() {
            let line = line.map_err(|error| error.to_string())?;
            tally.add(&format!("{path}:{}", index + 1), check(&line), false);
        }
        return Ok(());
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(|error| error.to_string())?;
    tally.add(path, check(&text), true);
    Ok(())
}

fn main() -> ExitCode {
    let mut tally = Tally::default();
    for path in std::env::args().skip(1) {
        if let Err(problem) = check_file(&path, &mut tally) {
            tally.add(&path, Err(problem), true);
        }
    }
    println!("{} equal, {} different", tally.equal, tally.different);
    if tally.different == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
