//! The agent's records: the lines of `*.marks.jsonl`.

use serde::{Deserialize, Serialize};

use super::action::RemedyAction;
use super::census::{Category, CensusTime};
use super::stats::{DeviceStats, GpuWork};
use crate::event::Phase;

/// A line of `*.marks.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    /// The process; the first line.
    Process {
        /// The process id; joins the phantom's file.
        pid: u32,
        /// `RANK`, or 0.
        rank: u32,
        /// `LOCAL_RANK`, or 0.
        local_rank: u32,
        /// `WORLD_SIZE`, or 1.
        world_size: u32,
        /// `sys.argv`.
        argv: Vec<String>,
        /// The script's folder. Frames below it belong to the user's code.
        script_dir: String,
        /// The interpreter, e.g. `3.11.7`.
        python: String,
        /// `sys.executable`, the path of the interpreter.
        executable: String,
        /// PyTorch, e.g. `2.11.0+cu130`.
        torch: String,
        /// The CUDA version PyTorch was built for.
        cuda: Option<String>,
        /// The cuDNN version, as cuDNN numbers it.
        cudnn: Option<u64>,
        /// The time at which the process began, by a clock that all processes of one machine share; 0 if unknown.
        #[serde(default)]
        started_ns: u64,
        /// The pids of the processes above, the parent first.
        #[serde(default)]
        ancestors: Vec<u32>,
        /// The time of this record, by the same clock: the process begins to use CUDA.
        #[serde(default)]
        monotonic_ns: u64,
    },
    /// The categories of allocations at one instant, whose position in the trace [`crate::Mark::census`] gives.
    Census {
        /// Counted from 1.
        number: u32,
        /// The current optimizer step, counted from 1.
        step: u32,
        /// The occasion of the census.
        when: CensusTime,
        /// Category, device, storage address, storage bytes.
        tensors: Vec<(Category, u32, u64, u64)>,
    },
    /// An optimizer step ended.
    Step {
        /// Counted from 1.
        step: u32,
        /// `memory_stats` of each device after the step.
        devices: Vec<DeviceStats>,
        /// The work of all operators since the program's start, if counted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        work: Option<GpuWork>,
        /// The time by a clock that all processes of one machine share; 0 in runs that were saved before it was recorded.
        #[serde(default)]
        monotonic_ns: u64,
    },
    /// The allocator is about to raise out of memory.
    Oom {
        /// The device.
        device: u32,
        /// The size to reserve, as in PyTorch's message.
        requested_bytes: u64,
        /// The total memory of the device.
        total_bytes: u64,
        /// The free memory of the device.
        free_bytes: u64,
        /// The current optimizer step.
        step: u32,
        /// The phase; `None` for a phase that this version does not know.
        #[serde(with = "phase_name")]
        phase: Option<Phase>,
        /// The running module.
        module: String,
        /// `memory_stats` of the device.
        stats: DeviceStats,
        /// The Python stack, innermost first, as `(function, file, line)`; the script's own frames included.
        frames: Vec<(String, String, u32)>,
        /// The file and line of the handler that will catch the error, by the program's source (Note `[Handlers]` in
        /// `python/oomph/agent/handlers.py`); `None` if nothing there catches it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        caught_at: Option<(String, u32)>,
        /// The whole number that the handler makes smaller, such as `batch_size`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lowers: Option<String>,
        /// The time by a clock that all processes of one machine share; 0 in runs that were saved before it was recorded.
        #[serde(default)]
        monotonic_ns: u64,
    },
    /// A shape depends on values that only a GPU would have computed.
    ValueShape {
        /// The operator, e.g. `aten::nonzero`.
        op: String,
        /// The script's line.
        file: String,
        /// The script's line.
        line: u32,
        /// The number of times.
        count: u64,
        /// The assumed share of selected elements.
        fraction: f64,
    },
    /// The program read values that only a GPU would have computed (`.item()`, `.tolist()`, `.cpu()`), and got zeros.
    ValueRead {
        /// The script's file.
        file: String,
        /// The script's line.
        line: u32,
        /// The number of times.
        count: u64,
        /// The bytes of all reads.
        #[serde(default)]
        bytes: u64,
    },
    /// PyTorch was built without kernels for the GPU: on the GPU itself the first kernel fails.
    KernelsMissing {
        /// The GPU's compute capability, e.g. `6.1`.
        capability: String,
        /// `torch.cuda.get_arch_list()`, separated by blanks.
        built_for: String,
    },
    /// Parameters on GPUs that an optimizer holds and that no step trained; only where a step was made.
    Untrained {
        /// Why.
        reason: UntrainedReason,
        /// Class of the optimizer.
        optimizer: String,
        /// File in which it was constructed; empty if no line of Python did.
        file: String,
        /// Line of the construction.
        line: u32,
        /// Number of these parameters.
        count: u64,
        /// Their size.
        bytes: u64,
    },
    /// PyTorch records no history of the allocator in use, so there is no snapshot.
    Unrecorded {
        /// PyTorch's message.
        reason: String,
    },
    /// Random initialisation of large host tensors that was skipped.
    InitializersSkipped {
        /// The number of calls.
        count: u64,
        /// The bytes of the tensors.
        bytes: u64,
    },
    /// An assumption of the agent, like [`PhantomRecord::Assumption`](super::PhantomRecord::Assumption).
    Assumption {
        /// A stable name, e.g. `absent-ranks`.
        id: String,
        /// The assumption in one sentence.
        text: String,
    },
    /// A requested remedy (Note `[Remedies]` in `python/oomph/agent/remedies`) reached a site to which it applies.
    Remedy {
        /// The remedy.
        remedy: String,
        /// Set if the remedy took effect.
        applied: bool,
        /// The edit as data; `None` if the remedy made none.
        #[serde(default)]
        action: Option<RemedyAction>,
        /// The edit in words, or the reason why there is none: for people.
        text: String,
        /// The script's file; empty for an edit without a line.
        file: String,
        /// The script's line, or 0.
        line: u32,
        /// Set if results of this program change by more than rounding, although the remedy in general changes none.
        #[serde(default)]
        alters: bool,
    },
    /// The original batch size, sequence length or resolution of the program; recorded at the end for each remedy that
    /// changes it.
    Batch {
        /// The remedy: `batch-size`, `sequence-length` or `resolution`.
        remedy: String,
        /// The origin of the size: `option`, `training-arguments`, `tokenizer`, `transform`, `loader` or `constant`.
        source: String,
        /// The name, e.g. `--batch-size`; the setting `arg` selects it.
        name: String,
        /// The program's size.
        size: u64,
        /// The changed size.
        scaled: Option<u64>,
        /// The script's file; empty for an edit without a line.
        file: String,
        /// The script's line, or 0.
        line: u32,
    },
    /// Weights of checkpoint files that were not read.
    CheckpointUnread {
        /// The number of tensors.
        count: u64,
        /// The bytes of the files.
        bytes: u64,
    },
    /// A checkpoint older than the run that the program tried to overwrite, rename or remove; the file is unchanged.
    SaveSpared {
        /// The path.
        file: String,
    },
    /// A checkpoint made by the run, with zeros in place of values that only a GPU would have computed.
    SaveMade {
        /// The path.
        file: String,
    },
    /// An exception ended the program.
    Error {
        /// The qualified type, e.g. `torch.OutOfMemoryError`.
        #[serde(rename = "type")]
        type_name: String,
        /// The message.
        message: String,
        /// Set for an out-of-memory error of a device.
        oom: bool,
        /// The innermost line of the user's own code.
        file: Option<String>,
        /// The innermost line of the user's own code.
        line: Option<u32>,
        /// The traceback, as Python prints it.
        traceback: String,
        /// The time by a clock that all processes of one machine share: of several ranks' errors, the first is the cause.
        monotonic_ns: u64,
    },
    /// The end of the process; the last line.
    End {
        /// The reason.
        reason: EndReason,
        /// The number of optimizer steps done.
        steps: u32,
        /// `memory_stats` of each device at the end, with peaks.
        devices: Vec<DeviceStats>,
        /// The snapshot's file name; `None` if CUDA was never used.
        snapshot: Option<String>,
        /// The time by a clock that all processes of one machine share; 0 in runs that were saved before it was recorded.
        #[serde(default)]
        monotonic_ns: u64,
    },
}

