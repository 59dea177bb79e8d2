//! Packs the buffers of snapshots: `cargo run --release -p allocator --example pack -- FILES...`.

use std::fs::File;
use std::time::Instant;

use allocator::limit::{Buffer, Until, buffers, pack};
use trace::{Bytes, DeviceIndex, History};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        if path.ends_with(".csv") {
            let text = std::fs::read_to_string(&path)?;
            let mut out = Vec::new();
            for line in text.lines().skip(1) {
                let f: Vec<u64> = line.split(',').map(|x| x.trim().parse().unwrap()).collect();
                out.push(Buffer { start: f[1] as u32, end: f[2] as u32, size: Bytes(f[3] * 512) });
            }
            run(&path, &out)?;
            continue;
        }
        let opened = trace::container::open(File::open(&path)?)?;
        let snapshot = trace::read_snapshot(opened.content)?;
        for device in 0..snapshot.traces.len() {
            if snapshot.traces[device].len() < 2 {
                continue;
            }
            let history = History::of(&snapshot, DeviceIndex(device as _));
            run(&path, &buffers(&history, Until::Completed))?;
        }
    }
    Ok(())
}

fn run(path: &str, buffers: &[Buffer]) -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let packing = pack(buffers)?;
    println!(
        "{:40} {:8} {:>12} {:>12} {:7.3} % {:?} {:.3} s",
        path.rsplit('/').next().unwrap_or(path),
        buffers.len(),
        packing.bound.bytes.to_string(),
        packing.peak.to_string(),
        packing.gap() * 100.0,
        packing.method,
        start.elapsed().as_secs_f64()
    );
    Ok(())
}
