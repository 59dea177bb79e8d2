//! Reads a history as a program.

use rustc_hash::FxHashMap;
use trace::{Action, Address, DeviceIndex, Event, EventIndex, History, Moment, Pool, PoolId, Snapshot, Stream};

use super::address_check;
use super::error::ProgramError;
use super::op::{BlockSlot, Older, Op, PoolNumber, Program, StreamIndex};
use super::releases::{Release, find_releases};

impl Program {
    /// The program of a device of `snapshot`, whose history is `history`.
    pub fn of(snapshot: &Snapshot, device: DeviceIndex, history: &History) -> Result<Program, ProgramError> {
        let events = snapshot.traces.get(device.0 as usize).map_or(&[][..], Vec::as_slice);
        if events.is_empty() {
            return Err(ProgramError::NoHistory(device.0));
        }
        address_check::check_events(events)?;
        let mut reader = Reader::new(snapshot, device, events.len());
        reader.start(history)?;
        let releases = find_releases(events, history.at_start().reserved, snapshot.settings.max_split_size);
        reader.read_events(events, &releases)?;
        Ok(reader.program)
    }
}

struct Reader<'a> {
    snapshot: &'a Snapshot,
    program: Program,
    vacant: Vec<BlockSlot>,
    live: FxHashMap<Address, BlockSlot>,
    pending: FxHashMap<Address, BlockSlot>,
    /// The private pools of segments in the dump, by address, for versions whose events have no pool.
    segments: Vec<(Address, u64, PoolId)>,
}

