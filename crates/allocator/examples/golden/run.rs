//! One recorded run, replayed.

use std::collections::HashMap;

use allocator::{Allocator, BlockId, Rules, Settings};
use trace::{Release, Stream};

use crate::device::{Model, RecordedDevice};
use crate::pools::Pools;
use crate::recorded::Recorded;
use crate::statistics::Statistics;

pub(crate) struct Run<'a> {
    pub(crate) recorded: &'a Recorded,
    pub(crate) model: Model,
    pub(crate) pools: Pools,
    pub(crate) release: Release,
    pub(crate) settings: Settings,
    pub(crate) live: HashMap<i64, BlockId>,
    /// The current stream of each thread.
    pub(crate) current: HashMap<u32, Stream>,
    pub(crate) statistics: Statistics,
}

impl<'a> Run<'a> {
    pub(crate) fn new(recorded: &'a Recorded) -> Result<Run<'a>, String> {
        let release = recorded.release()?;
        let settings = Settings::parse(&recorded.conf, release).map_err(|error| error.to_string())?;
        let device = RecordedDevice::new(recorded.device_total, recorded.device_used_at_start, recorded.is_of_driver());
        let mut model = Allocator::new(Rules::of(release), settings.clone(), device, Vec::new());
        if let Some(fraction) = recorded.fraction()? {
            model.set_memory_fraction(fraction);
        }
        Ok(Run {
            recorded,
            model,
            pools: Pools::default(),
            release,
            statistics: Statistics::new(recorded, &settings)?,
            settings,
            live: HashMap::new(),
            current: HashMap::new(),
        })
    }

    pub(crate) fn stream(&self, index: usize) -> Result<Stream, String> {
        let rank = self.recorded.stream_pointer_rank.get(index);
        rank.copied().map(Stream).ok_or_else(|| format!("no stream {index}"))
    }
}
