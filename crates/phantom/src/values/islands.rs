//! The known bytes of device memory as a value. The rules are those of Note `[Values on a phantom]` in `values.rs`.

use std::collections::{BTreeMap, BTreeSet};

use wire::limit::KEPT_BYTES;

use crate::host;

/// Host memory of all islands; beyond, the islands written longest ago are dropped.
const KEPT_TOTAL_BYTES: usize = 256 << 20;
/// The size of a scalar, such as the counter behind `nonzero`, at most.
const SCALAR_BYTES: usize = size_of::<u64>();
/// Alignment of PyTorch's blocks.
const BLOCK_ALIGNMENT: usize = 512;

/// Bytes at consecutive addresses, and when they were written.
#[derive(Debug)]
struct Island {
    bytes: Vec<u8>,
    written: u64,
    /// True if only collectives read the island.
    is_hidden: bool,
}

/// The reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadBy {
    /// The program, to the host.
    Host,
    /// A copy on the device.
    Device,
}

/// The islands, and the answers to unknown reads.
#[derive(Debug)]
pub(super) struct Islands {
    by_address: BTreeMap<usize, Island>,
    /// Time of writing and address of every island.
    by_age: BTreeSet<(u64, usize)>,
    /// Number of islands written so far.
    clock: u64,
    /// The value of `clock` at the last launch of a kernel without an agent.
    launched: u64,
    total_bytes: usize,
    /// The value of every scalar read, while an operator runs whose shape depends on the value.
    answer: Option<u64>,
    /// The values of the next one-byte reads, by address.
    verdicts: BTreeMap<usize, u8>,
}

impl Islands {
    /// No byte is known.
    pub(super) const EMPTY: Islands = Islands {
        by_address: BTreeMap::new(),
        by_age: BTreeSet::new(),
        clock: 0,
        launched: 0,
        total_bytes: 0,
        answer: None,
        verdicts: BTreeMap::new(),
    };

    /// Removes the known values of a range; an island that reaches beyond the range keeps its outer parts.
    pub(super) fn forget(&mut self, address: usize, bytes: usize) {
        let end = address.saturating_add(bytes);
        let first = self.by_address.range(..address).next_back().map_or(address, |(&start, _)| start);
        let touched: Vec<usize> = self.by_address.range(first..end).map(|(&start, _)| start).collect();
        for start in touched {
            let Some(island) = self.by_address.get(&start) else { continue };
            let (island_end, written, is_hidden) = (start + island.bytes.len(), island.written, island.is_hidden);
            if island_end <= address {
                continue;
            }
            let before = (start < address).then(|| island.bytes[..address - start].to_vec());
            let after = (island_end > end).then(|| island.bytes[end - start..].to_vec());
            self.remove(start);
            if let Some(bytes) = before {
                self.insert(start, Island { bytes, written, is_hidden });
            }
            if let Some(bytes) = after {
                self.insert(end, Island { bytes, written, is_hidden });
            }
        }
    }

    fn remove(&mut self, start: usize) {
        if let Some(island) = self.by_address.remove(&start) {
            self.total_bytes -= island.bytes.len();
            self.by_age.remove(&(island.written, start));
        }
    }

    fn insert(&mut self, start: usize, island: Island) {
        self.total_bytes += island.bytes.len();
        self.by_age.insert((island.written, start));
        self.by_address.insert(start, island);
        while self.total_bytes > KEPT_TOTAL_BYTES {
            let Some(&(_, oldest)) = self.by_age.first() else { return };
            self.remove(oldest);
        }
    }

    /// Writes bytes over what is known. An empty island would take the place of an island at the same address.
    fn write(&mut self, address: usize, bytes: Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        self.forget(address, bytes.len());
        self.clock += 1;
        self.insert(address, Island { bytes, written: self.clock, is_hidden: false });
    }

    fn write_new(&mut self, address: usize, bytes: Vec<u8>, is_hidden: bool) {
        let count = bytes.len();
        self.write(address, bytes);
        if is_hidden {
            self.hide(address, count);
        }
    }

    /// Takes a copy from the host, small enough to be kept.
    pub(super) fn copy_from_host(&mut self, dst: usize, source: &[u8], is_hidden: bool) {
        self.write_new(dst, source.to_vec(), is_hidden);
    }

    /// Takes a copy on the device; a copy of hidden bytes is hidden.
    pub(super) fn copy_on_device(&mut self, dst: usize, src: usize, bytes: usize) {
        let is_hidden = self.is_hidden(src, bytes);
        self.move_known(dst, src, bytes, is_hidden);
    }

