//! Any bytes: no panic, artifacts in the order of the text, and no error without its words.

use proptest::prelude::*;
use trace::text::{Artifact, read};

use crate::{allocator, outside};

/// Strings that the readers look for, combined at random.
const PIECES: [&str; 24] = [
    "CUDA out of memory. ",
    "Tried to allocate ",
    "20.00 MiB",
    "GPU 0 ",
    "(",
    "; ",
    " has ",
    "Process 7",
    "\n",
    "\\n",
    "\u{1b}[",
    "Traceback (most recent call last):",
    "  File \"a.py\", line 3, in f",
    "│ ",
    "99999999999999999999.99 GiB",
    "PyTorch CUDA memory summary, device ID 1",
    "| Allocated memory | 1 B | 2 B | 3 B | 4 B |",
    "active.all.current: ",
    "NVIDIA-SMI 1 Driver Version: 2",
    "NVSMI LOG",
    "memory.used [MiB]",
    "Killed",
    "[rank3]: ",
    "Cell In[3], line ",
];

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        check(&bytes);
    }

    #[test]
    fn any_order_of_what_is_looked_for_is_read(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..60)) {
        check(pieces.concat().as_bytes());
    }

    #[test]
    fn a_damaged_message_is_read(case in 0..60_usize, damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let tables = allocator::TABLES.iter().chain(outside::TABLES);
        let texts: Vec<&str> = tables.flat_map(|table| table.iter()).map(|(text, _)| *text).collect();
        let mut bytes = texts[case % texts.len()].as_bytes().to_vec();
        for (place, byte) in damage {
            let at = place.index(bytes.len());
            bytes[at] = byte;
        }
        check(&bytes);
    }
}

fn check(bytes: &[u8]) {
    let lines: Vec<u32> = read(bytes).iter().map(Artifact::first_line).collect();
    let last = u32::try_from(bytes.split(|byte| *byte == b'\n').count()).unwrap();
    assert!(lines.is_sorted() && lines.iter().all(|line| (1..=last).contains(line)), "{lines:?} of {last}");
}
