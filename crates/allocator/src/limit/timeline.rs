//! The order of the beginnings and ends of buffers.

use trace::Bytes;

use super::{AlivePeak, Buffer, GRANULE};

/// The buffers with non-empty lives, sorted by beginning and by end.
pub(super) struct Timeline {
    begins: Vec<u32>,
    ends: Vec<u32>,
}

/// The beginning or the end of a buffer, by its index in the list.
#[derive(Clone, Copy, Debug)]
pub(super) enum Turn {
    Begins(u32),
    Ends(u32),
}

impl Timeline {
    pub(super) fn of(buffers: &[Buffer]) -> Timeline {
        let alive = |(_, buffer): &(u32, &Buffer)| buffer.start < buffer.end;
        let mut begins: Vec<u32> = (0..).zip(buffers).filter(alive).map(|(index, _)| index).collect();
        let mut ends = begins.clone();
        begins.sort_by_key(|&index| buffers[index as usize].start);
        ends.sort_by_key(|&index| buffers[index as usize].end);
        Timeline { begins, ends }
    }

    /// Beginnings and ends in order; at one moment, ends come before beginnings.
    pub(super) fn turns<'a>(&'a self, buffers: &'a [Buffer]) -> impl Iterator<Item = Turn> + 'a {
        let (mut begins, mut ends) = (self.begins.iter().copied().peekable(), self.ends.iter().copied());
        let mut oldest = ends.next();
        std::iter::from_fn(move || {
            let old = oldest?;
            let new = begins.next_if(|&new| buffers[new as usize].start < buffers[old as usize].end);
            if new.is_none() {
                oldest = ends.next();
            }
            Some(new.map_or(Turn::Ends(old), Turn::Begins))
        })
    }

    pub(super) fn peak(&self, buffers: &[Buffer]) -> AlivePeak {
        let (mut alive, mut most, mut at) = (0u128, 0, 0);
        for turn in self.turns(buffers) {
            match turn {
                Turn::Begins(index) => {
                    let buffer = &buffers[index as usize];
                    alive += u128::from(buffer.granules());
                    if alive > most {
                        (most, at) = (alive, buffer.start);
                    }
                }
                Turn::Ends(index) => alive -= u128::from(buffers[index as usize].granules()),
            }
        }
        let bytes = u64::try_from(most * u128::from(GRANULE.0)).unwrap_or(u64::MAX);
        AlivePeak { bytes: Bytes(bytes), at }
    }
}
