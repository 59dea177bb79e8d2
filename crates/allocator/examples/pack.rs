//! Measures the least memory for the programs of snapshots, and the quality of the packing.
//!
//! cargo run --release -p allocator --example pack -- FILES... cargo run --release -p allocator --example pack --
//! --generate 1000000 --random 100000
//!
//! `--generate N` packs about N buffers of a synthetic training run with sequences of varying length, `--random N`
//! packs buffers without structure.

use std::fs::File;
use std::path::Path;

use allocator::limit::{Buffer, Packing, Until, buffers, pack, peak_alive_bytes};
use trace::{Bytes, DeviceIndex, History, Snapshot};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let titles = ("of", "buffers", "bound", "packing", "gap", "best fit", "CPU s");
    let (of, count, bound, peak, gap, naive, seconds) = titles;
    println!("{of:26} {count:>8}  {bound:>10}  {peak:>10}  {gap:>11}  {naive:>11}  {seconds:>7}  by");
    while let Some(argument) = arguments.next() {
        let mut count = || arguments.next().ok_or("expected a number of buffers")?.parse().map_err(Failure::from);
        match argument.as_str() {
            "--generate" => show("generated", &Generator::default().training(count()?))?,
            "--random" => show("random", &Generator::default().random(count()?))?,
            path => show_file(Path::new(path))?,
        }
    }
    println!("{}", memory()?);
    Ok(())
}

/// The peak memory of this process.
fn memory() -> Result<String, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    Ok(status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("no VmHWM").to_owned())
}

/// The processor time of this thread; other processes do not count.
fn seconds() -> Result<f64, Failure> {
    let nanoseconds: u64 =
        std::fs::read_to_string("/proc/thread-self/schedstat")?.split(' ').next().unwrap_or("0").parse()?;
    Ok(nanoseconds as f64 / 1e9)
}

fn show_file(path: &Path) -> Result<(), Failure> {
    let opened = trace::container::open(File::open(path)?)?;
    let snapshot = trace::read_snapshot(opened.content)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    for (device, trace) in (0..).map(DeviceIndex).zip(&snapshot.traces) {
        if trace.len() > 1 {
            show_device(&name, &snapshot, device)?;
        }
    }
    Ok(())
}

fn show_device(name: &str, snapshot: &Snapshot, device: DeviceIndex) -> Result<(), Failure> {
    let history = History::of(snapshot, device);
    show(name, &buffers(&history, Until::Completed))?;
    let let_go = peak_alive_bytes(&buffers(&history, Until::Requested));
    let waiting = peak_alive_bytes(&buffers(&history, Until::Completed)).bytes - let_go.bytes;
    if waiting > Bytes::ZERO {
        println!("{:26} {waiting} of the bound were let go of and waited for a stream", "");
    }
    Ok(())
}

fn show(name: &str, buffers: &[Buffer]) -> Result<(), Failure> {
    let before = seconds()?;
    let packing = pack(buffers)?;
    let seconds = seconds()? - before;
    let Packing { bound, peak, best_fit, method, .. } = &packing;
    let over = |peak: Bytes| percent((peak - bound.bytes).0 as f64 / bound.bytes.0.max(1) as f64);
    let (bound, gap, naive) = (bound.bytes.to_string(), over(*peak), over(*best_fit));
    let (count, peak) = (buffers.len(), peak.to_string());
    println!("{name:26} {count:>8}  {bound:>10}  {peak:>10}  {gap:>11}  {naive:>11}  {seconds:>7.3}  {method:?}");
    Ok(())
}

/// Prints zero only for zero.
fn percent(part: f64) -> String {
    if part == 0.0 { "0 %".to_owned() } else { format!("{:.6} %", part * 100.0) }
}

fn narrow(moment: u64) -> u32 {
    u32::try_from(moment).unwrap_or(u32::MAX)
}