impl<'a> Reader<'a> {
    fn new(snapshot: &'a Snapshot, device: DeviceIndex, events: usize) -> Reader<'a> {
        let segments = snapshot.segments.iter().filter(|segment| segment.device == device);
        let private = segments.filter_map(|segment| {
            let pool = segment.pool.filter(|&pool| !snapshot.pool(pool).is_default())?;
            Some((segment.address, segment.total_size.0, pool))
        });
        let mut private: Vec<_> = private.collect();
        private.sort_unstable_by_key(|&(address, ..)| address);
        Reader {
            snapshot,
            program: Program { history_events: events, ..Program::default() },
            vacant: Vec::new(),
            live: FxHashMap::default(),
            pending: FxHashMap::default(),
            segments: private,
        }
    }

    /// Reads the state before the first event.
    fn start(&mut self, history: &History) -> Result<(), ProgramError> {
        let state = history.state_after(Moment::BEFORE);
        address_check::check_state(&state)?;
        for segment in &state.segments {
            for used in &segment.used {
                let Some(life) = history.lifetimes().get(used.lifetime.0 as usize) else { continue };
                let slot = self.new_slot();
                let stream = self.stream_index(segment.stream)?;
                let pool = segment.pool.map(|pool| self.private_pool(pool, stream)).transpose()?.flatten();
                let held = if used.pending { &mut self.pending } else { &mut self.live };
                held.insert(used.address, slot);
                let (address, requested, pending) = (used.address, life.requested.0.max(1), used.pending);
                self.program.older.push(Older { slot, address, requested, stream, pool, pending });
            }
        }
        self.program.start = state;
        Ok(())
    }

    fn read_events(&mut self, events: &[Event], releases: &[Release]) -> Result<(), ProgramError> {
        let mut releases = releases.iter().peekable();
        let mut index = 0;
        while let Some(event) = events.get(index) {
            let at = EventIndex(u32::try_from(index).unwrap_or(u32::MAX));
            let run = releases.next_if(|release| release.first == at);
            if let Some(run) = run.filter(|run| self.flushes(events, run)) {
                self.release(events, *run);
                index = run.end.0 as usize;
                continue;
            }
            if let Some(run) = run.filter(|run| run.is_call) {
                self.program.push(Op::EmptyCache, run.first);
            }
            index += self.read_event(at, event, events.get(index + 1))?;
        }
        Ok(())
    }

    /// Tests that no block is pending after the release, as after waiting for all streams.
    fn flushes(&self, events: &[Event], run: &Release) -> bool {
        let run = &events[run.first.0 as usize..run.end.0 as usize];
        run.iter().filter(|event| event.action == Action::FreeCompleted).count() == self.pending.len()
    }

    /// Reads a release together with the blocks that it waits for.
    fn release(&mut self, events: &[Event], run: Release) {
        for event in &events[run.first.0 as usize..run.end.0 as usize] {
            if event.action == Action::FreeCompleted {
                self.vacant.extend(self.pending.remove(&event.address));
            }
        }
        if run.is_call {
            self.program.push(Op::EmptyCache, run.first);
        }
    }

    /// Reads one event; returns the number of events consumed.
    fn read_event(&mut self, at: EventIndex, event: &Event, next: Option<&Event>) -> Result<usize, ProgramError> {
        match event.action {
            Action::Alloc => self.malloc(at, event)?,
            Action::Oom => {
                let stream = self.stream_index(event.stream)?;
                self.program.push(Op::Failed { rounded: event.size.0.max(1), stream }, at);
            }
            Action::FreeRequested => {
                let slot = self
                    .live
                    .remove(&event.address)
                    .ok_or_else(|| contradiction(at, "frees memory that is not in use"))?;
                let completes = |next: &&Event| next.action == Action::FreeCompleted && next.address == event.address;
                if next.as_ref().is_some_and(completes) {
                    self.free(slot, at);
                    return Ok(2);
                }
                self.pending.insert(event.address, slot);
                self.program.push(Op::FreeLater(slot), at);
            }
            Action::FreeCompleted => self.complete(at, event)?,
            _ => {}
        }
        Ok(1)
    }

    fn malloc(&mut self, at: EventIndex, event: &Event) -> Result<(), ProgramError> {
        let slot = self.new_slot();
        let (requested, stream) = (event.size.0, self.stream_index(event.stream)?);
        if self.live.insert(event.address, slot).is_some() {
            return Err(contradiction(at, "allocates memory that is in use"));
        }
        let pool = event.pool.or_else(|| self.pool_at(event.address));
        let pool = pool.map(|pool| self.private_pool(pool, stream)).transpose()?.flatten();
        let op = match pool {
            Some(pool) => Op::MallocPrivate { requested, slot, pool },
            None => Op::Malloc { requested, slot, stream },
        };
        self.program.push(op, at);
        Ok(())
    }

    /// Reads `free_completed`. In versions without `free_requested` the block is still live.
    fn complete(&mut self, at: EventIndex, event: &Event) -> Result<(), ProgramError> {
        if let Some(slot) = self.pending.remove(&event.address) {
            self.vacant.push(slot);
            self.program.push(Op::Complete(slot), at);
        } else if let Some(slot) = self.live.remove(&event.address) {
            self.free(slot, at);
        } else {
            return Err(contradiction(at, "frees memory that is not in use"));
        }
        Ok(())
    }

    fn free(&mut self, slot: BlockSlot, at: EventIndex) {
        self.vacant.push(slot);
        self.program.push(Op::Free(slot), at);
    }

    fn new_slot(&mut self) -> BlockSlot {
        self.vacant.pop().unwrap_or_else(|| {
            self.program.slots += 1;
            BlockSlot(u32::try_from(self.program.slots - 1).unwrap_or(u32::MAX))
        })
    }

    fn stream_index(&mut self, stream: Stream) -> Result<StreamIndex, ProgramError> {
        let streams = &mut self.program.streams;
        let index = streams.iter().position(|&other| other == stream).unwrap_or_else(|| {
            streams.push(stream);
            streams.len() - 1
        });
        let too_many = ProgramError::TooMany { what: "streams", most: usize::from(u16::MAX) };
        u16::try_from(index).map(StreamIndex).map_err(|_| too_many)
    }

    fn pool_at(&self, address: Address) -> Option<PoolId> {
        let behind = self.segments.partition_point(|&(start, ..)| start <= address);
        let &(start, size, pool) = self.segments.get(behind.checked_sub(1)?)?;
        (address.0 - start.0 < size).then_some(pool)
    }

    /// The number of a private pool and stream; `None` for the shared pool.
    fn private_pool(&mut self, id: PoolId, stream: StreamIndex) -> Result<Option<PoolNumber>, ProgramError> {
        let pool: Pool = self.snapshot.pool(id);
        if pool.is_default() {
            return Ok(None);
        }
        let known = self.program.pools.iter().zip(&self.program.pool_streams);
        let index = { known }.position(|(&other, &on)| other == pool && on == stream).unwrap_or_else(|| {
            self.program.pools.push(pool);
            self.program.pool_streams.push(stream);
            self.program.pools.len() - 1
        });
        let too_many = ProgramError::TooMany { what: "private pools", most: usize::from(u8::MAX) };
        u8::try_from(index).map(|number| Some(PoolNumber(number))).map_err(|_| too_many)
    }
}

fn contradiction(at: EventIndex, found: &'static str) -> ProgramError {
    ProgramError::Contradiction { event: at.0, found }
}
