//! The memory of all processes below one `oomph phantom`, in a mapped table: each process notes its bytes of each device, and
//! reads the bytes of the others.
//!
//! # Note [Shared devices]
//!
//! The layout is in Note `[Table]` of `wire::table`. A slot has one writer, its process, and the table has no sums: each request adds up
//! the slots of the live processes anew. So a process that is killed at any instruction leaves a valid table.
//!
//! A request is served under the table's lock, since two processes must not both receive the last bytes. The lock is a word with its owner.
//! The next process replaces the word of a dead owner, by compare-and-swap from the owner's word, so that
//! only one process succeeds. A stopped process may own the lock: after [`PATIENCE`] tries a request is served without the lock. To free
//! memory needs no lock.
//!
//! A process is dead if `/proc/PID/stat` is absent or has another start time. The slots of the dead are freed by the next request that does not
//! fit, or finds no free slot.

mod liveness;
mod mapping;
mod member;

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use wire::table::{DEVICES, FIRST_SLOT_WORD, LOCK_WORD, MAGIC, PID_BITS, SLOT_WORDS, SLOTS, WORDS};

pub(crate) use self::member::Member;

/// The number of tries to lock the table, about two seconds.
const PATIENCE: u32 = 10_000;
/// The number of tries without a pause.
const YIELDS: u32 = 20;
/// The pause between later tries.
const PAUSE: Duration = Duration::from_micros(200);

/// A process: its pid and its start time in one word, never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Process(u64);

impl Process {
    /// The process of a pid that started at this time, in ticks since the boot of the machine.
    fn new(pid: u32, started: u64) -> Process {
        Process(u64::from(pid) & low_bits(PID_BITS) | started << PID_BITS)
    }

    /// The number in `/proc`.
    pub(crate) fn pid(self) -> u32 {
        (self.0 & low_bits(PID_BITS)) as u32
    }
}

const fn low_bits(count: u32) -> u64 {
    (1 << count) - 1
}

/// The table, and the test for live processes.
#[derive(Clone, Copy)]
pub(crate) struct Table<'a> {
    words: &'a [AtomicU64],
    is_alive: &'a (dyn Fn(Process) -> bool + Sync),
}

/// A slot of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(usize);

/// The right to change the table, until it is dropped.
struct Lock<'a> {
    word: &'a AtomicU64,
    owner: Process,
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        // Fails after too many tries: the lock is another process's.
        let _ = self.word.compare_exchange(self.owner.0, 0, Ordering::SeqCst, Ordering::SeqCst);
    }
}

impl<'a> Table<'a> {
    /// The table in these words; `None` for another length or beginning.
    fn new(words: &'a [AtomicU64], is_alive: &'a (dyn Fn(Process) -> bool + Sync)) -> Option<Table<'a>> {
        let is_table = words.len() == WORDS && words[0].load(Ordering::SeqCst) == MAGIC;
        is_table.then_some(Table { words, is_alive })
    }

    /// Frees the slot of a process after exec(2): the memory is gone with the program.
    fn forget(&self, process: Process) {
        let _lock = self.lock(process);
        slots().filter(|slot| self.owner(*slot) == Some(process)).for_each(|slot| self.free(slot));
    }

    /// Claims a free slot for a process, or the slot of a dead one; `None` if the table is full.
    fn claim(&self, process: Process) -> Option<Slot> {
        let _lock = self.lock(process);
        let is_free = |slot: &Slot| self.owner(*slot).is_none();
        let slot = slots().find(is_free).or_else(|| {
            slots().for_each(|slot| self.free_if_dead(slot));
            slots().find(is_free)
        })?;
        (0..DEVICES).for_each(|device| self.bytes(slot, device).store(0, Ordering::SeqCst));
        self.words[first_word(slot)].store(process.0, Ordering::SeqCst);
        Some(slot)
    }

    /// Serves a request for memory of a device under the lock. `serve` takes the bytes of the other processes, and returns the bytes of this
    /// process after the request. After a refusal `serve` is called again if another process turns out to be dead.
    fn request<E>(&self, slot: Slot, device: usize, mut serve: impl FnMut(u64) -> Result<u64, E>) -> Result<(), E> {
        let _lock = self.owner(slot).map(|process| self.lock(process));
        let served = serve(self.others_bytes(Some(slot), device)).or_else(|refusal| {
            let before = self.others_bytes(Some(slot), device);
            self.users(device).for_each(|(slot, _)| self.free_if_dead(slot));
            let after = self.others_bytes(Some(slot), device);
            if after < before { serve(after) } else { Err(refusal) }
        });
        served.map(|bytes| self.publish(slot, device, bytes))
    }

    /// Notes the bytes that a process uses of a device.
    fn publish(&self, slot: Slot, device: usize, bytes: u64) {
        self.bytes(slot, device).store(bytes, Ordering::SeqCst);
    }

    /// The live processes that use a device, and their bytes.
    fn list(&self, device: usize) -> Vec<(Process, u64)> {
        let users = self.users(device).filter_map(|(slot, bytes)| Some((self.owner(slot)?, bytes)));
        users.filter(|(process, _)| (self.is_alive)(*process)).collect()
    }

    /// The bytes of a device in other slots, those of dead processes included.
    fn others_bytes(&self, own: Option<Slot>, device: usize) -> u64 {
        let others = self.users(device).filter(|(slot, _)| Some(*slot) != own);
        others.fold(0, |sum, (_, bytes)| sum.saturating_add(bytes))
    }

    /// The slots with bytes of a device.
    fn users(&self, device: usize) -> impl Iterator<Item = (Slot, u64)> {
        let used = move |slot| (slot, self.bytes(slot, device).load(Ordering::SeqCst));
        slots().filter(|slot| self.owner(*slot).is_some()).map(used).filter(|(_, bytes)| *bytes > 0)
    }

    fn owner(&self, slot: Slot) -> Option<Process> {
        let word = self.words[first_word(slot)].load(Ordering::SeqCst);
        (word != 0).then_some(Process(word))
    }

    fn bytes(&self, slot: Slot, device: usize) -> &AtomicU64 {
        &self.words[first_word(slot) + 1 + device]
    }

    fn free(&self, slot: Slot) {
        self.words[first_word(slot)].store(0, Ordering::SeqCst);
    }

    fn free_if_dead(&self, slot: Slot) {
        if self.owner(slot).is_some_and(|process| !(self.is_alive)(process)) {
            self.free(slot);
        }
    }

    /// Waits for the lock. One thread of a process asks at a time, under the lock of the ledger.
    fn lock(&self, owner: Process) -> Lock<'a> {
        let word = &self.words[LOCK_WORD];
        let swap = |from: u64| word.compare_exchange(from, owner.0, Ordering::SeqCst, Ordering::SeqCst);
        for tried in 0..PATIENCE {
            match swap(0) {
                Ok(_) => break,
                // A thread of the program before exec(2) locked the table.
                Err(holder) if holder == owner.0 => break,
                Err(_) if tried < YIELDS => thread::yield_now(),
                Err(holder) if !(self.is_alive)(Process(holder)) && swap(holder).is_ok() => break,
                Err(_) => thread::sleep(PAUSE),
            }
        }
        Lock { word, owner }
    }
}

fn slots() -> impl Iterator<Item = Slot> {
    (0..SLOTS).map(Slot)
}

fn first_word(Slot(slot): Slot) -> usize {
    FIRST_SLOT_WORD + slot * SLOT_WORDS
}

#[cfg(test)]
mod tests;
