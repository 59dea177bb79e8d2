//! The holders of a device's memory: parts that add up to the whole, or cannot be built.

use serde::{Deserialize, Serialize};
use trace::Bytes;

use crate::breakdown::{Breakdown, Contents, DoesNotAddUp, Part};

/// The holders of a device's memory at one moment, in drawing order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "StatedMemory")]
pub struct DeviceMemory {
    /// The sum of the parts.
    total_bytes: Bytes,
    /// The meaning of the total.
    extent: Extent,
    /// The moment, e.g. `at the error`.
    when: String,
    /// This process with its largest part first, other processes, free memory; empty parts are left out.
    parts: Vec<MemoryPart>,
}

/// A [`DeviceMemory`] as a document states it, before its parts are added up.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct StatedMemory {
    total_bytes: Bytes,
    extent: Extent,
    when: String,
    parts: Vec<MemoryPart>,
}

impl TryFrom<StatedMemory> for DeviceMemory {
    type Error = DoesNotAddUp;

    fn try_from(stated: StatedMemory) -> Result<DeviceMemory, DoesNotAddUp> {
        DeviceMemory::new(stated.total_bytes, stated.extent, stated.when, stated.parts)
    }
}

/// The meaning of the total.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// All memory of the device.
    Device,
    /// The part that this process may use after a call of `set_per_process_memory_fraction`.
    Allowed,
    /// The memory that PyTorch's allocator has reserved; a snapshot without an error does not state the rest.
    Reserved,
    /// The memory in use on a device without a limit.
    Used,
}

impl Extent {
    /// The name in reports.
    pub fn words(self) -> &'static str {
        match self {
            Extent::Device => "the device's memory",
            Extent::Allowed => "the memory that this process may use",
            Extent::Reserved => "PyTorch's reserved memory",
            Extent::Used => "the memory in use",
        }
    }
}

/// The holder of a part of a device's memory, in drawing order: this process first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "holder", content = "category", rename_all = "snake_case")]
pub enum Holder {
    /// Blocks that PyTorch's allocator has allocated, with their category if a trace shows one.
    Allocated(Option<Contents>),
    /// PyTorch's cache: reserved less allocated.
    Cached,
    /// This process outside PyTorch's allocator: the CUDA context, NCCL, other libraries.
    OutsidePytorch,
    /// Other processes.
    OtherProcesses,
    /// Memory that is not free and has no known holder.
    Unaccounted,
    /// Free memory.
    Free,
}

impl Holder {
    /// The name in reports.
    pub fn words(self) -> &'static str {
        match self {
            Holder::Allocated(Some(contents)) => contents.words(),
            Holder::Allocated(None) => "allocated",
            Holder::Cached => "reserved, unallocated",
            Holder::OutsidePytorch => "outside PyTorch",
            Holder::OtherProcesses => "other processes",
            Holder::Unaccounted => "unaccounted for",
            Holder::Free => "free",
        }
    }
}

/// The memory of a holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryPart {
    /// The holder.
    #[serde(flatten)]
    pub holder: Holder,
    /// The size of the part.
    pub bytes: Bytes,
}

impl DeviceMemory {
    /// Builds the holders of `total` at the moment `when` (e.g. `at the error`); empty parts are left out.
    pub fn new(
        total: Bytes,
        extent: Extent,
        when: String,
        mut parts: Vec<MemoryPart>,
    ) -> Result<DeviceMemory, DoesNotAddUp> {
        let sum: u128 = parts.iter().map(|part| u128::from(part.bytes.0)).sum();
        if sum != u128::from(total.0) {
            return Err(DoesNotAddUp { total: total.0, sum: u64::try_from(sum).unwrap_or(u64::MAX) });
        }
        parts.retain(|part| part.bytes != Bytes::ZERO);
        parts.sort_by_key(MemoryPart::rank);
        Ok(DeviceMemory { total_bytes: total, extent, when, parts })
    }

    /// The sum of the parts.
    pub fn total(&self) -> Bytes {
        self.total_bytes
    }

    /// The meaning of the total.
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// True if the total is known to the byte; errors state rounded sizes.
    pub fn is_exact(&self) -> bool {
        matches!(self.extent, Extent::Reserved | Extent::Used)
    }

    /// The moment, e.g. `at the error`.
    pub fn when(&self) -> &str {
        &self.when
    }

    /// The parts in drawing order: this process with the largest part first, other processes, free memory. Empty parts are left out.
    pub fn parts(&self) -> &[MemoryPart] {
        &self.parts
    }

    /// True if the allocated parts equal `breakdown`; a report shows equal parts once.
    pub fn shows(&self, breakdown: &Breakdown) -> bool {
        let allocated = self.parts.iter().filter_map(|part| match part.holder {
            Holder::Allocated(Some(category)) => Some(Part { category, bytes: part.bytes }),
            _ => None,
        });
        allocated.eq(breakdown.parts().iter().copied())
    }
}

impl MemoryPart {
    /// Sorts allocated parts by size; the other parts have fixed positions.
    fn rank(&self) -> (Holder, std::cmp::Reverse<Bytes>, Holder) {
        match self.holder {
            Holder::Allocated(_) => (Holder::Allocated(None), std::cmp::Reverse(self.bytes), self.holder),
            other => (other, std::cmp::Reverse(self.bytes), other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(holder: Holder, bytes: u64) -> MemoryPart {
        MemoryPart { holder, bytes: Bytes(bytes) }
    }

    fn memory(total: u64, parts: &[MemoryPart]) -> Result<DeviceMemory, DoesNotAddUp> {
        DeviceMemory::new(Bytes(total), Extent::Device, "at the error".to_owned(), parts.to_vec())
    }

    #[test]
    fn parts_that_are_not_the_whole_are_refused() {
        let parts = [part(Holder::Free, 3), part(Holder::Cached, 4)];
        assert_eq!(memory(8, &parts), Err(DoesNotAddUp { total: 8, sum: 7 }));
        assert!(memory(6, &parts).is_err());
        assert!(memory(7, &parts).is_ok());
        let huge = [part(Holder::Free, u64::MAX), part(Holder::Cached, 8)];
        assert!(memory(7, &huge).is_err());
    }

    #[test]
    fn this_process_comes_first_with_its_largest_and_empty_parts_not_at_all() {
        let small = part(Holder::Allocated(Some(Contents::Parameters)), 1);
        let large = part(Holder::Allocated(Some(Contents::Other)), 5);
        let parts = [part(Holder::Free, 9), part(Holder::OutsidePytorch, 0), small, part(Holder::Cached, 2), large];
        let expected = [large, small, part(Holder::Cached, 2), part(Holder::Free, 9)];
        assert_eq!(memory(17, &parts).map(|memory| memory.parts), Ok(expected.to_vec()));
    }

    #[test]
    fn a_part_is_flat_in_json() {
        let parts = [part(Holder::Allocated(Some(Contents::OptimizerState)), 1), part(Holder::Free, 2)];
        let json = serde_json::to_value(parts).ok();
        let expected = serde_json::json!([
            {"holder": "allocated", "category": "optimizer_state", "bytes": 1},
            {"holder": "free", "bytes": 2},
        ]);
        assert_eq!(json, Some(expected));
    }
}
