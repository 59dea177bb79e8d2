//! Counts the bytes of every owner on every device, and alone refuses requests for want of memory.
//!
//! Device memory is allocated in pages of 2 MiB. Requests of less than a page share pages, as the driver does for
//! small `cudaMalloc`s; larger ones are rounded up. The sums are exact integers, and a free returns
//! the bytes that the allocation was charged.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use wire::owner::CONTEXT;

use crate::device::PhysicalDevice;
use crate::table::Member;
use crate::{device, journal};

pub use wire::limit::PAGE_BYTES;

/// The owner of memory: `context`, `pytorch`, or the file name of another library.
pub(crate) type Owner = &'static str;

/// The device has not enough memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfMemory;

/// The account of a device.
#[derive(Clone, Debug, Default)]
pub(crate) struct Account {
    capacity_bytes: u64,
    others_bytes: u64,
    /// The bytes of the processes in the table, as of the last request.
    neighbours_bytes: u64,
    /// In a forked child, the bytes of its parent.
    inherited_bytes: u64,
    whole_pages_bytes: u64,
    small_bytes: u64,
    by_owner: BTreeMap<Owner, u64>,
}

impl Account {
    /// An empty account of a device with so much memory.
    pub(crate) fn new(capacity_bytes: u64) -> Account {
        Account { capacity_bytes, ..Account::default() }
    }

    /// The account of a device on which other processes hold `others_bytes` for good, in whole pages.
    pub(crate) fn shared(capacity_bytes: u64, others_bytes: u64) -> Account {
        let others_bytes = others_bytes.next_multiple_of(PAGE_BYTES).min(capacity_bytes);
        Account { others_bytes, ..Account::new(capacity_bytes) }
    }

    /// Bytes used by this process: whole pages, and the pages that small requests share.
    pub(crate) fn used_bytes(&self) -> u64 {
        self.whole_pages_bytes + self.small_bytes.next_multiple_of(PAGE_BYTES)
    }

    /// Bytes of this process without inherited bytes.
    fn own_bytes(&self) -> u64 {
        self.used_bytes().saturating_sub(self.inherited_bytes)
    }

    /// Bytes of the device less the bytes of other processes.
    fn usable_bytes(&self) -> u64 {
        self.capacity_bytes.saturating_sub(self.others_bytes).saturating_sub(self.neighbours_bytes)
    }

    /// Bytes left for further requests.
    pub(crate) fn free_bytes(&self) -> u64 {
        self.usable_bytes().saturating_sub(self.own_bytes())
    }

    /// The bytes requested by each owner.
    #[cfg(test)]
    fn by_owner(&self) -> &BTreeMap<Owner, u64> {
        &self.by_owner
    }

    /// Takes `bytes` for `owner`, or nothing.
    pub(crate) fn take(&mut self, owner: Owner, bytes: u64) -> Result<(), OutOfMemory> {
        let mut after = self.clone_sums();
        after.add(bytes);
        if after.used().saturating_sub(self.inherited_bytes) > self.usable_bytes() {
            return Err(OutOfMemory);
        }
        (self.whole_pages_bytes, self.small_bytes) = (after.pages, after.small);
        *self.by_owner.entry(owner).or_default() += bytes;
        Ok(())
    }

    /// Frees `bytes` that `owner` had taken in a single request.
    pub(crate) fn give_back(&mut self, owner: Owner, bytes: u64) {
        let (pages, small) = charge(bytes);
        self.whole_pages_bytes = self.whole_pages_bytes.saturating_sub(pages);
        self.small_bytes = self.small_bytes.saturating_sub(small);
        if let Some(held) = self.by_owner.get_mut(owner) {
            *held = held.saturating_sub(bytes);
        }
    }

    fn clone_sums(&self) -> Sums {
        Sums { pages: self.whole_pages_bytes, small: self.small_bytes }
    }
}

struct Sums {
    pages: u64,
    small: u64,
}

impl Sums {
    fn add(&mut self, bytes: u64) {
        let (pages, small) = charge(bytes);
        self.pages = self.pages.saturating_add(pages);
        self.small = self.small.saturating_add(small);
    }

