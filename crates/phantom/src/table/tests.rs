//! The table, compared with a list of processes.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::thread;

use proptest::prelude::*;

use super::*;

const CAPACITY: u64 = 100;

/// The words of an empty table.
fn words() -> Vec<AtomicU64> {
    let words: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
    words[0].store(MAGIC, Ordering::SeqCst);
    words
}

fn process(pid: u32) -> Process {
    Process::new(pid, 1000)
}

/// Asks for `more` bytes beside the other processes.
fn take(table: &Table, slot: Slot, device: usize, own: u64, more: u64) -> bool {
    let serve = |others| if others + own + more <= CAPACITY { Ok(own + more) } else { Err(()) };
    table.request(slot, device, serve).is_ok()
}

fn everybody(_: Process) -> bool {
    true
}

/// A change in a random history; processes and devices are small numbers.
#[derive(Clone, Debug)]
enum Turn {
    Take { pid: u32, device: usize, bytes: u64 },
    Free { pid: u32, device: usize, share: u64 },
    Kill { pid: u32 },
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let turn = prop_oneof![
        6 => (1..6u32, 0..2usize, 1..60u64).prop_map(|(pid, device, bytes)| Turn::Take { pid, device, bytes }),
        3 => (1..6u32, 0..2usize, 1..4u64).prop_map(|(pid, device, share)| Turn::Free { pid, device, share }),
        1 => (1..6u32).prop_map(|pid| Turn::Kill { pid }),
    ];
    prop::collection::vec(turn, 1..80)
}

/// The live processes: the slot of each, and its bytes of two devices. A killed pid is used again by a later process.
type Model = BTreeMap<Process, (Slot, [u64; 2])>;

fn used(model: &Model, device: usize) -> Vec<(Process, u64)> {
    model.iter().map(|(process, (_, bytes))| (*process, bytes[device])).filter(|(_, bytes)| *bytes > 0).collect()
}

proptest! {
    /// Compares the table with the simplest model: a map of the live processes.
    #[test]
    fn the_table_equals_a_map_of_the_live_processes(turns in turns()) {
        let dead = Mutex::new(Vec::new());
        let is_alive = |process: Process| !dead.lock().is_ok_and(|dead| dead.contains(&process));
        let words = words();
        let table = Table::new(&words, &is_alive).expect("the words are a table");
        let mut model = Model::new();
        let mut births = [0; 6];
        for turn in turns {
            match turn {
                Turn::Take { pid, device, bytes } => {
                    let process = Process::new(pid, births[pid as usize]);
                    let (slot, own) = *model.entry(process).or_insert_with(|| (table.claim(process).expect("a slot"), [0; 2]));
                    let others: u64 = used(&model, device).iter().filter(|(other, _)| *other != process).map(|(_, bytes)| bytes).sum();
                    let fits = others + own[device] + bytes <= CAPACITY;
                    prop_assert_eq!(take(&table, slot, device, own[device], bytes), fits);
                    if let Some((_, own)) = model.get_mut(&process).filter(|_| fits) {
                        own[device] += bytes;
                    }
                }
                Turn::Free { pid, device, share } => {
                    if let Some((slot, own)) = model.get_mut(&Process::new(pid, births[pid as usize])) {
                        own[device] /= share;
                        table.publish(*slot, device, own[device]);
                    }
                }
                Turn::Kill { pid } => {
                    let process = Process::new(pid, births[pid as usize]);
                    model.remove(&process);
                    dead.lock().expect("no thread has panicked").push(process);
                    births[pid as usize] += 1;
                }
            }
            for device in 0..2 {
                let mut listed = table.list(device);
                listed.sort_unstable();
                prop_assert_eq!(listed, used(&model, device));
            }
        }
    }
}

#[test]
fn other_words_are_no_table() {
    let words = words();
    assert!(Table::new(&words, &everybody).is_some());
    assert!(Table::new(&words[..WORDS - 1], &everybody).is_none());
    words[0].store(0, Ordering::SeqCst);
    assert!(Table::new(&words, &everybody).is_none());
}

#[test]
fn a_full_table_has_a_slot_again_after_a_death() {
    let words = words();
    let is_alive = |process: Process| process.pid() != 7;
    let all = Table::new(&words, &everybody).expect("the words are a table");
    for pid in 1..=SLOTS as u32 {
        assert!(all.claim(process(pid)).is_some(), "{pid}");
    }
    assert_eq!(all.claim(process(9999)), None);
    let some = Table::new(&words, &is_alive).expect("the words are a table");
    let slot = some.claim(process(9999)).expect("the slot of the dead process");
    assert_eq!(some.owner(slot), Some(process(9999)));
}

#[test]
fn the_memory_of_a_replaced_program_is_gone() {
    let words = words();
    let table = Table::new(&words, &everybody).expect("the words are a table");
    for pid in [1, 2] {
        let slot = table.claim(process(pid)).expect("a slot");
        assert!(take(&table, slot, 63, 0, 30));
    }
    table.forget(process(1));
    assert_eq!(table.list(63), [(process(2), 30)]);
}

#[test]
fn a_dead_owner_of_the_lock_keeps_nobody_waiting() {
    let words = words();
    let is_alive = |process: Process| process.pid() != 7;
    let table = Table::new(&words, &is_alive).expect("the words are a table");
    words[LOCK_WORD].store(process(7).0, Ordering::SeqCst);
    let slot = table.claim(process(1)).expect("a slot");
    assert!(take(&table, slot, 0, 0, CAPACITY));
    assert_eq!(words[LOCK_WORD].load(Ordering::SeqCst), 0);
}

#[test]
fn the_last_bytes_are_served_once() {
    const RACERS: u32 = 8;
    let words = words();
    let table = Table::new(&words, &everybody).expect("the words are a table");
    let race = |pid| {
        let slot = table.claim(process(pid)).expect("a slot");
        // Five requests of 20 fit.
        (0..20)
            .scan(0, |own, _| {
                let is_served = take(&table, slot, 0, *own, 20);
                *own += if is_served { 20 } else { 0 };
                Some(u32::from(is_served))
            })
            .sum::<u32>()
    };
    let served: u32 = thread::scope(|scope| {
        let racers: Vec<_> = (1..=RACERS).map(|pid| scope.spawn(move || race(pid))).collect();
        racers.into_iter().map(|racer| racer.join().expect("a racer does not panic")).sum()
    });
    assert_eq!(served, 5);
    assert_eq!(table.list(0).iter().map(|(_, bytes)| bytes).sum::<u64>(), CAPACITY);
}
