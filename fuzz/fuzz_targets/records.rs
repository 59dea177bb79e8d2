//! Run directories: the lines of agent, phantom and launcher.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _records = trace::read_records(bytes);
    let _phantom = trace::read_phantom_records(bytes);
    let _launch = trace::read_launch(bytes);
});