    fn used(&self) -> u64 {
        self.pages.saturating_add(self.small.checked_next_multiple_of(PAGE_BYTES).unwrap_or(u64::MAX))
    }
}

/// The cost of a request: whole pages, and bytes in shared pages. A small request takes a multiple of 512 bytes, the
/// alignment that `cudaMalloc` keeps.
fn charge(bytes: u64) -> (u64, u64) {
    if bytes < PAGE_BYTES {
        (0, bytes.next_multiple_of(512))
    } else {
        (bytes.checked_next_multiple_of(PAGE_BYTES).unwrap_or(u64::MAX), 0)
    }
}

/// The accounts of this process, and its slot in the table of processes.
struct Ledger {
    accounts: Vec<Option<Account>>,
    member: Member,
}

static LEDGER: Mutex<Ledger> = Mutex::new(Ledger { accounts: Vec::new(), member: Member::new() });

impl Ledger {
    fn account(&mut self, device: u32) -> &mut Account {
        account_of(&mut self.accounts, device)
    }

    /// Takes memory beside the other processes.
    fn take(&mut self, device: u32, owner: Owner, bytes: u64) -> Result<(), OutOfMemory> {
        let Ledger { accounts, member } = self;
        let account = account_of(accounts, device);
        let shared = member.request(device, |neighbours_bytes| {
            account.neighbours_bytes = neighbours_bytes;
            account.take(owner, bytes).map(|()| account.own_bytes())
        });
        shared.unwrap_or_else(|| {
            account.neighbours_bytes = 0;
            account.take(owner, bytes)
        })
    }
}

fn account_of(accounts: &mut Vec<Option<Account>>, device: u32) -> &mut Account {
    let index = device as usize;
    if accounts.len() <= index {
        accounts.resize_with(index + 1, || None);
    }
    accounts[index].get_or_insert_with(|| Account::shared(device::profile().total_bytes, device::others_bytes()))
}

/// Locks the ledger. The journal is written under this lock, so that its lines are in the order of the ledger.
fn lock() -> MutexGuard<'static, Ledger> {
    let mut ledger = LEDGER.lock().unwrap_or_else(PoisonError::into_inner);
    if ledger.member.is_forked() {
        ledger.accounts.iter_mut().flatten().for_each(|account| account.inherited_bytes = account.used_bytes());
    }
    ledger
}

/// Creates the device's context at the first call, before any other memory is charged.
pub(crate) fn ensure_context(device: u32) {
    let bytes = device::profile().context_bytes;
    let mut ledger = lock();
    let is_fresh = !ledger.account(device).by_owner.contains_key(CONTEXT);
    if is_fresh && ledger.take(device, CONTEXT, bytes).is_ok() {
        journal::record_memory(device, CONTEXT, bytes as i64, ledger.account(device).used_bytes());
    }
}

/// Takes memory on a device, and notes it in the journal.
pub(crate) fn take(device: u32, owner: Owner, bytes: u64) -> Result<(), OutOfMemory> {
    ensure_context(device);
    let mut ledger = lock();
    let taken = ledger.take(device, owner, bytes);
    match taken {
        Ok(()) => journal::record_memory(device, owner, bytes as i64, ledger.account(device).used_bytes()),
        Err(OutOfMemory) => journal::record_refusal(device, owner, bytes),
    }
    taken
}

/// Frees the memory of a single request.
pub(crate) fn give_back(device: u32, owner: Owner, bytes: u64) {
    let mut ledger = lock();
    let account = ledger.account(device);
    account.give_back(owner, bytes);
    journal::record_memory(device, owner, -(bytes as i64), account.used_bytes());
    let own_bytes = account.own_bytes();
    ledger.member.publish(device, own_bytes);
}

/// Free and total bytes of a device, as `cudaMemGetInfo` states them.
pub(crate) fn free_and_total(device: u32) -> (u64, u64) {
    ensure_context(device);
    let mut ledger = lock();
    let neighbours_bytes = ledger.member.others_bytes(device);
    let account = ledger.account(device);
    account.neighbours_bytes = neighbours_bytes;
    (account.free_bytes(), account.capacity_bytes)
}