/// SplitMix64 (Steele, Lea, Flood 2014) from a fixed seed, and the buffers generated so far.
#[derive(Default)]
struct Generator {
    seed: u64,
    now: u32,
    buffers: Vec<Buffer>,
    /// Buffers that outlive their step, with the number of further steps: metrics, caches.
    kept: Vec<(usize, u64)>,
}

impl Generator {
    fn next(&mut self) -> u64 {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.seed ^ (self.seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn one_of(&mut self, choices: &[u64]) -> u64 {
        choices[usize::from(self.next().to_le_bytes()[0]) % choices.len()]
    }

    /// A number below 2 to the `bits`, about equally likely in every power of two.
    fn any_magnitude(&mut self, bits: u64) -> u64 {
        let magnitude = 1 << self.below(bits);
        magnitude + self.below(magnitude)
    }

    /// Lifetimes and sizes of every magnitude.
    fn random(mut self, count: usize) -> Vec<Buffer> {
        for _ in 0..count {
            let start = narrow(self.below(2 * count as u64));
            let length = narrow(self.any_magnitude(u64::from(count.ilog2())));
            let size = Bytes(self.any_magnitude(30));
            self.buffers.push(Buffer { start, end: start.saturating_add(length), size });
        }
        self.buffers
    }

    fn open(&mut self, bytes: u64) -> usize {
        self.buffers.push(Buffer { start: self.now, end: Buffer::TO_THE_END, size: Bytes(bytes) });
        self.now += 1;
        self.buffers.len() - 1
    }

    fn close(&mut self, buffer: usize) {
        self.buffers[buffer].end = self.now;
        self.now += 1;
    }

    fn open_weight(&mut self) -> usize {
        let elements = self.one_of(&[1 << 10, 1 << 20, 1 << 22]);
        self.open(4 * elements)
    }

    /// A model of 48 layers: permanent weights and states, then steps.
    fn training(mut self, count: usize) -> Vec<Buffer> {
        for _ in 0..48 * 36 {
            self.open_weight();
        }
        while self.buffers.len() < count {
            self.step();
        }
        self.buffers
    }

    fn step(&mut self) {
        let tokens = 64 + self.below(960);
        let saved: Vec<Vec<usize>> = (0..48).map(|_| self.forward(tokens)).collect();
        let gradients: Vec<usize> = saved.into_iter().rev().map(|layer| self.backward(layer)).collect();
        for gradient in gradients {
            let temporary = self.open(4 << 22);
            self.close(temporary);
            self.close(gradient);
        }
        for (buffer, steps) in std::mem::take(&mut self.kept) {
            if steps == 0 { self.close(buffer) } else { self.kept.push((buffer, steps - 1)) }
        }
    }

    /// The forward pass of one layer; returns the buffers saved for the backward pass.
    fn forward(&mut self, tokens: u64) -> Vec<usize> {
        let mut saved = Vec::new();
        for _ in 0..10 {
            let small = self.below(4) == 0;
            let bytes = if small { 4 + self.below(2048) } else { tokens * 1024 * self.one_of(&[2, 4, 8, 16, 48]) };
            let output = self.open(bytes);
            if self.below(8) < 5 {
                saved.push(output);
                continue;
            }
            let bytes = self.any_magnitude(20);
            let workspace = self.open(bytes);
            if self.below(64) == 0 {
                let steps = self.below(8);
                self.kept.push((output, steps));
            } else {
                self.close(output);
            }
            self.close(workspace);
        }
        saved
    }

    /// Frees what one layer saved, last first; returns its weight's gradient.
    fn backward(&mut self, saved: Vec<usize>) -> usize {
        let weight = self.open_weight();
        for output in saved.into_iter().rev() {
            let bytes = self.buffers[output].size.0;
            let gradient = self.open(bytes);
            self.close(output);
            let temporary = self.open(bytes / 2 + 1);
            self.close(gradient);
            self.close(temporary);
        }
        weight
    }
}
