//! This process in the table.

use super::{Process, Slot, Table, liveness, mapping};
use crate::device::{self, PhysicalDevice};

/// The ledger's side of the table. A forked child is a new process without a slot.
#[derive(Debug)]
pub(crate) struct Member {
    /// The pid at the last call; another pid is a forked child.
    pid: u32,
    seat: Seat,
}

/// The slot of this process.
#[derive(Clone, Copy, Debug)]
enum Seat {
    /// The process has asked for no memory.
    Unclaimed,
    At(Slot),
    /// The table was full, so the process goes on as without a table.
    Refused,
}

impl Member {
    pub(crate) const fn new() -> Member {
        Member { pid: 0, seat: Seat::Unclaimed }
    }

    /// True at the first call in a forked child with a table.
    pub(crate) fn is_forked(&mut self) -> bool {
        if mapping::table().is_none() {
            return false;
        }
        let before = std::mem::replace(&mut self.pid, std::process::id());
        let is_forked = before != self.pid && before != 0;
        if is_forked {
            self.seat = Seat::Unclaimed;
        }
        is_forked
    }

    /// Serves a request for memory of a device, see [`Table::request`]; `None` without a table.
    pub(crate) fn request<E>(
        &mut self,
        device: u32,
        serve: impl FnMut(u64) -> Result<u64, E>,
    ) -> Option<Result<(), E>> {
        let (table, device) = (mapping::table()?, column(device::physical(device))?);
        Some(table.request(self.claim(table)?, device, serve))
    }

    /// Notes the bytes of a device after memory was freed.
    pub(crate) fn publish(&self, device: u32, bytes: u64) {
        if let (Some(table), Some(device), Seat::At(slot)) =
            (mapping::table(), column(device::physical(device)), self.seat)
        {
            table.publish(slot, device, bytes);
        }
    }

    /// The bytes of other live processes.
    pub(crate) fn others_bytes(&self, device: u32) -> u64 {
        let this = liveness::this_process();
        let all = self.list(device::physical(device)).unwrap_or_default();
        all.into_iter()
            .filter(|(process, _)| Some(*process) != this)
            .fold(0, |sum, (_, bytes)| sum.saturating_add(bytes))
    }

    /// The live processes on a device, this process included, and their bytes; `None` without a table.
    pub(crate) fn list(&self, device: PhysicalDevice) -> Option<Vec<(Process, u64)>> {
        if matches!(self.seat, Seat::Refused) {
            return None;
        }
        Some(mapping::table()?.list(column(device)?))
    }

    fn claim(&mut self, table: &Table) -> Option<Slot> {
        if let Seat::Unclaimed = self.seat {
            let slot = liveness::this_process().and_then(|process| table.claim(process));
            self.seat = slot.map_or(Seat::Refused, Seat::At);
        }
        match self.seat {
            Seat::At(slot) => Some(slot),
            Seat::Unclaimed | Seat::Refused => None,
        }
    }
}

/// The device's place in a slot.
fn column(PhysicalDevice(device): PhysicalDevice) -> Option<usize> {
    Some(device as usize).filter(|device| *device < wire::table::DEVICES)
}
