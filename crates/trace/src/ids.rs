//! Newtypes for ids and indices of a trace, so that one is never used as another.

use std::fmt;
use std::num::{NonZeroU16, NonZeroU64};

use serde::{Deserialize, Serialize};

/// An address on a device. Devices may use equal addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Address(pub u64);

impl Address {
    /// The address `bytes` further on.
    #[must_use]
    pub const fn offset(self, bytes: u64) -> Address {
        Address(self.0.saturating_add(bytes))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// The number of a device in one process, as in `cuda:1`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(transparent)]
pub struct DeviceIndex(pub u32);

/// A stream by its raw pointer value; 0 is the default stream. Only equality is meaningful.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stream(pub u64);

/// The index of an event in its device's history, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventIndex(pub u32);

/// A time: microseconds since 1970, as in PyTorch's `time_us`. Zero means unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(NonZeroU64);

impl Time {
    /// The time `micros` microseconds after 1970; `None` for zero, which means unknown.
    pub fn from_micros(micros: u64) -> Option<Time> {
        NonZeroU64::new(micros).map(Time)
    }

    /// Microseconds since 1970.
    pub fn micros(self) -> u64 {
        self.0.get()
    }
}

/// A pool of a snapshot, as an index into [`crate::Snapshot::pools`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolId(NonZeroU16);

impl PoolId {
    /// The pool at this index; `None` beyond the 65 535th.
    pub fn from_index(index: usize) -> Option<PoolId> {
        u16::try_from(index).ok()?.checked_add(1).and_then(NonZeroU16::new).map(PoolId)
    }

    /// The index in the snapshot's table.
    pub fn index(self) -> usize {
        usize::from(self.0.get()) - 1
    }
}
