//! A dry run of a variant, as far as the search needs it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use options::OwnOption;
use remedies::{BATCH_SIZE, OWN_OPTIONS};
use report::fit::{Batch, Placed};
use report::{Part, Usage};
use serde::{Deserialize, Serialize};
use trace::run::{BatchRecord, GpuWork, RemedyRecord};
use trace::{Bytes, Run};

use super::recording::{ReplayableRun, convolution_workspaces};
use crate::judge::ending::{Raised, first_error};
use crate::judge::made_up::list_made_up;
use crate::judge::missing_files::list_missing;
use crate::judge::outcome::Outcome;
use crate::measure::breakdown::breakdown;
use crate::measure::life::Life;
use crate::measure::usage::{find_peak, fullest, fullest_device};
use crate::measure::view::View;

/// The result of a dry run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of the run")]
pub struct Trial {
    /// The end of the run.
    pub ending: Ending,
    /// The most memory in use.
    pub usage: Usage,
    /// The largest workspace that PyTorch can do without.
    pub optional_bytes: Bytes,
    /// True if PyTorch released its cache to serve a request.
    pub retries: bool,
    /// The lines at which remedies took effect.
    pub applied: Vec<Placed>,
    /// Set if a remedy that is exact in general changes results in this program.
    pub alters: bool,
    /// The lines at which remedies could not take effect, with the reasons.
    pub rejected: Vec<Placed>,
    /// The batch size, where it was found.
    pub batch: Option<Batch>,
    /// PyTorch's version.
    pub torch: Option<String>,
    /// The seconds that the run took.
    #[serde(default)]
    pub seconds: f64,
    /// The work of operators in a step, if counted.
    pub work: Option<GpuWork>,
    /// The backward passes of a step.
    #[serde(default)]
    pub step_backwards: f64,
    /// The length of sequences and the side of images, where they were found.
    #[serde(default)]
    pub sizes: Vec<(String, Batch)>,
    /// The allocator's settings that a replay recommends, if requested.
    pub settings: Option<String>,
    /// Why no replay could be made for them.
    pub unreplayed: Option<String>,
    /// The contents at the peak, if recorded.
    pub holds: Vec<Part>,
    /// The bytes at the peak by the program's line, if recorded.
    #[serde(default)]
    pub line_bytes: Vec<LineBytes>,
    /// True if side streams used blocks, which were freed at once: the figures are lower bounds.
    #[serde(default)]
    pub side_streams: bool,
    /// The data sets that were made up.
    #[serde(default)]
    pub made_up_data: Vec<String>,
    /// Sentences on weights, tokenizers and data that are not on this machine.
    #[serde(default)]
    pub missing: Vec<String>,
    /// The settings that the program offers of its own; empty but for the unchanged program.
    #[serde(default)]
    pub own: Vec<OwnOption>,
    /// True if a layer of batch normalisation was trained, as far as it was looked for: parts of a batch have statistics of their own.
    #[serde(default)]
    pub has_batch_norm: bool,
    /// The program's own sources and configuration files; empty but for the unchanged program.
    #[serde(default)]
    pub sources: Vec<PathBuf>,
    /// The requests to the allocator, if recorded. Too large for the cache.
    #[serde(skip)]
    pub recording: Option<ReplayableRun>,
}

/// The bytes of one line of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineBytes {
    /// The source file.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The live blocks, as the allocator counts.
    pub bytes: Bytes,
}

/// The end of a dry run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// With the steps that were asked for, or by itself.
    #[default]
    Done,
    /// Out of memory.
    RanOut,
    /// With an error.
    Failed {
        /// The error's type and text.
        message: String,
    },
}

impl Trial {
    /// Device memory outside PyTorch's allocator.
    pub(super) fn outside(&self) -> Bytes {
        self.usage.device_bytes - self.usage.reserved_bytes
    }

    /// The necessary live bytes at the peak, and memory beyond any allocator: no smaller device will do.
    pub(super) fn least(&self) -> Bytes {
        self.usage.allocated_bytes - self.optional_bytes + self.outside()
    }

    /// Why no batch size was found in the program, where it was looked for in vain.
    pub fn why_no_batch(&self) -> Option<&str> {
        let said = self.rejected.iter().find(|placed| placed.remedy == BATCH_SIZE)?;
        self.batch.is_none().then_some(said.text.as_str())
    }

    /// True if the run ended without an error.
    pub(super) fn is_done(&self) -> bool {
        self.ending == Ending::Done
    }
}

/// Reads the records of a dry run on devices with a context of `context` bytes. `failure` is the launcher's knowledge
/// of a program that ended without a message.
pub fn trial(run: &Run, context: Bytes, failure: Option<String>) -> Trial {
    let remedies = || run.processes.iter().flat_map(|process| &process.remedies);
    let placed = |wanted: bool| remedies().filter(|remedy| remedy.applied == wanted).map(placed).collect();
    Trial {
        ending: ending(run, failure),
        usage: find_peak(run, context),
        optional_bytes: run
            .processes
            .iter()
            .flat_map(|process| convolution_workspaces(&process.ledger))
            .map(|(_, bytes)| bytes)
            .max()
            .unwrap_or_default(),
        retries: has_retried(run, context),
        applied: placed(true),
        alters: remedies().any(|remedy| remedy.alters && remedy.remedy != OWN_OPTIONS),
        has_batch_norm: remedies().any(|remedy| remedy.alters && remedy.remedy == OWN_OPTIONS),
        rejected: placed(false),
        batch: run.processes.iter().flat_map(|process| &process.batches).find_map(batch),
        torch: run.torch().map(str::to_owned),
        seconds: 0.0,
        work: work(run),
        step_backwards: step_backwards(run),
        sizes: run.processes.iter().flat_map(|process| &process.batches).filter_map(other_size).collect(),
        settings: None,
        unreplayed: None,
        holds: holds(run, context),
        line_bytes: list_line_bytes(run, context),
        side_streams: run.has_side_streams(),
        made_up_data: list_made_up(run),
        missing: list_missing(run),
        own: Vec::new(),
        sources: Vec::new(),
        recording: ReplayableRun::of(run, context),
    }
}

