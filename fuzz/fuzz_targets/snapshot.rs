//! Snapshots, pickled or as JSON. Readable snapshots are also walked, since a walk has to survive any history.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trace::{DeviceIndex, History, Moment};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(snapshot) = trace::read_snapshot(bytes) {
        for device in (0..4).map(DeviceIndex) {
            let history = History::of(&snapshot, device);
            let _state = history.state_after(Moment::BEFORE).fragmentation();
        }
    }
});
