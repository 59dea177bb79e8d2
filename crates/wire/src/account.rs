//! The account of a run's writes to files, shared by the processes of the run. Note `[Account]` describes it.

// Note [Account]
// ~~~~~~~~~~~~~~
// The guard of functions changes the real files, and others may write to them at the same time. The undo takes back only the
// program's own changes, by the file `account` in the folder of the journal: native u64 words, all atomic.
//
// ```text
// word 0           the number of ranges so far; a number above `RANGES` counts lost ranges
// word 1           the number of files and folders that are being made
// word 8..         `FILES` files of `FILE_WORDS` words: guarded files, opened to be written
// then             `RANGES` ranges of `RANGE_WORDS` words
// ```
//
// A file is found by its device, inode and birth. An own range is a part of a file written in append mode; a range is published by
// its last word, `RANGE_KIND`. A write is in flight from before its call until its range is noted: a killed process leaves the
// bytes in `FILE_PENDING`. `FILE_MODIFIED` is the file's time of change after the last own change. A later time shows a change by
// others, but for writes unseen by the guard's functions (`UNSEEN`): those inside the C library (`fwrite`), and those to a
// shared mapping.
//
// Whether a file at a recorded path is the run's own is a fact of the file `table` beside it: a word, then the hashes of facts.
// A process that was killed while it made a file left no fact; the word `MAKING_WORD` shows that.
//
// A shell or a tool may append with `fwrite`. The growth between its `open` and its `close` is an unseen range, unless the process
// is seen to write: such bytes are the program's if nothing else shows another writer.

use crate::digest::{FNV_EMPTY, extend_fnv};

/// The name of the file in the folder of the journal.
pub const NAME: &str = "account";
/// The word with the number of ranges.
pub const RANGES_WORD: usize = 0;
/// The word with the number of files and folders that are being made.
pub const MAKING_WORD: usize = 1;
/// The first word of the files.
pub const FIRST_FILE_WORD: usize = 8;
/// The most files.
pub const FILES: usize = 1 << 14;
/// The words of a file.
pub const FILE_WORDS: usize = 8;
/// The hash of a file's identity; 0 for a free place.
pub const FILE_HASH: usize = 0;
/// The device.
pub const FILE_DEVICE: usize = 1;
/// The inode.
pub const FILE_INODE: usize = 2;
/// The birth in nanoseconds; 0 if the file system keeps none.
pub const FILE_BORN: usize = 3;
/// The time of change in nanoseconds after the last own change; 0 before the first.
pub const FILE_MODIFIED: usize = 4;
/// The bytes in flight.
pub const FILE_PENDING: usize = 5;
/// The thread that appends; 0 if none does.
pub const FILE_LOCK: usize = 6;
/// A sum of flags.
pub const FILE_FLAGS: usize = 7;
/// Others changed the file between two own changes.
pub const CHANGED_BY_OTHERS: u64 = 1;
/// The program may have changed the file unseen.
pub const UNSEEN: u64 = 2;
/// The program opened the file to be changed in place, not only to grow.
pub const IN_PLACE: u64 = 4;
/// The first word of the ranges.
pub const FIRST_RANGE_WORD: usize = FIRST_FILE_WORD + FILES * FILE_WORDS;
/// The most ranges.
pub const RANGES: usize = 1 << 15;
/// The words of a range.
pub const RANGE_WORDS: usize = 5;
/// The number of the file.
pub const RANGE_FILE: usize = 0;
/// The offset of the first byte.
pub const RANGE_START: usize = 1;
/// The offset behind the last byte; `OPEN_END` while the file is open.
pub const RANGE_END: usize = 2;
/// The process that opened the file of an unseen range.
pub const RANGE_PROCESS: usize = 3;
/// The kind of the range; 0 for a range that is not published, or was withdrawn.
pub const RANGE_KIND: usize = 4;
/// The end of an unseen range that has not ended.
pub const OPEN_END: u64 = u64::MAX;
/// The kind of a range that the program wrote.
pub const OWN: u64 = 1;
/// The kind of a range that the program may have written.
pub const UNSEEN_RANGE: u64 = 2;
/// The words of the account.
pub const WORDS: usize = FIRST_RANGE_WORD + RANGES * RANGE_WORDS;
/// The name of the file with the hashes of facts.
pub const TABLE: &str = "table";
/// The fact that the run made a file.
pub const MADE: u8 = 1;
/// The fact that a helper is going to make a file of this path: the file itself is not known.
pub const MADE_LATER: u8 = 6;

/// The identity of a file: device, inode, and the birth in nanoseconds, which tells the file from a later one with its number;
/// 0 if the file system keeps no birth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The major number in the upper half, the minor number in the lower.
    pub device: u64,
    /// The inode.
    pub inode: u64,
    /// The birth.
    pub born: u64,
}

/// The hash of a fact about a file. Without a birth, the path tells the file from a later one.
pub fn hash_fact(fact: u8, file: Identity, path: &[u8]) -> u64 {
    let hash = extend_fnv(FNV_EMPTY, &[fact]);
    let numbers = [file.device, file.inode, file.born];
    let hash = numbers.iter().fold(hash, |hash, number| extend_fnv(hash, &number.to_ne_bytes()));
    let path = if file.born == 0 { path } else { &[] };
    extend_fnv(hash, path).max(1)
}
