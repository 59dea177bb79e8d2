//! Best fit in the order of time: what an allocator does that knows nothing of the future.

use std::collections::{BTreeMap, BTreeSet};

use super::Buffer;
use super::timeline::{Timeline, Turn};

/// Returns where the highest buffer ends and each buffer's offset, in granules.
pub(super) fn best_fit(buffers: &[Buffer], timeline: &Timeline) -> (u64, Vec<u64>) {
    let mut offsets = vec![0; buffers.len()];
    let mut gaps = Gaps::default();
    for turn in timeline.turns(buffers) {
        match turn {
            Turn::Begins(index) => offsets[index as usize] = gaps.take(buffers[index as usize].granules()),
            Turn::Ends(index) => gaps.give(offsets[index as usize], buffers[index as usize].granules()),
        }
    }
    (gaps.top, offsets)
}

/// What is free below the highest place ever used.
#[derive(Default)]
struct Gaps {
    by_offset: BTreeMap<u64, u64>,
    by_size: BTreeSet<(u64, u64)>,
    top: u64,
}

impl Gaps {
    fn take(&mut self, size: u64) -> u64 {
        if let Some(&(room, offset)) = self.by_size.range((size, 0)..).next() {
            self.remove(offset, room);
            self.insert(offset + size, room - size);
            return offset;
        }
        let last = self.by_offset.last_key_value().map(|(&offset, &room)| (offset, room));
        let offset = match last {
            Some((offset, room)) if offset + room == self.top => {
                self.remove(offset, room);
                offset
            }
            _ => self.top,
        };
        self.top = offset + size;
        offset
    }

    fn give(&mut self, mut offset: u64, mut size: u64) {
        if let Some((&before, &room)) = self.by_offset.range(..offset).next_back()
            && before + room == offset
        {
            self.remove(before, room);
            (offset, size) = (before, size + room);
        }
        if let Some(&room) = self.by_offset.get(&(offset + size)) {
            self.remove(offset + size, room);
            size += room;
        }
        self.insert(offset, size);
    }

    fn insert(&mut self, offset: u64, room: u64) {
        if room > 0 {
            self.by_offset.insert(offset, room);
            self.by_size.insert((room, offset));
        }
    }

    fn remove(&mut self, offset: u64, room: u64) {
        self.by_offset.remove(&offset);
        self.by_size.remove(&(room, offset));
    }
}
