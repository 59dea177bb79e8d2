//! Collectives, as a single rank sees them.

// Note [One rank for all]
// ~~~~~~~~~~~~~~~~~~~~~~~
// The phantom plays a single rank; all ranks are assumed to hold equal values. Programs compare small values across
// ranks (DistributedDataParallel gathers parameter counts and shapes) and stop at a difference, so small values are
// moved: gathering repeats the rank's own values, reducing keeps them (right for minimum, maximum and mean; a sum is
// the rank's own value). Large buffers are not moved; their known values are dropped.

use super::{Communicator, Connection, NcclResult, connect};
use crate::api::captured::note_for_library;
use crate::boundary::{Status, export};
use crate::handle::Handle;
use crate::values::written;

/// Results up to this size are worth moving: counts, shapes, flags, losses. Also of hundreds of ranks together.
const SMALL_BYTES: usize = wire::limit::KEPT_BYTES;

/// Bytes of an `ncclDataType_t` of `nccl.h` 2.28.
fn element_bytes(data_type: i32) -> Result<usize, NcclResult> {
    match data_type {
        0 | 1 | 10 | 11 => Ok(1),
        6 | 9 => Ok(2),
        2 | 3 | 7 => Ok(4),
        4 | 5 | 8 => Ok(8),
        _ => Err(NcclResult::INVALID),
    }
}

/// A rank's share of a collective, with its source and destination.
#[derive(Clone, Copy)]
struct Share {
    send: usize,
    receive: usize,
    bytes: usize,
}

impl Share {
    fn new(send: usize, receive: usize, count: usize, data_type: i32) -> Result<Share, NcclResult> {
        let bytes = count.checked_mul(element_bytes(data_type)?).ok_or(NcclResult::INVALID)?;
        Ok(Share { send, receive, bytes })
    }

    /// The `slot`-th of several adjacent shares in the sent buffer.
    fn sending(self, slot: i32) -> Share {
        Share { send: self.send.wrapping_add(self.bytes.wrapping_mul(slot as usize)), ..self }
    }

    /// Receives our share into each of `slots` places behind each other.
    fn receive_in(self, slots: i32) {
        let total = self.bytes.saturating_mul(slots as usize);
        if self.receive != self.send {
            written::note(self.receive, total);
        }
        if total > SMALL_BYTES {
            crate::values::forget(self.receive, total);
            return;
        }
        for slot in 0..slots as usize {
            let place = self.receive + slot * self.bytes;
            if place != self.send {
                crate::values::share(place, self.send, self.bytes);
            }
        }
    }
}

/// Receives on the root only.
fn to_root(known: Communicator, root: i32, share: Share, slots: i32) {
    if known.rank == root {
        share.receive_in(slots);
    }
}

/// Connects a communicator to every peer, as NCCL does for collectives composed of sends and receives.
fn connect_to_all(handle: Handle) -> Result<Communicator, NcclResult> {
    let known = connect(handle, Connection::Ring)?;
    for peer in (0..known.count).filter(|peer| *peer != known.rank) {
        connect(handle, Connection::Peer(peer))?;
    }
    Ok(known)
}

