//! Snapshots: pickles of all protocols. What can be read is also walked, since a walk must survive any history.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(snapshot) = trace::read_snapshot(bytes) {
        for trace in &snapshot.traces {
            let _walked = trace::allocations(trace, &snapshot.settings);
        }
    }
});
