//! The program's writes to guarded files, in a mapping that all processes of a run share (Note [Account] in
//! `crates/wire/src/account.rs`).

use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};

use wire::account::{
    CHANGED_BY_OTHERS, FILE_BORN, FILE_DEVICE, FILE_FLAGS, FILE_HASH, FILE_INODE, FILE_LOCK, FILE_MODIFIED,
    FILE_PENDING, FILE_WORDS, FILES, FIRST_FILE_WORD, FIRST_RANGE_WORD, MAKING_WORD, OPEN_END, OWN, RANGE_END,
    RANGE_FILE, RANGE_KIND, RANGE_PROCESS, RANGE_WORDS, RANGES, RANGES_WORD, UNSEEN, UNSEEN_RANGE, WORDS, hash_fact,
};

use super::kernel::{self, Answer, Stat};
use super::place::Place;

/// Places tried for a file. If all are taken, the file has no account, and the undo puts the state of the start back.
const PROBES: usize = 64;
/// The most waits for another thread that appends to the same file.
const WAITS: usize = 1000;
/// Marks the process of a stream, above the numbers of processes.
const STREAM: u64 = 1 << 32;

pub(super) struct WriteAccount {
    words: [AtomicU64; WORDS],
}

/// A file of the account.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    account: &'static WriteAccount,
    number: usize,
}

/// A range of the account, by its number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct RangeNumber(usize);

impl WriteAccount {
    /// Maps the account of a folder; makes the file first if this process is the first.
    pub(super) fn map(path: &Place) -> Answer<&'static WriteAccount> {
        let address = kernel::map_reserved(path.text(), size_of::<WriteAccount>())?;
        // SAFETY: the mapping has the size of an account, is never unmapped, and all words are atomic.
        Ok(unsafe { &*address.cast::<WriteAccount>() })
    }

    /// Makes a file or a folder; a process that is killed meanwhile has noted nothing of it.
    pub(super) fn making<T>(&self, make: impl FnOnce() -> T) -> T {
        self.words[MAKING_WORD].fetch_add(1, Ordering::AcqRel);
        let outcome = make();
        self.words[MAKING_WORD].fetch_sub(1, Ordering::AcqRel);
        outcome
    }

    /// The file of a state, if the run opened it to be written.
    pub(super) fn find(&'static self, stat: &Stat) -> Option<Entry> {
        let hash = hash(stat);
        for probe in 0..PROBES {
            let entry = self.entry(hash, probe);
            match entry.word(FILE_HASH).load(Ordering::Acquire) {
                0 => return None,
                known if known == hash => return Some(entry),
                _ => {}
            }
        }
        None
    }

    /// Adds a file; `None` if the account is full there.
    pub(super) fn add(&'static self, stat: &Stat) -> Option<Entry> {
        let hash = hash(stat);
        for probe in 0..PROBES {
            let entry = self.entry(hash, probe);
            match entry.word(FILE_HASH).compare_exchange(0, hash, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => {
                    entry.word(FILE_DEVICE).store(stat.device, Ordering::Relaxed);
                    entry.word(FILE_INODE).store(stat.inode, Ordering::Relaxed);
                    entry.word(FILE_BORN).store(stat.born as u64, Ordering::Relaxed);
                    return Some(entry);
                }
                Err(known) if known == hash => return Some(entry),
                Err(_) => {}
            }
        }
        None
    }

    fn entry(&'static self, hash: u64, probe: usize) -> Entry {
        Entry { account: self, number: (hash as usize).wrapping_add(probe) % FILES }
    }

    fn range(&self, number: RangeNumber, word: usize) -> &AtomicU64 {
        &self.words[FIRST_RANGE_WORD + number.0 * RANGE_WORDS + word]
    }

    /// The last unseen range of a file, of a process.
    fn last_unseen(&self, entry: Entry, is_wanted: impl Fn(u64) -> bool) -> Option<RangeNumber> {
        let count = (self.words[RANGES_WORD].load(Ordering::Acquire) as usize).min(RANGES);
        (0..count).rev().map(RangeNumber).find(|number| {
            let word = |word| self.range(*number, word).load(Ordering::Acquire);
            word(RANGE_KIND) == UNSEEN_RANGE
                && word(RANGE_FILE) == entry.number as u64
                && is_wanted(word(RANGE_PROCESS))
        })
    }
}

impl RangeNumber {
    /// The range with its file, in a word that is not 0.
    pub(super) fn pack(self, file: usize) -> u64 {
        (self.0 as u64 + 1) << 32 | file as u64
    }

    /// The range of a file, from such a word.
    pub(super) fn unpack(word: u64, file: usize) -> Option<RangeNumber> {
        let number = (word >> 32).checked_sub(1)?;
        (word & 0xffff_ffff == file as u64).then_some(RangeNumber(number as usize))
    }
}

