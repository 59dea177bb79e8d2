//! The time to walk a long history. Run with `--release -- --ignored --nocapture`.

mod recorded;

use std::time::Instant;

use recorded::allocator::Allocator;
use trace::{History, Segment, SnapshotSettings, StackTable};

/// Steps of a training run: parameters that stay, activations freed in reverse order, temporaries.
fn training(events: usize) -> Allocator {
    let mut allocator = Allocator::default();
    for n in 0..400 {
        allocator.alloc(if n % 2 == 0 { 4096 } else { 12 << 20 }, 1);
    }
    let mut seed = 1u64;
    while allocator.events.len() < events {
        let mut kept = Vec::new();
        for layer in 0..600u32 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let temporary = allocator.alloc(1 + (seed >> 33) % (3 << 20), 2 + layer % 40);
            kept.push(allocator.alloc(1 + (seed >> 40) % (6 << 20), 50 + layer % 40));
            allocator.request_free(temporary);
            allocator.complete_free(temporary);
        }
        for address in kept.into_iter().rev() {
            allocator.request_free(address);
            allocator.complete_free(address);
        }
    }
    allocator
}

#[test]
#[ignore = "measures time"]
fn long_histories_are_walked_in_time() {
    for events in [1_700_000, 10_000_000] {
        let allocator = training(events);
        let dump = allocator.dump();
        let dump: Vec<&Segment> = dump.iter().collect();
        for from in [0, allocator.events.len() / 2] {
            let events = &allocator.events[from..];
            let started = Instant::now();
            let history = History::walk(events, Some(&dump), &SnapshotSettings::default());
            let walked = started.elapsed();
            let started = Instant::now();
            let points = history.timeline(4000).len();
            let thinned = started.elapsed();
            let started = Instant::now();
            let steps =
                history.find_steps(events, &StackTable::default()).map_or(0, |steps| steps.first_events().len());
            let found = started.elapsed();
            let (older, lifetimes) = (history.older().len(), history.lifetimes().len());
            eprintln!(
                "{} events ({older} of {lifetimes} allocations older): walked in {walked:.3?}, {points} points in \
                 {thinned:.3?}, {steps} steps in {found:.3?}",
                events.len(),
            );
        }
    }
}
