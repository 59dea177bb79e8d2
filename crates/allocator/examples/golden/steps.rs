//! The operations of a recorded run, replayed and compared one by one.

use allocator::{BlockId, MallocError, Thread};
use serde::Deserialize as _;
use trace::{Bytes, Stream};

use crate::recorded::{Location, Operation, Segment};
use crate::run::Run;
use crate::{compare, message};

impl Run<'_> {
    /// Replays all operations; returns the first difference.
    pub(crate) fn check(mut self) -> Result<(), String> {
        let recorded = self.recorded;
        for (index, operation) in recorded.operations.iter().enumerate() {
            self.step(operation).map_err(|difference| {
                let Operation { name, id, argument, .. } = operation;
                format!("operation {index} {name} {id} {argument}: {difference}")
            })?;
        }
        compare::segments(&self, &recorded.final_segments)?;
        compare::trace(&self)
    }

    fn step(&mut self, operation: &Operation) -> Result<(), String> {
        self.note_current_stream(operation)?;
        if operation.name == "alloc" {
            self.malloc(operation)?;
        } else if operation.result.is_string() {
            return Err(format!("PyTorch failed: {}", operation.result));
        } else {
            self.apply(operation)?;
        }
        self.statistics.compare(operation, self.model.stats())
    }

    /// Sets the current stream of the thread, as the driver does for requests and captures.
    fn note_current_stream(&mut self, operation: &Operation) -> Result<(), String> {
        if matches!(operation.name.as_str(), "alloc" | "begin_capture" | "end_capture") {
            self.current.insert(operation.thread, self.stream(operation.stream)?);
        }
        self.model.set_current_stream(self.current.get(&operation.thread).copied().unwrap_or(Stream(0)));
        Ok(())
    }

    fn block(&self, id: i64) -> Result<BlockId, String> {
        self.live.get(&id).copied().ok_or_else(|| format!("{id} is not alive"))
    }

    fn apply(&mut self, operation: &Operation) -> Result<(), String> {
        let Operation { name, id, argument, stream, .. } = operation;
        match name.as_str() {
            "free" => {
                let block = self.block(*id)?;
                self.live.remove(id);
                self.model.free(block);
            }
            "record_stream" => {
                let stream = argument.as_u64().and_then(|index| usize::try_from(index).ok()).unwrap_or(0);
                self.model.record_stream(self.block(*id)?, self.stream(stream)?);
            }
            "hold_events" => self.model.hold_events(*id != 0),
            "complete_stream" => self.model.complete_events_of(self.stream(*stream)?),
            "complete_events" | "synchronize" => self.model.complete_events(),
            "empty_cache" => self.model.empty_cache(),
            "reset_peak" => self.model.stats_mut().reset_peaks(),
            "reset_accumulated" => self.model.stats_mut().reset_accumulated(),
            "set_fraction" => self.model.set_memory_fraction(argument.as_f64().ok_or("no fraction")?),
            "set_settings" => self.set_settings(argument.as_str().ok_or("no settings")?)?,
            "snapshot" => compare::segments(self, &segments(operation)?)?,
            _ => {
                let stream = self.stream(*stream)?;
                self.pools.apply(&mut self.model, operation, stream)?;
            }
        }
        Ok(())
    }

    fn set_settings(&mut self, text: &str) -> Result<(), String> {
        self.settings.apply(text, self.release).map_err(|error| error.to_string())?;
        self.model.set_settings(self.settings.clone());
        Ok(())
    }

    fn malloc(&mut self, operation: &Operation) -> Result<(), String> {
        let Operation { id, argument, stream, result, thread, .. } = operation;
        let size = Bytes(argument.as_u64().ok_or("no size")?);
        match self.model.malloc_on(Thread(*thread), size, self.stream(*stream)?) {
            Ok(block) => {
                self.live.insert(*id, block);
                let place = self.model.device().place(self.model.address(block));
                let is_same = Location::deserialize(result).is_ok_and(|expected| expected == place);
                if is_same { Ok(()) } else { Err(format!("at {place:?}, recorded {result}")) }
            }
            Err(error) => same_error(&error, result.as_str().unwrap_or_default()),
        }
    }
}

fn segments(operation: &Operation) -> Result<Vec<Segment>, String> {
    Vec::deserialize(&operation.result).map_err(|error| error.to_string())
}

/// Golden runs keep the first hundred characters of a message; for racing threads only the failure is known.
fn same_error(error: &MallocError, recorded: &str) -> Result<(), String> {
    let text = message::of(error);
    let is_same = match recorded {
        "OOM" => text.starts_with("OOM: "),
        golden if golden.starts_with("OOM: OOM ") => {
            text.starts_with("OOM: ") && text.contains("rejected") == golden.contains("rejected")
        }
        whole => whole.starts_with(&text),
    };
    if is_same { Ok(()) } else { Err(format!("{text}, recorded {recorded:?}")) }
}
