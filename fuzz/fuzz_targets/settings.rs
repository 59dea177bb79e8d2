//! Texts for `PYTORCH_CUDA_ALLOC_CONF`: accepted texts can be printed, and the result parses to the same settings.

#![no_main]

use allocator::settings::Settings;
use libfuzzer_sys::fuzz_target;
use trace::Release;

fuzz_target!(|bytes: &[u8]| {
    let Some((&minor, rest)) = bytes.split_first() else { return };
    let release = Release { major: 2, minor: minor % 16 };
    let text = String::from_utf8_lossy(rest);
    // The second text is told to the process that started with the first.
    let (first, second) = text.split_once('\n').unwrap_or((&text, ""));
    let mut settings = match Settings::parse(first, release) {
        Ok(settings) => {
            let written = settings.conf(release).expect("what was read can be written");
            assert_eq!(Settings::parse(&written, release).as_ref(), Ok(&settings), "{first:?} {written:?}");
            settings
        }
        Err(_) => Settings::default(),
    };
    let _refused = settings.apply(second, release);
});