    /// Takes the result of a collective, which is not hidden.
    pub(super) fn share(&mut self, dst: usize, src: usize, bytes: usize) {
        self.move_known(dst, src, bytes, false);
    }

    /// Takes a fill with one byte. Zeros need no island, since unknown bytes read as zeros.
    pub(super) fn fill(&mut self, dst: usize, value: u8, bytes: usize, is_hidden: bool) {
        if value == 0 || bytes > KEPT_BYTES {
            self.forget(dst, bytes);
        } else {
            self.write_new(dst, vec![value; bytes], is_hidden);
        }
    }

    /// Takes a fill that PyTorch did not issue: only the agent reads the bytes, zeros too.
    pub(super) fn fill_foreign(&mut self, dst: usize, value: u8, bytes: usize) {
        if bytes <= KEPT_BYTES {
            self.write_new(dst, vec![value; bytes], true);
        }
    }

    /// Takes the launch of a kernel without an agent.
    pub(super) fn note_launch(&mut self) {
        self.launched = self.clock;
    }

    /// Sets the value of every scalar that the host reads, or none.
    pub(super) fn set_answer(&mut self, answer: Option<u64>) {
        self.answer = answer;
    }

    /// Sets the value of the host's next read of one byte.
    pub(super) fn set_verdict(&mut self, address: usize, value: u8) {
        self.verdicts.insert(address, value);
    }

    /// Copies a range if all its bytes are known.
    fn move_known(&mut self, dst: usize, src: usize, bytes: usize, is_hidden: bool) {
        let mut buffer = vec![0; if bytes > KEPT_BYTES { 0 } else { bytes }];
        if buffer.is_empty() || self.read(src, &mut buffer, ReadBy::Device) < bytes {
            self.forget(dst, bytes);
            return;
        }
        self.write_new(dst, buffer, is_hidden);
    }

    /// True if a hidden island touches a range.
    fn is_hidden(&self, address: usize, bytes: usize) -> bool {
        let end = address.saturating_add(bytes);
        let first = self.by_address.range(..address).next_back().map_or(address, |(&start, _)| start);
        let mut touched = self.by_address.range(first..end);
        touched.any(|(&start, island)| island.is_hidden && start + island.bytes.len() > address)
    }

    /// Hides the islands that a range touches.
    fn hide(&mut self, address: usize, bytes: usize) {
        let end = address.saturating_add(bytes);
        let first = self.by_address.range(..address).next_back().map_or(address, |(&start, _)| start);
        for (&start, island) in self.by_address.range_mut(first..end) {
            island.is_hidden |= start + island.bytes.len() > address;
        }
    }

    /// Copies the known bytes of a range, and zeros elsewhere; returns the number of known bytes. See Note [Values on a phantom].
    pub(super) fn read(&self, address: usize, into: &mut [u8], reader: ReadBy) -> usize {
        host::clear(into.as_mut_ptr() as usize, into.len());
        let mut known = 0;
        let end = address.saturating_add(into.len());
        let is_block = address.is_multiple_of(BLOCK_ALIGNMENT);
        let is_scalar = into.len() <= SCALAR_BYTES && reader == ReadBy::Host;
        let first = self.by_address.range(..address).next_back().map_or(address, |(&start, _)| start);
        for (&start, island) in self.by_address.range(first..end) {
            let island_end = start + island.bytes.len();
            let is_for_others = island.is_hidden && reader == ReadBy::Host;
            let is_others = is_block && start == address && island.bytes.len() != into.len();
            let is_past = is_scalar && island.written <= self.launched;
            if is_for_others || island_end <= address || is_others || is_past {
                continue;
            }
            let (from, to) = (start.max(address), island_end.min(end));
            into[from - address..to - address].copy_from_slice(&island.bytes[from - start..to - start]);
            known += to - from;
        }
        known
    }

    /// Fills `target` as the host's read from `src` does: with a set answer, else with the known bytes. Returns the number of
    /// bytes that are known or answered.
    pub(super) fn read_to_host(&mut self, src: usize, target: &mut [u8]) -> usize {
        if let [byte] = target
            && let Some(verdict) = self.verdicts.remove(&src)
        {
            *byte = verdict;
            return 1;
        }
        match self.answer {
            Some(answer) if target.len() <= size_of::<u64>() => {
                target.copy_from_slice(&answer.to_le_bytes()[..target.len()]);
                target.len()
            }
            _ => self.read(src, target, ReadBy::Host),
        }
    }
}

#[cfg(test)]
mod tests;
