//! Runs a program through an allocator.

use std::collections::HashSet;

use trace::{Bytes, EventIndex};

use super::op::{BlockSlot, Op, Program};
use super::outcome::{FailedAt, ReplayOutcome};
use crate::device::Device;
use crate::error::MallocError;
use crate::ids::{BlockId, PrivatePoolId};
use crate::machine::{Allocator, Observer, PoolOptions, Route, Thread};
use crate::rules::Rules;
use crate::settings::Settings;

/// Replays a program on an empty device. Blocks older than the history are allocated first, in the order of their
/// addresses. The replay ends at the first request that fails, unless it failed in the recording too.
pub fn replay(program: &Program, settings: &Settings, rules: Rules, device: impl Device) -> ReplayOutcome {
    let mut player = Player::new(program, Allocator::new(rules, settings.clone(), device, ()));
    let failed = player.ask_for_older().and_then(|()| player.play()).err();
    ReplayOutcome { stats: *player.allocator.stats(), failed, served: player.served }
}

/// A program in the course of a replay.
pub(super) struct Player<'a, D, O> {
    pub(super) program: &'a Program,
    pub(super) allocator: Allocator<D, O>,
    pub(super) pools: Vec<PrivatePoolId>,
    pub(super) blocks: Vec<BlockId>,
    /// Requests that failed in the recording and succeeded here.
    served: Vec<EventIndex>,
    /// Sizes of optional requests that failed.
    refused: HashSet<u64>,
}

impl<'a, D: Device, O: Observer> Player<'a, D, O> {
    pub(super) fn new(program: &'a Program, mut allocator: Allocator<D, O>) -> Player<'a, D, O> {
        // Several numbers may stand for one pool, on different streams.
        let mut pools: Vec<PrivatePoolId> = Vec::with_capacity(program.pools.len());
        for (index, pool) in program.pools.iter().enumerate() {
            let known = program.pools[..index].iter().position(|other| other == pool);
            pools.push(known.map_or_else(|| allocator.create_pool(PoolOptions::default()), |known| pools[known]));
        }
        Player {
            program,
            allocator,
            pools,
            blocks: vec![BlockId::NONE; program.slots],
            served: Vec::new(),
            refused: HashSet::new(),
        }
    }

    fn ask_for_older(&mut self) -> Result<(), FailedAt> {
        for older in &self.program.older {
            let stream = self.program.streams[usize::from(older.stream.0)];
            let pool = older.pool.map(|number| self.pools[usize::from(number.0)]);
            let got = self.allocator.malloc_in(pool, Bytes(older.requested), stream);
            let block = got.map_err(|error| FailedAt { event: None, error })?;
            self.blocks[older.slot.0 as usize] = block;
            if older.pending {
                self.allocator.free_later(block);
            }
        }
        Ok(())
    }

    fn play(&mut self) -> Result<(), FailedAt> {
        for index in 0..self.program.ops.len() {
            self.step(index).map_err(|error| FailedAt { event: Some(self.event_of(index)), error })?;
        }
        Ok(())
    }

    pub(super) fn event_of(&self, index: usize) -> EventIndex {
        self.program.events[index]
    }

    /// Executes one operation.
    #[inline]
    pub(super) fn step(&mut self, index: usize) -> Result<(), MallocError> {
        match self.program.ops[index] {
            Op::Malloc { requested, slot, stream } => {
                let stream = self.program.streams[usize::from(stream.0)];
                self.blocks[slot.0 as usize] = self.allocator.malloc_in(None, Bytes(requested), stream)?;
            }
            Op::Free(slot) => self.allocator.free(self.block(slot)),
            op => self.rare_step(index, op)?,
        }
        Ok(())
    }

    #[cold]
    fn rare_step(&mut self, index: usize, op: Op) -> Result<(), MallocError> {
        match op {
            Op::MallocPrivate { requested, slot, pool } => {
                let number = usize::from(pool.0);
                self.blocks[slot.0 as usize] = self.malloc_private(number, Bytes(requested))?;
            }
            Op::Failed { rounded, stream } => {
                let stream = self.program.streams[usize::from(stream.0)];
                if let Ok(block) = self.allocator.malloc_in(None, Bytes(rounded), stream) {
                    self.allocator.free(block);
                    self.served.push(self.event_of(index));
                }
            }
            Op::Optional { requested, stream } if !self.refused.contains(&requested) => {
                let stream = self.program.streams[usize::from(stream.0)];
                match self.allocator.malloc_in(None, Bytes(requested), stream) {
                    Ok(block) => self.allocator.free(block),
                    Err(_) => _ = self.refused.insert(requested),
                }
            }
            Op::FreeLater(slot) => self.allocator.free_later(self.block(slot)),
            Op::Complete(slot) => self.allocator.complete(self.block(slot)),
            Op::EmptyCache => self.allocator.empty_cache(),
            Op::Malloc { .. } | Op::Optional { .. } | Op::Free(_) => {}
        }
        Ok(())
    }

    /// Serves a request from a private pool in use. Pools of captures have a first number, pools of programs a second.
    fn malloc_private(&mut self, number: usize, requested: Bytes) -> Result<BlockId, MallocError> {
        let stream = self.program.streams[usize::from(self.program.pool_streams[number].0)];
        let of_capture = self.program.pools[number].first != 0;
        let route = if of_capture { Route::Capture(stream) } else { Route::Thread(Thread::default()) };
        let pool = self.pools[number];
        self.allocator.begin_allocate_to_pool(pool, route);
        let got = self.allocator.malloc_in(Some(pool), requested, stream);
        self.allocator.end_allocate_to_pool(pool);
        self.allocator.release_pool(pool);
        got
    }

    #[inline]
    fn block(&self, slot: BlockSlot) -> BlockId {
        self.blocks[slot.0 as usize]
    }
}
