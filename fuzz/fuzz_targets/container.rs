//! Packed files: gzip, zstd, zip, and each in another.

#![no_main]

use std::io::{Cursor, Read as _};

use libfuzzer_sys::fuzz_target;

/// The most bytes unpacked from one input. The bounds of a bomb take time, and are tested elsewhere.
const MOST: u64 = 1 << 16;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(opened) = trace::container::open(Cursor::new(bytes)) {
        let mut content = Vec::new();
        let _end = opened.content.take(MOST).read_to_end(&mut content);
    }
});