impl Entry {
    fn word(&self, word: usize) -> &'static AtomicU64 {
        &self.account.words[FIRST_FILE_WORD + self.number * FILE_WORDS + word]
    }

    pub(super) fn add_flags(&self, flags: u64) {
        self.word(FILE_FLAGS).fetch_or(flags, Ordering::AcqRel);
    }

    pub(super) fn has_flags(&self, flags: u64) -> bool {
        self.word(FILE_FLAGS).load(Ordering::Acquire) & flags == flags
    }

    /// A change is in flight.
    pub(super) fn begin(&self, bytes: usize) {
        self.word(FILE_PENDING).fetch_add(bytes.max(1) as u64, Ordering::AcqRel);
    }

    /// The change has ended, and is noted.
    pub(super) fn end(&self, bytes: usize) {
        self.word(FILE_PENDING).fetch_sub(bytes.max(1) as u64, Ordering::AcqRel);
    }

    /// Notes the time of change after an own change: the latest, since parallel changes are noted in any order.
    pub(super) fn sample(&self, stat: &Stat) {
        self.word(FILE_MODIFIED).fetch_max(stat.modified_ns(), Ordering::AcqRel);
    }

    /// Notes the time of change that the program set.
    pub(super) fn set_time(&self, stat: &Stat) {
        self.word(FILE_MODIFIED).store(stat.modified_ns(), Ordering::Release);
    }

    /// Compares a file that is opened again with its state after the last own change.
    pub(super) fn compare(&self, stat: &Stat) {
        let known = self.word(FILE_MODIFIED).load(Ordering::Acquire);
        let is_quiet = self.word(FILE_PENDING).load(Ordering::Acquire) == 0 && !self.has_flags(UNSEEN);
        if known != 0 && is_quiet && stat.modified_ns() > known {
            self.add_flags(CHANGED_BY_OTHERS);
        }
    }

    /// Waits until no other thread of the run appends to the file, and takes the turn: a position after a write is
    /// the end of that write only then. False after a long wait, and in a signal handler of the thread that appends.
    pub(super) fn lock(&self) -> bool {
        let own = kernel::thread();
        for _ in 0..WAITS {
            match self.word(FILE_LOCK).compare_exchange(0, own, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return true,
                Err(holder) if holder == own => return false,
                Err(holder) if !kernel::is_thread(holder) => {
                    let stolen =
                        self.word(FILE_LOCK).compare_exchange(holder, own, Ordering::AcqRel, Ordering::Acquire);
                    if stolen.is_ok() {
                        return true;
                    }
                }
                Err(_) => kernel::pause(),
            }
        }
        false
    }

    pub(super) fn unlock(&self) {
        self.word(FILE_LOCK).store(0, Ordering::Release);
    }

    /// Notes an own range, joined to `last` if that ends where the range starts. Returns the number of the range.
    pub(super) fn note(&self, start: u64, end: u64, last: Option<RangeNumber>) -> Option<RangeNumber> {
        if let Some(number) = last
            && self.account.range(number, RANGE_FILE).load(Ordering::Acquire) == self.number as u64
            && self.account.range(number, RANGE_KIND).load(Ordering::Acquire) == OWN
            && self
                .account
                .range(number, RANGE_END)
                .compare_exchange(start, end, Ordering::AcqRel, Ordering::Acquire)
                .is_ok()
        {
            return last;
        }
        self.publish([self.number as u64, start, end, 0, OWN])
    }

    /// Notes that a process may append unseen from now on. A stream stays unseen whatever else the process writes.
    pub(super) fn note_unseen(&self, start: u64, is_stream: bool) {
        let process = kernel::process() | if is_stream { STREAM } else { 0 };
        self.publish([self.number as u64, start, OPEN_END, process, UNSEEN_RANGE]);
    }

    /// Withdraws the last unseen range of this process, which is seen to write.
    pub(super) fn withdraw(&self) {
        let own = kernel::process();
        if let Some(number) = self.account.last_unseen(*self, |process| process == own) {
            self.account.range(number, RANGE_KIND).store(0, Ordering::Release);
        }
    }

    /// Ends the last unseen range of this process. A file that was opened once may be closed under several numbers.
    pub(super) fn close(&self, size: u64) {
        let own = kernel::process();
        if let Some(number) = self.account.last_unseen(*self, |process| process & !STREAM == own) {
            self.account.range(number, RANGE_END).store(size, Ordering::Release);
        }
    }

    pub(super) fn number(&self) -> usize {
        self.number
    }

    fn publish(&self, words: [u64; RANGE_WORDS]) -> Option<RangeNumber> {
        let number = RangeNumber(self.account.words[RANGES_WORD].fetch_add(1, Ordering::AcqRel) as usize);
        if number.0 >= RANGES {
            // The lost range shows in the number of ranges.
            return None;
        }
        for (word, value) in words.into_iter().enumerate() {
            self.account.range(number, word).store(value, Ordering::Release);
        }
        Some(number)
    }
}

/// The hash of a file's identity: the time of birth tells the file from a later one with its number.
fn hash(stat: &Stat) -> u64 {
    hash_fact(0, stat.identity(), b"")
}

/// The state of an open file that has an account.
pub(super) fn find_open(account: &'static WriteAccount, file: c_int) -> Option<(Entry, Stat)> {
    let stat = kernel::stat_descriptor(file).ok().filter(|stat| stat.is(libc::S_IFREG))?;
    account.find(&stat).map(|entry| (entry, stat))
}
