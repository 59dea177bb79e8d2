//! Events of the allocator's history, with the marks of the agent.

use serde::{Deserialize, Serialize};

use crate::bytes::Bytes;
use crate::ids::{Address, PoolId, Stream, Time};
use crate::stack::StackId;
use crate::stage::LifeStage;

/// The action of an event in PyTorch's memory history, by PyTorch's name (`torch/csrc/cuda/memory_snapshot.cpp`, 2.11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// A block was allocated. The size is the *requested* size.
    Alloc,
    /// The program freed a block. The block no longer counts as allocated, but still as active.
    FreeRequested,
    /// The block returned to its pool.
    FreeCompleted,
    /// `cudaMalloc` of a segment.
    SegmentAlloc,
    /// `cudaFree` of a segment.
    SegmentFree,
    /// Pages of an expandable segment were mapped. The address is the start of the new range.
    SegmentMap,
    /// Pages of an expandable segment were unmapped.
    SegmentUnmap,
    /// `torch.cuda.memory._snapshot` was called.
    Snapshot,
    /// An out-of-memory error was about to be raised. The address is the free device memory in bytes.
    Oom,
    /// A text attached by the program (torch 2.14 and later).
    Annotate,
    /// An action of no known version. The event keeps its position in the history, and changes no total.
    Unknown(UnknownAction),
}

/// An unknown action, as an index into [`crate::Snapshot::unknown_actions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnknownAction(pub u8);

impl Action {
    /// The action of a name; `None` for names that no known version writes.
    pub fn from_name(name: &str) -> Option<Action> {
        Some(match name {
            "alloc" => Action::Alloc,
            "free_requested" => Action::FreeRequested,
            "free_completed" | "free" => Action::FreeCompleted,
            "segment_alloc" => Action::SegmentAlloc,
            "segment_free" => Action::SegmentFree,
            "segment_map" => Action::SegmentMap,
            "segment_unmap" => Action::SegmentUnmap,
            "snapshot" => Action::Snapshot,
            "oom" => Action::Oom,
            "annotate" => Action::Annotate,
            _ => return None,
        })
    }
}

/// One event of a device's memory history. A history has millions; a test holds the size at 48 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The action.
    pub action: Action,
    /// The address; for [`Action::Oom`] the free device memory in bytes.
    pub address: Address,
    /// The size; see the action.
    pub size: Bytes,
    /// The stream.
    pub stream: Stream,
    /// The Python stack, if recorded.
    pub stack: StackId,
    /// Index into [`crate::Snapshot::marks`] of the mark in force; `None` for a program without the agent.
    pub mark: Option<u32>,
    /// The time, in versions with times (torch 2.2 and later).
    pub time: Option<Time>,
    /// The pool, in versions with pools (torch 2.12 and later).
    pub pool: Option<PoolId>,
}

impl Event {
    /// An event on the default stream without stack, mark, time and pool.
    pub fn new(action: Action, address: Address, size: Bytes) -> Event {
        let (stream, stack) = (Stream::default(), StackId::EMPTY);
        Event { action, address, size, stream, stack, mark: None, time: None, pool: None }
    }
}

/// A part of a training step, as seen by the agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Before the first forward: building and moving the model.
    #[default]
    Setup,
    /// From the end of an optimizer step to the next forward: loading, `zero_grad`.
    Data,
    /// From the start of the outermost module's forward to the start of backward.
    Forward,
    /// While autograd runs.
    Backward,
    /// Inside `optimizer.step`.
    Optimizer,
    /// Anything else, such as gradient clipping between backward and step.
    Other,
}

impl Phase {
    /// The phase of a name in the agent's text.
    pub fn from_name(name: &str) -> Option<Phase> {
        Some(match name {
            "setup" => Phase::Setup,
            "data" => Phase::Data,
            "forward" => Phase::Forward,
            "backward" => Phase::Backward,
            "optimizer" => Phase::Optimizer,
            "other" => Phase::Other,
            _ => return None,
        })
    }