/// The contents of the fullest device at its peak; empty without a history.
fn holds(run: &Run, context: Bytes) -> Vec<Part> {
    let fullest = fullest(run, context).filter(|(process, ..)| process.snapshot.is_some());
    let parts =
        fullest.and_then(|(process, device, usage)| breakdown(&View::new(process, device), usage.allocated_bytes).ok());
    parts.map(|breakdown| breakdown.parts().to_vec()).unwrap_or_default()
}

/// The bytes of the program's lines on the fullest device at its peak; empty without a history.
fn list_line_bytes(run: &Run, context: Bytes) -> Vec<LineBytes> {
    let fullest = fullest(run, context).filter(|(process, ..)| process.snapshot.is_some());
    let Some((process, device, _)) = fullest else { return Vec::new() };
    let view = View::new(process, device);
    let Some(peak) = view.trace.history.peaks().allocated else { return Vec::new() };
    let mut by_line: BTreeMap<(String, u32), Bytes> = BTreeMap::new();
    for (life, _) in view.live_after(peak.at) {
        if let Some(at) = view.own_line(life.stack) {
            *by_line.entry((at.file, at.line)).or_default() += life.block();
        }
    }
    by_line.into_iter().map(|((file, line), bytes)| LineBytes { file, line, bytes }).collect()
}

fn ending(run: &Run, failure: Option<String>) -> Ending {
    if Outcome::of(run).ran_out() {
        return Ending::RanOut;
    }
    let error = first_error(run).map(|Raised { type_name, message, at }| {
        let place = at.map_or_else(String::new, |(file, line)| format!(" ({file}:{line})"));
        format!("{type_name}: {message}{place}")
    });
    error.or(failure).map_or(Ending::Done, |message| Ending::Failed { message })
}

fn has_retried(run: &Run, context: Bytes) -> bool {
    run.processes.iter().any(|process| {
        let device = fullest_device(process, context).map(|(device, _)| device);
        device.is_some_and(|device| process.stats_of(device).any(|stats| stats.alloc_retries > 0))
    })
}

fn placed(record: &RemedyRecord) -> Placed {
    let RemedyRecord { remedy, file, line, action, text, .. } = record.clone();
    Placed { remedy, file, line, action, text }
}

/// The work of the last step; `None` for a single step, which also includes preparation.
fn work(run: &Run) -> Option<GpuWork> {
    let steps = run.processes.iter().flat_map(|process| &process.steps);
    let sums: Vec<&GpuWork> = steps.filter_map(|step| step.work.as_ref()).collect();
    match sums.as_slice() {
        [.., before, last] => Some(difference(last, before)),
        _ => None,
    }
}

/// The backward passes of a step, over all steps of the process with the most.
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn step_backwards(run: &Run) -> f64 {
    let last = run.processes.iter().filter_map(|process| process.steps.last()).max_by_key(|step| step.step);
    last.map_or(0.0, |last| last.backwards as f64 / f64::from(last.step.max(1)))
}

fn difference(last: &GpuWork, before: &GpuWork) -> GpuWork {
    let flops = last.flops.iter().map(|(dtype, flops)| {
        let earlier = before.flops.get(dtype).copied().unwrap_or_default();
        (dtype.clone(), flops.saturating_sub(earlier))
    });
    GpuWork {
        flops: flops.collect(),
        bytes: last.bytes.saturating_sub(before.bytes),
        host_bytes: last.host_bytes.saturating_sub(before.host_bytes),
        operators: last.operators.saturating_sub(before.operators),
    }
}

fn batch(record: &BatchRecord) -> Option<Batch> {
    (record.remedy == BATCH_SIZE).then(|| size_of(record))
}

/// A size that is not the batch's, with its remedy.
fn other_size(record: &BatchRecord) -> Option<(String, Batch)> {
    (record.remedy != BATCH_SIZE).then(|| (record.remedy.clone(), size_of(record)))
}

fn size_of(record: &BatchRecord) -> Batch {
    let BatchRecord { name, size, source, file, line, .. } = record.clone();
    Batch { name, size, source, file, line }
}

#[cfg(test)]
mod tests {
    use trace::Process;
    use trace::run::{EndRecord, OomRecord, StepRecord};

    use super::*;
    use crate::testing::oom;

    #[test]
    fn a_run_that_caught_an_error_ran_out() {
        let check = |ooms: Vec<OomRecord>, expected: Ending| {
            let steps = vec![StepRecord { step: 1, ..StepRecord::default() }];
            let process = Process { steps, ooms, end: Some(EndRecord::default()), ..Process::default() };
            let run = Run { processes: vec![process] };
            assert_eq!(ending(&run, None), expected, "{run:?}");
        };
        check(vec![], Ending::Done);
        check(vec![oom(Some(7), None)], Ending::RanOut);
        check(vec![oom(Some(7), Some("batch_size"))], Ending::Done);
    }
}
