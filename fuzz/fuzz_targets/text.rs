//! Logs and tables.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _artifacts = trace::text::read(bytes);
});
