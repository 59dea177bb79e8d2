//! The numbers of stacks. A stack is known by a hash of its instructions; its texts are written once, when it is new.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use wire::recording::{PLACE, STACK, header};

use crate::code::{CodePlace, read_place};
use crate::file::RecordingFile;
use crate::frames::{self, Layout, RunningCall};

/// Hands the hash of a stack through: it is one already.
#[derive(Default)]
pub(crate) struct Through(u64);

impl Hasher for Through {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}

type By<K> = HashMap<K, u32, BuildHasherDefault<Through>>;

/// All stacks and places so far.
#[derive(Default)]
pub(crate) struct Stacks {
    numbers: By<u64>,
    places: By<(usize, usize)>,
    written: u32,
    lost: u64,
}

impl Stacks {
    /// The number of the stack of this thread; 0 without Python, and where there was no room for its texts.
    #[inline]
    pub(crate) fn number(&mut self, layout: &Layout, file: &mut RecordingFile) -> u32 {
        let Some(hash) = frames::hash(layout) else {
            return 0;
        };
        match self.numbers.get(&hash) {
            Some(&number) => number,
            None => self.add(hash, layout, file),
        }
    }

    #[cold]
    fn add(&mut self, hash: u64, layout: &Layout, file: &mut RecordingFile) -> u32 {
        let number = self.write(layout, file).unwrap_or_default();
        if number == 0 {
            self.lost += 1;
            file.set_lost(header::LOST_STACKS, self.lost);
        }
        self.numbers.insert(hash, number);
        number
    }

    fn write(&mut self, layout: &Layout, file: &mut RecordingFile) -> Option<u32> {
        let positions = frames::list(layout);
        let mut entry = vec![STACK];
        entry.extend(u16::try_from(positions.len()).ok()?.to_le_bytes());
        for position in positions {
            entry.extend(self.place(layout, position, file)?.to_le_bytes());
        }
        if !file.append_text(&entry) {
            return None;
        }
        self.written += 1;
        Some(self.written)
    }

    fn place(&mut self, layout: &Layout, position: RunningCall, file: &mut RecordingFile) -> Option<u32> {
        let key = (position.code, position.instruction);
        if let Some(&number) = self.places.get(&key) {
            return Some(number);
        }
        // SAFETY: the position was read from the stack of the running thread, which is still in the same call (Note [Frames]).
        let place = unsafe { read_place(&layout.code, position.code, position.instruction) };
        let number = u32::try_from(self.places.len() + 1).ok()?;
        if !file.append_text(&entry_of(&place)) {
            return None;
        }
        self.places.insert(key, number);
        Some(number)
    }
}

fn entry_of(place: &CodePlace) -> Vec<u8> {
    let length = |text: &str| (text.len() as u16).to_le_bytes();
    let mut entry = vec![PLACE];
    entry.extend(place.line.to_le_bytes());
    entry.extend(length(&place.file));
    entry.extend(length(&place.function));
    entry.extend(place.file.as_bytes());
    entry.extend(place.function.as_bytes());
    entry
}