/// Bytes of a device used by this process. Creates no context, as `nvidia-smi` creates none.
pub(crate) fn used_bytes(device: u32) -> u64 {
    lock().account(device).used_bytes()
}

/// Bytes of every device used by the assumed other processes.
pub(crate) fn assumed_bytes() -> u64 {
    Account::shared(device::profile().total_bytes, device::others_bytes()).others_bytes
}

/// The pids of the processes on a device, and their bytes. Without a table, this process alone.
pub(crate) fn list_processes(device: PhysicalDevice) -> Vec<(u32, u64)> {
    let mut ledger = lock();
    if let Some(listed) = ledger.member.list(device) {
        return listed.into_iter().map(|(process, bytes)| (process.pid(), bytes)).collect();
    }
    let own_bytes = device::number_of(device).map_or(0, |number| ledger.account(number).used_bytes());
    if own_bytes > 0 { vec![(std::process::id(), own_bytes)] } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn what_others_hold_is_neither_free_nor_ours() {
        let mut account = Account::shared(10 * MIB, 3 * MIB);
        assert_eq!((account.free_bytes(), account.used_bytes()), (6 * MIB, 0), "others hold whole pages");
        assert_eq!(account.take("pytorch", 7 * MIB), Err(OutOfMemory));
        assert_eq!(account.take("pytorch", 6 * MIB), Ok(()));
        assert_eq!((account.free_bytes(), account.used_bytes()), (0, 6 * MIB));
        assert_eq!(Account::shared(10 * MIB, 11 * MIB).free_bytes(), 0);
    }

    #[test]
    fn requests_fail_only_when_their_pages_do_not_fit() {
        let mut account = Account::new(10 * MIB);
        assert_eq!(account.take("pytorch", 8 * MIB), Ok(()));
        assert_eq!(account.take("pytorch", 2 * MIB + 1), Err(OutOfMemory));
        assert_eq!(account.take("pytorch", 2 * MIB), Ok(()));
        assert_eq!(account.take("other", 1), Err(OutOfMemory));
        account.give_back("pytorch", 2 * MIB);
        assert_eq!(account.take("other", 1), Ok(()));
        assert_eq!(account.free_bytes(), 0);
    }

    #[test]
    fn small_requests_share_pages() {
        let mut account = Account::new(4 * MIB);
        for _ in 0..4096 {
            assert_eq!(account.take("other", 100), Ok(()));
        }
        assert_eq!(account.used_bytes(), 2 * MIB);
        assert_eq!(account.by_owner()["other"], 409_600);
    }

    #[test]
    fn absurd_sizes_are_refused() {
        let mut account = Account::new(u64::MAX / 2);
        assert_eq!(account.take("pytorch", u64::MAX), Err(OutOfMemory));
        assert_eq!(account.used_bytes(), 0);
    }

    proptest! {
        /// Compares the account with the simplest model: a list of allocations.
        #[test]
        fn the_account_equals_a_list_of_what_is_held(ops in prop::collection::vec((any::<bool>(), 1u64..6 * MIB), 1..200)) {
            let mut account = Account::new(64 * MIB);
            let mut held: Vec<u64> = Vec::new();
            for (take, bytes) in ops {
                let used = |held: &[u64]| {
                    let large: u64 = held.iter().filter(|b| **b >= PAGE_BYTES).map(|b| b.div_ceil(PAGE_BYTES) * PAGE_BYTES).sum();
                    let small: u64 = held.iter().filter(|b| **b < PAGE_BYTES).map(|b| b.div_ceil(512) * 512).sum();
                    large + small.div_ceil(PAGE_BYTES) * PAGE_BYTES
                };
                if take {
                    held.push(bytes);
                    let fits = used(&held) <= 64 * MIB;
                    prop_assert_eq!(account.take("o", bytes).is_ok(), fits);
                    if !fits { held.pop(); }
                } else if let Some(bytes) = held.pop() {
                    account.give_back("o", bytes);
                }
                prop_assert_eq!(account.used_bytes(), used(&held));
                prop_assert_eq!(account.by_owner().get("o").copied().unwrap_or(0), held.iter().sum::<u64>());
            }
        }
    }
}
