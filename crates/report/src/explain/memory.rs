//! Where a device's memory was: parts that add up to the whole, or do not exist.

use serde::Serialize;
use trace::Bytes;

use crate::breakdown::{Breakdown, Contents, DoesNotAddUp, Part};

/// Where a device's memory was at one instant, in the order it is drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeviceMemory {
    total_bytes: Bytes,
    extent: Extent,
    when: String,
    parts: Vec<MemoryPart>,
}

/// What the total is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// All memory of the device.
    Device,
    /// What this process may use of it: a fraction was set.
    Allowed,
    /// What PyTorch's allocator had reserved: nothing is known of the rest, as in a snapshot without an error.
    Reserved,
}

impl Extent {
    /// The words for it in reports.
    pub fn words(self) -> &'static str {
        match self {
            Extent::Device => "the device's memory",
            Extent::Allowed => "the memory that this process may use",
            Extent::Reserved => "PyTorch's reserved memory",
        }
    }
}

/// Who has a part of a device's memory. Ordered as it is drawn: this process first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(tag = "holder", content = "category", rename_all = "snake_case")]
pub enum Holder {
    /// The program, through PyTorch's allocator; with what it holds, where a trace tells.
    Allocated(Option<Contents>),
    /// PyTorch's allocator, for later: reserved less allocated.
    Cached,
    /// This process, not through PyTorch's allocator: the CUDA context, NCCL, other libraries.
    OutsidePytorch,
    /// Others.
    OtherProcesses,
    /// What is neither free nor accounted for.
    Unaccounted,
    /// Nobody.
    Free,
}

impl Holder {
    /// The words for it in reports.
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

/// What one holder has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryPart {
    /// Who.
    #[serde(flatten)]
    pub holder: Holder,
    /// How much.
    pub bytes: Bytes,
}

impl DeviceMemory {
    /// `parts` as where `total` was `when` (e.g. `at the error`); empty parts are left out.
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

    /// What the parts add up to.
    pub fn total(&self) -> Bytes {
        self.total_bytes
    }

    /// What the total is.
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// Whether the total is known to the byte: what an error states of a device is rounded.
    pub fn is_exact(&self) -> bool {
        self.extent == Extent::Reserved
    }

    /// At which instant, e.g. `at the error`.
    pub fn when(&self) -> &str {
        &self.when
    }

    /// The parts in the order they are drawn: this process with its largest first, others, free; none is empty.
    pub fn parts(&self) -> &[MemoryPart] {
        &self.parts
    }

    /// Whether its allocated parts are those of `breakdown`, so that one of the two says all.
    pub fn shows(&self, breakdown: &Breakdown) -> bool {
        let allocated = self.parts.iter().filter_map(|part| match part.holder {
            Holder::Allocated(Some(category)) => Some(Part { category, bytes: part.bytes }),
            _ => None,
        });
        allocated.eq(breakdown.parts().iter().copied())
    }
}

impl MemoryPart {
    /// Allocated parts come largest first; all others have a place of their own.
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
