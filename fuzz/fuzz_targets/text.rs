//! Logs and tables: in pieces and whole.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let whole = trace::text::read(bytes);
    // The first byte is the length of the pieces.
    let length = usize::from(bytes.first().copied().unwrap_or_default()) + 1;
    let mut reader = trace::text::TextReader::default();
    bytes.chunks(length).for_each(|piece| reader.feed(piece));
    assert_eq!(reader.finish(), whole);
});