/// Why no step trained a parameter that an optimizer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UntrainedReason {
    /// The optimizer made no step.
    NoStep,
    /// The parameter wants no gradient.
    Frozen,
}

/// The reason for which a process ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The requested number of optimizer steps was done.
    Steps,
    /// The program ended by itself.
    Exit,
    /// An exception ended the program.
    Exception,
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminated,
    /// A reason of another version of the agent, by its name.
    #[serde(untagged)]
    Other(String),
}

/// A phase by its name. Names that this version does not know are read as `None`, which is written as an empty name.
mod phase_name {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::event::Phase;

    #[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference to the field")]
    pub(super) fn serialize<S: Serializer>(phase: &Option<Phase>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(phase.map_or("", Phase::name))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Phase>, D::Error> {
        Ok(Phase::from_name(&String::deserialize(deserializer)?))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn words_of_another_version_leave_a_record_readable() {
        let oom = |phase: &str| {
            format!(
                r#"{{"kind":"oom","device":0,"requested_bytes":1,"total_bytes":2,"free_bytes":0,"step":1,"phase":"{phase}",
                "module":"","stats":{{"device":0,"allocated_bytes":0,"allocated_peak_bytes":0,"reserved_bytes":0,
                "reserved_peak_bytes":0,"alloc_retries":0,"ooms":0}},"frames":[]}}"#
            )
        };
        let phase = |text: &str| match serde_json::from_str(text).unwrap() {
            Record::Oom { phase, .. } => phase,
            other => panic!("{other:?}"),
        };
        assert_eq!(phase(&oom("backward")), Some(Phase::Backward));
        assert_eq!(phase(&oom("validation")), None);
        let reason = |text: &str| serde_json::from_str::<EndReason>(text).unwrap();
        assert_eq!(reason("\"exit\""), EndReason::Exit);
        assert_eq!(reason("\"evicted\""), EndReason::Other("evicted".to_owned()));
        for text in ["\"terminated\"", "\"evicted\""] {
            assert_eq!(serde_json::to_string(&reason(text)).unwrap(), text);
        }
        let time = |text: &str| serde_json::from_str::<CensusTime>(text).unwrap();
        assert_eq!(time("\"oom\""), CensusTime::Oom);
        assert_eq!(time("\"backward\""), CensusTime::Other("backward".to_owned()));
    }
}
