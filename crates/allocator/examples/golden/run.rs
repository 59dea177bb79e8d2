//! One recorded run, replayed.

use std::collections::HashMap;

use allocator::{Allocator, BlockId, MallocError, PoolOptions, PrivatePoolId, Route, Rules, Settings, Thread};
use serde::Deserialize as _;
use serde_json::Value;
use trace::{Bytes, Event, Release, Stream};

use crate::device::RecordedDevice;
use crate::recorded::{Operation, Place, Recorded};
use crate::statistics::{self, Getter};
use crate::{compare, message};

pub(crate) type Model = Allocator<RecordedDevice, Vec<Event>>;

pub(crate) struct Run<'a> {
    pub(crate) recorded: &'a Recorded,
    pub(crate) model: Model,
    release: Release,
    settings: Settings,
    initial: Settings,
    live: HashMap<i64, BlockId>,
    pools: HashMap<i64, PrivatePoolId>,
    /// PyTorch's ids of the model's pools.
    pub(crate) ids: HashMap<PrivatePoolId, [u64; 2]>,
    captures: u64,
    /// The current stream of each thread.
    current: HashMap<u32, Stream>,
    getters: Vec<Option<Getter>>,
    expected: Vec<Option<i64>>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(recorded: &'a Recorded) -> Result<Run<'a>, String> {
        let release = recorded.release()?;
        let settings = Settings::parse(&recorded.conf, release).map_err(|error| error.to_string())?;
        let is_driver = recorded.stats_are.is_some();
        let device = RecordedDevice::new(recorded.device_total, recorded.device_used_at_start, is_driver);
        let mut model = Allocator::new(Rules::of(release), settings.clone(), device, Vec::new());
        if let Some(fraction) = recorded.fraction()? {
            model.set_memory_fraction(fraction);
        }
        let getter =
            |name: &String| if name == "max_split_size" { Ok(None) } else { statistics::getter(name).map(Some) };
        Ok(Run {
            recorded,
            model,
            release,
            initial: settings.clone(),
            settings,
            live: HashMap::new(),
            pools: HashMap::new(),
            ids: HashMap::new(),
            captures: 0,
            current: HashMap::new(),
            getters: recorded.stat_names.iter().map(getter).collect::<Result<_, _>>()?,
            expected: vec![Some(0); recorded.stat_names.len()],
        })
    }

    /// Replays everything; the first difference.
    pub(crate) fn check(mut self) -> Result<(), String> {
        for (index, operation) in self.recorded.operations.iter().enumerate() {
            self.apply(operation).and_then(|()| self.compare_stats(operation)).map_err(|difference| {
                format!("operation {index} {} {:?} {}: {difference}", operation.0, operation.1, operation.2)
            })?;
        }
        compare::segments(&self, &self.recorded.final_segments)?;
        compare::trace(&self)
    }

    pub(crate) fn stream(&self, index: Option<usize>) -> Stream {
        Stream(index.map_or(0, |index| self.recorded.stream_pointer_rank[index]))
    }

    fn block(&self, id: i64) -> Result<BlockId, String> {
        self.live.get(&id).copied().ok_or_else(|| format!("{id} is not alive"))
    }

    fn pool(&self, id: i64) -> Result<PrivatePoolId, String> {
        self.pools.get(&id).copied().ok_or_else(|| format!("no pool {id}"))
    }

    fn apply(&mut self, operation: &Operation) -> Result<(), String> {
        let Operation(name, id, argument, stream, result, _, thread) = operation;
        if matches!(name.as_str(), "alloc" | "begin_capture" | "end_capture") {
            self.current.insert(*thread, self.stream(*stream));
        }
        self.model.set_current_stream(self.current.get(thread).copied().unwrap_or(Stream(0)));
        let (id, thread) = (id.unwrap_or_default(), Thread(*thread));
        if name != "alloc" && result.is_string() {
            return Err(format!("PyTorch failed: {result}"));
        }
        match name.as_str() {
            "alloc" => return self.malloc(id, argument, *stream, result, thread),
            "free" => {
                let block = self.block(id)?;
                self.live.remove(&id);
                self.model.free(block);
            }
            "record_stream" => {
                let stream = argument.as_u64().and_then(|index| usize::try_from(index).ok());
                self.model.record_stream(self.block(id)?, self.stream(stream));
            }
            "hold_events" => self.model.hold_events(id != 0),
            "complete_stream" => self.model.complete_events_of(self.stream(*stream)),
            "complete_events" | "synchronize" => self.model.complete_events(),
            "empty_cache" => self.model.empty_cache(),
            "reset_peak" => self.model.stats_mut().reset_peaks(),
            "reset_accumulated" => self.model.stats_mut().reset_accumulated(),
            "set_fraction" => self.model.set_memory_fraction(argument.as_f64().ok_or("no fraction")?),
            "set_settings" => {
                let text = argument.as_str().ok_or("no settings")?;
                self.settings.apply(text, self.release).map_err(|error| error.to_string())?;
                self.model.set_settings(self.settings.clone());
            }
            "snapshot" => {
                return compare::segments(self, &Vec::deserialize(result).map_err(|error| error.to_string())?);
            }
            _ => return self.apply_to_pool(operation),
        }
        Ok(())
    }

    fn apply_to_pool(&mut self, operation: &Operation) -> Result<(), String> {
        let Operation(name, id, argument, stream, result, _, thread) = operation;
        let (id, thread) = (id.unwrap_or_default(), Thread(*thread));
        match name.as_str() {
            "create_pool" => {
                let flag = |name: &str| argument.get(name) == Some(&Value::Bool(true));
                let options = PoolOptions { custom: false, use_on_oom: flag("use_on_oom"), no_split: flag("no_split") };
                let pool = self.model.create_pool(options);
                self.pools.insert(id, pool);
                self.ids.insert(pool, <[u64; 2]>::deserialize(result).map_err(|error| error.to_string())?);
            }
            "begin_pool" => self.model.begin_allocate_to_pool(self.pool(id)?, Route::Thread(thread)),
            "end_pool" => {
                self.model.end_allocate_to_pool(self.pool(id)?);
                self.model.release_pool(self.pool(id)?);
            }
            "delete_pool" => self.model.delete_pool(self.pool(id)?),
            "begin_capture" => {
                let stream = self.stream(*stream);
                self.begin_capture(id, argument, stream)?;
            }
            "join_capture" => self.model.join_capture(self.pool(id)?, self.stream(*stream)),
            "end_capture" => {
                self.model.end_allocate_to_pool(self.pool(id)?);
                let expected = <[u64; 2]>::deserialize(result).map_err(|error| error.to_string())?;
                if self.ids.get(&self.pool(id)?) != Some(&expected) {
                    return Err(format!("pool {:?}, recorded {expected:?}", self.ids.get(&self.pool(id)?)));
                }
            }
            "destroy_graph" => self.model.release_pool(self.pool(id)?),
            _ => return Err(format!("unknown operation {name}")),
        }
        Ok(())
    }

    fn begin_capture(&mut self, id: i64, shared: &Value, stream: Stream) -> Result<(), String> {
        let pool = match shared.get(1).and_then(Value::as_i64) {
            Some(other) => self.pool(other)?,
            None => {
                let pool = self.model.create_pool(PoolOptions::default());
                self.captures += 1;
                self.ids.insert(pool, [self.captures, 0]);
                pool
            }
        };
        self.pools.insert(id, pool);
        self.model.begin_allocate_to_pool(pool, Route::Capture(stream));
        if shared.is_null() {
            self.model.release_pool(pool);
        }
        Ok(())
    }

    fn malloc(
        &mut self,
        id: i64,
        size: &Value,
        stream: Option<usize>,
        result: &Value,
        thread: Thread,
    ) -> Result<(), String> {
        let size = Bytes(size.as_u64().ok_or("no size")?);
        let got = self.model.malloc_on(thread, size, self.stream(stream));
        if let Ok(block) = got {
            self.live.insert(id, block);
        }
        match got {
            Ok(block) => {
                let place = self.model.device().place(self.model.address(block));
                let is_same = Place::deserialize(result).is_ok_and(|expected| expected == place);
                if is_same { Ok(()) } else { Err(format!("at {place:?}, recorded {result}")) }
            }
            Err(error) => {
                let text = self.error_text(&error);
                let is_same = result.as_str().is_some_and(|recorded| is_same_error(&text, recorded));
                if is_same { Ok(()) } else { Err(format!("{text}, recorded {result}")) }
            }
        }
    }

    fn error_text(&self, error: &MallocError) -> String {
        match error {
            MallocError::OutOfMemory(oom) => format!("OOM: {}", message::text(oom)),
            MallocError::Rejected { requested } => format!(
                "OOM: CUDA out of memory. Allocation was preemptively rejected because it would exceed \
                 per_process_memory_fraction limit. Requested size: {}",
                message::size(*requested)
            ),
            MallocError::TooLarge { .. } => {
                "OOM: CUDA out of memory. Tried to allocate more than 1EB memory.".to_owned()
            }
            MallocError::LendingPoolInUse => format!("RuntimeError: {error}"),
            other => other.to_string(),
        }
    }

    fn compare_stats(&mut self, operation: &Operation) -> Result<(), String> {
        let Some(stats) = &operation.5 else { return Ok(()) };
        if self.recorded.stats_are.as_deref() == Some("changes") {
            for change in stats.chunks(2) {
                let [Some(index), value] = *change else { return Err(format!("no change: {change:?}")) };
                let index = usize::try_from(index).map_err(|error| error.to_string())?;
                *self.expected.get_mut(index).ok_or("no such statistic")? = value;
            }
        } else {
            self.expected.clone_from(stats);
        }
        let named = self.recorded.stat_names.iter().zip(&self.getters).zip(&self.expected);
        let mut differences = Vec::new();
        for ((name, getter), expected) in named {
            let got = match getter {
                Some(getter) => i64::try_from(getter(self.model.stats())).map_err(|error| error.to_string())?,
                None => self.initial.max_split_size.map_or(-1, |size| size.0 as i64),
            };
            if expected.is_some_and(|expected| expected != got) {
                differences.push(format!("{name} {got}, recorded {}", expected.unwrap_or_default()));
            }
        }
        if differences.is_empty() { Ok(()) } else { Err(differences.join("; ")) }
    }
}

/// The golden runs kept the first hundred characters, and of threads that race only the failure is known.
fn is_same_error(text: &str, recorded: &str) -> bool {
    if recorded == "OOM" {
        return text.starts_with("OOM: ");
    }
    match recorded.strip_prefix("OOM: OOM CUDA") {
        Some(_) => text.starts_with("OOM: ") && text.contains("rejected") == recorded.contains("reject"),
        None => recorded.starts_with(text),
    }
}
