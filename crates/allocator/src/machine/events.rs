//! Blocks in use by side streams, and their events.

use std::collections::VecDeque;

use trace::Stream;

use super::{Allocator, Observer};
use crate::device::Device;
use crate::ids::BlockId;

/// The outstanding events. The caller says when a stream reaches an event.
#[derive(Clone, Debug, Default)]
pub(super) struct Events {
    /// New events stay outstanding until they are completed by name.
    held: bool,
    /// A queue for each stream, oldest event first, with a flag for done. A pending event does not hide later events.
    /// Streams are ordered by their pointers; PyTorch's order is unspecified, a hash map's.
    queues: Vec<(Stream, VecDeque<(bool, BlockId)>)>,
    /// Blocks withheld by [`Allocator::free_later`].
    blocks: Vec<BlockId>,
}

impl Events {
    fn record(&mut self, stream: Stream, block: BlockId) {
        let done = !self.held;
        let place = self.queues.partition_point(|(other, _)| *other < stream);
        if self.queues.get(place).is_none_or(|(other, _)| *other != stream) {
            self.queues.insert(place, (stream, VecDeque::new()));
        }
        self.queues[place].1.push_back((done, block));
    }

    /// Removes the next event that is done; returns its block.
    fn pop_done(&mut self) -> Option<BlockId> {
        let mut queues = self.queues.iter_mut().map(|(_, queue)| queue);
        queues.find(|queue| matches!(queue.front(), Some((true, _))))?.pop_front().map(|(_, block)| block)
    }

    fn complete(&mut self, stream: Option<Stream>) {
        for (other, queue) in &mut self.queues {
            if stream.is_none_or(|stream| stream == *other) {
                for (done, _) in queue {
                    *done = true;
                }
            }
        }
    }

    pub(super) fn hold_block(&mut self, block: BlockId) {
        self.blocks.push(block);
    }

    pub(super) fn release_block(&mut self, block: BlockId) -> bool {
        let place = self.blocks.iter().position(|&other| other == block);
        place.map(|place| self.blocks.remove(place)).is_some()
    }

    /// Removes all outstanding events of the blocks that `is_meant` accepts, oldest first. A stream that reached an
    /// event has reached all earlier events.
    fn take(&mut self, is_meant: impl Fn(BlockId) -> bool) -> Vec<BlockId> {
        let mut taken: Vec<BlockId> = self.blocks.extract_if(.., |block| is_meant(*block)).collect();
        for (_, queue) in &mut self.queues {
            let reached = queue.iter().rposition(|&(_, block)| is_meant(block)).unwrap_or(0);
            for (done, _) in queue.iter_mut().take(reached) {
                *done = true;
            }
            let (out, stay): (VecDeque<_>, _) = queue.drain(..).partition(|&(_, block)| is_meant(block));
            *queue = stay;
            taken.extend(out.into_iter().map(|(_, block)| block));
        }
        taken
    }
}

impl<D: Device, O: Observer> Allocator<D, O> {
    /// Sets whether new events stay outstanding until they are completed.
    pub fn hold_events(&mut self, held: bool) {
        self.events.held = held;
    }

    /// Completes all events recorded so far.
    pub fn complete_events(&mut self) {
        self.events.complete(None);
    }

    /// Completes all events recorded on a stream so far.
    pub fn complete_events_of(&mut self, stream: Stream) {
        self.events.complete(Some(stream));
    }

    /// Records an event on each stream that uses a freed block.
    pub(super) fn record_events(&mut self, id: BlockId) {
        self.blocks[id].has_stream_uses = false;
        for stream in self.stream_uses.remove(&id).unwrap_or_default() {
            self.blocks[id].events += 1;
            self.events.record(stream, id);
        }
    }

    /// Frees the blocks whose events are done (`process_events`).
    #[inline]
    pub(super) fn process_events(&mut self) {
        if !self.deferred.is_empty() {
            self.record_deferred();
        }
        while let Some(block) = self.events.pop_done() {
            self.event_completed(block);
        }
    }

    /// Records the events deferred by a capture. Streams that used the block only in the capture get no event.
    pub(super) fn record_deferred(&mut self) {
        for id in std::mem::take(&mut self.deferred) {
            let during = self.capture_uses.remove(&id).unwrap_or_default();
            self.stream_uses.entry(id).or_default().retain(|stream| !during.contains(stream));
            self.record_events(id);
            if self.blocks[id].events == 0 {
                self.free_completed(id);
            }
        }
    }

    /// Waits for all events, or for those of some blocks (`synchronize_and_free_events`).
    pub(super) fn wait_for_events(&mut self, is_meant: impl Fn(&Self, BlockId) -> bool) {
        self.stats.num_sync_all_streams += 1;
        self.record_deferred();
        let mut events = std::mem::take(&mut self.events);
        let waiting = events.take(|block| is_meant(self, block));
        self.events = events;
        for block in waiting {
            self.event_completed(block);
        }
    }
}
