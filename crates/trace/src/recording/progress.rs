//! The phase of a running program, from the news in its recording.

use wire::recording::{EVENT_BYTES, KIND_MEMORY};

use super::bytes::Fields;
use super::phases::Phases;
use super::texts::TextReader;
use crate::event::Phase;

/// Follows a recording that is read piece by piece.
#[derive(Debug)]
pub struct PhaseReader {
    texts: TextReader,
    phases: Phases,
    phase: Option<Phase>,
}

impl Default for PhaseReader {
    fn default() -> PhaseReader {
        PhaseReader { texts: TextReader::new(), phases: Phases::new(), phase: None }
    }
}

impl PhaseReader {
    /// The length of the texts read so far: the next piece starts there.
    pub fn read_text_bytes(&self) -> u64 {
        self.texts.read_bytes()
    }

    /// Reads the texts behind those read so far. They come before the events that use them.
    pub fn feed_texts(&mut self, texts: &[u8]) {
        self.texts.feed(texts);
    }

    /// Reads the next events, oldest first.
    pub fn feed_events(&mut self, events: &[u8]) {
        let all = events.chunks_exact(EVENT_BYTES).map(Fields);
        for event in all.filter(|event| event.u8(36) == KIND_MEMORY) {
            let is_free = event.u64(8).cast_signed() < 0;
            let stack = (!is_free).then(|| self.texts.stack(event.u32(24)));
            self.phase = Some(self.phases.advance(self.texts.stacks(), event.u32(28), stack));
        }
    }

    /// The phase at the last event; `None` before the first.
    pub fn phase(&self) -> Option<Phase> {
        self.phase
    }
}