export! { NcclResult;
    fn ncclAllGather(send: usize, receive: usize, count: usize, data_type: i32, handle: Handle, stream: Handle) {
        note_for_library(|| stream as usize)?;
        let share = Share::new(send, receive, count, data_type)?;
        share.receive_in(connect(handle, Connection::Ring)?.count);
        Ok(())
    }

    fn ncclAllReduce(
        send: usize, receive: usize, count: usize, data_type: i32, _operator: i32, handle: Handle, stream: Handle,
    ) {
        note_for_library(|| stream as usize)?;
        let share = Share::new(send, receive, count, data_type)?;
        connect(handle, Connection::Ring)?;
        connect(handle, Connection::Tree)?;
        share.receive_in(1);
        Ok(())
    }

    fn ncclReduce(
        send: usize, receive: usize, count: usize, data_type: i32, _operator: i32, root: i32, handle: Handle,
        stream: Handle,
    ) {
        note_for_library(|| stream as usize)?;
        to_root(connect(handle, Connection::Ring)?, root, Share::new(send, receive, count, data_type)?, 1);
        Ok(())
    }

    fn ncclReduceScatter(
        send: usize, receive: usize, count: usize, data_type: i32, _operator: i32, handle: Handle, stream: Handle,
    ) {
        note_for_library(|| stream as usize)?;
        let rank = connect(handle, Connection::Ring)?.rank;
        Share::new(send, receive, count, data_type)?.sending(rank).receive_in(1);
        Ok(())
    }

    fn ncclBroadcast(
        send: usize, receive: usize, count: usize, data_type: i32, root: i32, handle: Handle, stream: Handle,
    ) {
        note_for_library(|| stream as usize)?;
        to_root(connect(handle, Connection::Ring)?, root, Share::new(send, receive, count, data_type)?, 1);
        Ok(())
    }

    fn ncclAlltoAll(send: usize, receive: usize, count: usize, data_type: i32, handle: Handle, stream: Handle) {
        note_for_library(|| stream as usize)?;
        let known = connect_to_all(handle)?;
        Share::new(send, receive, count, data_type)?.sending(known.rank).receive_in(known.count);
        Ok(())
    }

    fn ncclGather(
        send: usize, receive: usize, count: usize, data_type: i32, root: i32, handle: Handle, stream: Handle,
    ) {
        note_for_library(|| stream as usize)?;
        let known = connect_to_all(handle)?;
        to_root(known, root, Share::new(send, receive, count, data_type)?, known.count);
        Ok(())
    }

    fn ncclScatter(
        send: usize, receive: usize, count: usize, data_type: i32, root: i32, handle: Handle, stream: Handle,
    ) {
        note_for_library(|| stream as usize)?;
        let known = connect_to_all(handle)?;
        to_root(known, root, Share::new(send, receive, count, data_type)?.sending(known.rank), 1);
        Ok(())
    }

    // In place; the root is assumed to hold the same values as this rank.
    fn ncclBcast(_buffer: usize, _count: usize, _data_type: i32, _root: i32, handle: Handle, stream: Handle) {
        note_for_library(|| stream as usize)?;
        connect(handle, Connection::Ring).map(drop)
    }

    fn ncclSend(_buffer: usize, count: usize, data_type: i32, peer: i32, handle: Handle, stream: Handle) {
        note_for_library(|| stream as usize)?;
        Share::new(0, 0, count, data_type)?;
        connect(handle, Connection::Peer(peer)).map(drop)
    }

    // The peer's values are unknown; the old values are gone.
    fn ncclRecv(buffer: usize, count: usize, data_type: i32, peer: i32, handle: Handle, stream: Handle) {
        note_for_library(|| stream as usize)?;
        let share = Share::new(0, buffer, count, data_type)?;
        connect(handle, Connection::Peer(peer))?;
        crate::values::forget(share.receive, share.bytes);
        written::note(share.receive, share.bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{UniqueId, ncclCommInitRank};
    use super::*;
    use crate::boundary::Out;

    const INT64: i32 = 4;
    const NO_STREAM: Handle = std::ptr::null_mut();

    fn join(count: i32, rank: i32) -> Handle {
        let mut handle = std::ptr::null_mut();
        let status = ncclCommInitRank(Out::to(&mut handle), count, UniqueId { bytes: [0; 128] }, rank);
        assert_eq!(status, NcclResult::SUCCESS);
        handle
    }

    /// Host memory stands for device memory: copies between both are the same to `values`.
    #[test]
    fn small_values_arrive_as_if_every_rank_had_ours() {
        let handle = join(3, 1);
        let (ours, mut room) = ([10i64, 20, 30], [0i64; 3]);
        let (send, receive) = (ours.as_ptr() as usize, (&raw mut room) as usize);
        assert_eq!(ncclAllGather(send, receive, 1, INT64, handle, NO_STREAM), NcclResult::SUCCESS);
        assert_eq!(room, [10, 10, 10]);
        assert_eq!(ncclAlltoAll(send, receive, 1, INT64, handle, NO_STREAM), NcclResult::SUCCESS);
        assert_eq!(room, [20, 20, 20]);
        assert_eq!(ncclAllReduce(send, receive, 3, INT64, 0, handle, NO_STREAM), NcclResult::SUCCESS);
        assert_eq!(room, [10, 20, 30]);
        assert_eq!(ncclReduceScatter(send, receive, 1, INT64, 0, handle, NO_STREAM), NcclResult::SUCCESS);
        assert_eq!(room, [20, 20, 30]);
    }

    #[test]
    fn only_the_root_receives() {
        let handle = join(2, 1);
        for (root, expected) in [(0, 0), (1, 5)] {
            let (ours, mut room) = ([5i64], [0i64]);
            let (send, receive) = (ours.as_ptr() as usize, (&raw mut room) as usize);
            assert_eq!(ncclReduce(send, receive, 1, INT64, 0, root, handle, NO_STREAM), NcclResult::SUCCESS);
            assert_eq!(room, [expected], "root {root}");
        }
    }

    #[test]
    fn unknown_types_and_communicators_are_refused() {
        let handle = join(2, 0);
        assert_eq!(ncclAllReduce(0, 0, 1, 99, 0, handle, NO_STREAM), NcclResult::INVALID);
        assert_eq!(ncclAllReduce(0, 0, usize::MAX, INT64, 0, handle, NO_STREAM), NcclResult::INVALID);
        assert_eq!(ncclAllGather(0, 0, 1, INT64, NO_STREAM, NO_STREAM), NcclResult::INVALID);
    }
}