    /// The name in reports; the inverse of [`Phase::from_name`].
    pub fn name(self) -> &'static str {
        match self {
            Phase::Setup => "setup",
            Phase::Data => "data",
            Phase::Forward => "forward",
            Phase::Backward => "backward",
            Phase::Optimizer => "optimizer",
            Phase::Other => "other",
        }
    }
}

/// The position of the program, which the agent attaches to every event with `torch.cuda.memory._set_memory_metadata`.
///
/// The text is `oomph step=1 phase=forward census=2 stage=steps skipped=0 module=transformer.h.0`; the module comes last
/// because its name is free.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mark {
    /// The current optimizer step, counted from 1.
    pub step: u32,
    /// The phase of the step.
    pub phase: Phase,
    /// The number of censuses so far: census `k` lies before the first event whose count is at least `k`.
    pub census: u32,
    /// The stage of the program's life, if the agent names a known one.
    pub stage: Option<LifeStage>,
    /// The number of optimizer steps that shortened loops have left out so far, if the agent counts them.
    pub skipped: Option<u32>,
    /// The qualified name of the running module (`transformer.h.0.attn`); empty outside of modules.
    pub module: String,
}

impl Mark {
    /// Parses the agent's text; `None` for metadata of other programs.
    pub fn parse(text: &str) -> Option<Mark> {
        let fields = text.strip_prefix("oomph ")?;
        let (fields, module) = fields.split_once(" module=")?;
        let mut mark = Mark { module: module.to_owned(), ..Mark::default() };
        for field in fields.split(' ') {
            match field.split_once('=')? {
                ("step", n) => mark.step = n.parse().ok()?,
                ("phase", name) => mark.phase = Phase::from_name(name)?,
                ("census", n) => mark.census = n.parse().ok()?,
                ("skipped", n) => mark.skipped = Some(n.parse().ok()?),
                ("stage", name) => mark.stage = LifeStage::from_name(name),
                _ => {} // A later agent may say more.
            }
        }
        Some(mark)
    }

    /// The stage of the program's life: the agent's, else that of step and phase.
    pub fn find_stage(&self) -> LifeStage {
        let is_load = self.step <= 1 && self.phase == Phase::Setup;
        self.stage.unwrap_or(if is_load { LifeStage::Load } else { LifeStage::Steps })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_takes_48_bytes() {
        assert_eq!(size_of::<Event>(), 48);
    }

    #[test]
    fn the_agents_text_is_read_and_anybody_elses_is_not() {
        let module = "h.0 odd name".to_owned();
        let mark = Mark { step: 2, phase: Phase::Backward, census: 7, module, ..Mark::default() };
        let evaluation = Mark { stage: Some(LifeStage::Evaluation), skipped: Some(497), ..mark.clone() };
        let cases = [
            ("oomph step=2 phase=backward census=7 module=h.0 odd name", Some(mark.clone())),
            ("oomph step=2 phase=backward census=7 stage=evaluation skipped=497 module=h.0 odd name", Some(evaluation)),
            ("oomph step=2 phase=backward census=7 stage=lunch module=h.0 odd name", Some(mark)),
            ("oomph step=1 phase=setup census=0 module=", Some(Mark { step: 1, ..Mark::default() })),
            ("my experiment", None),
            ("oomph step=x phase=setup census=0 module=", None),
            ("oomph step=1 phase=lunch census=0 module=", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(Mark::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn a_mark_without_a_stage_is_of_the_load_or_of_the_steps() {
        let cases = [
            ("step=1 phase=setup", LifeStage::Load),
            ("step=1 phase=forward", LifeStage::Steps),
            ("step=4 phase=setup", LifeStage::Steps),
            ("step=9 phase=data stage=end", LifeStage::End),
        ];
        for (fields, expected) in cases {
            let mark = Mark::parse(&format!("oomph {fields} census=0 module="));
            assert_eq!(mark.map(|mark| mark.find_stage()), Some(expected), "{fields}");
        }
    }
}
