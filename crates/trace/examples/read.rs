//! Reads a snapshot and prints the time: `cargo run --release -p trace --example read -- FILE`.

use std::fs::File;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("expected a file")?;
    let start = Instant::now();
    let opened = trace::container::open(File::open(path)?)?;
    let snapshot = trace::read_snapshot(opened.content)?;
    let seconds = start.elapsed().as_secs_f64();
    let events: usize = snapshot.traces.iter().map(Vec::len).sum();
    let (segments, stacks) = (snapshot.segments.len(), snapshot.stacks.len());
    println!("{events} events, {segments} segments, {stacks} stacks in {seconds:.3} s");
    let peak = std::fs::read_to_string("/proc/self/status")?;
    println!("{}", peak.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("no VmHWM"));
    Ok(())
}
