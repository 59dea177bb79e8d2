//! The phantom's journal of a process, added up.

use std::collections::BTreeMap;

use super::phantom::{MemoryChange, ModelledFigure, PhantomRecord, RefusedRequest, Workspace};
use crate::bytes::Bytes;
use crate::ids::DeviceIndex;

/// A process's device memory by owner, and the phantom's other records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// The failed requests, oldest first.
    pub refusals: Vec<RefusedRequest>,
    /// The workspaces that PyTorch gave to libraries.
    pub workspaces: Vec<Workspace>,
    /// The figures that the phantom modelled.
    pub figures: Vec<ModelledFigure>,
    /// Functions that the program called and the phantom lacks.
    pub missing_symbols: Vec<String>,
    devices: BTreeMap<DeviceIndex, Account>,
    is_begun: bool,
}

/// The memory of one device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Account {
    in_use: Bytes,
    peak: Bytes,
    shares: BTreeMap<String, Share>,
}

/// An owner's part of a device, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Share {
    current: i64,
    peak: i64,
}

impl Ledger {
    /// Adds a record.
    pub fn take(&mut self, record: PhantomRecord) {
        self.is_begun = true;
        match record {
            PhantomRecord::Phantom(_) => {}
            PhantomRecord::Memory(change) => self.add(change),
            PhantomRecord::Refused(refusal) => self.refusals.push(refusal),
            PhantomRecord::Workspace(workspace) => self.workspaces.push(workspace),
            PhantomRecord::Assumption(figure) => self.figures.push(figure),
            PhantomRecord::Missing(missing) => self.missing_symbols.push(missing.symbol),
        }
    }

    fn add(&mut self, change: MemoryChange) {
        let account = self.devices.entry(DeviceIndex(change.device)).or_default();
        account.in_use = Bytes(change.used_bytes);
        account.peak = account.peak.max(Bytes(change.used_bytes));
        let share = account.shares.entry(change.owner).or_default();
        share.current = share.current.saturating_add(change.delta);
        share.peak = share.peak.max(share.current);
    }

    /// True without a phantom's records: the run was on a real GPU.
    pub fn is_empty(&self) -> bool {
        !self.is_begun
    }

    /// The devices with memory in use at some time.
    pub fn devices(&self) -> impl Iterator<Item = DeviceIndex> + '_ {
        self.devices.keys().copied()
    }

    /// The owners of memory, for each device.
    pub fn owners(&self) -> impl Iterator<Item = (DeviceIndex, &str)> {
        self.devices.iter().flat_map(|(device, account)| account.shares.keys().map(|owner| (*device, owner.as_str())))
    }

    /// The bytes in use and their peak on the device with the highest peak; `None` if no device was used.
    pub fn fullest(&self) -> Option<(Bytes, Bytes)> {
        self.devices.values().max_by_key(|account| account.peak).map(|account| (account.in_use, account.peak))
    }

    /// The peak of the bytes in use on `device`; `None` for an unused device.
    pub fn peak(&self, device: DeviceIndex) -> Option<Bytes> {
        Some(self.devices.get(&device)?.peak)
    }

    /// The peak of `owner`'s share of `device`; `None` without a share.
    pub fn share_peak(&self, device: DeviceIndex, owner: &str) -> Option<Bytes> {
        let share = self.devices.get(&device)?.shares.get(owner)?;
        Some(Bytes(u64::try_from(share.peak).unwrap_or(0)))
    }
}

impl FromIterator<PhantomRecord> for Ledger {
    fn from_iter<T: IntoIterator<Item = PhantomRecord>>(records: T) -> Ledger {
        let mut ledger = Ledger::default();
        records.into_iter().for_each(|record| ledger.take(record));
        ledger
    }
}
