//! The vocabulary of oomph: the events and the memory of a device, as values.
//!
//! A [`Snapshot`] is the record of PyTorch's allocator: the segments at the dump and the history of events before it. A
//! [`Run`] is oomph's record of a program: for each process a snapshot, with the records of the agent and the phantom.
//! The readers turn bytes into these values; they take slices, never paths, and build plain data.
//!
//! # Design constraints
//! - No policy: `diagnose` decides what is good or bad.
//! - No file paths, no clock, no environment. Bytes come in, values go out.
//! - A damaged input leads to an error value with the finding and its place, or to a valid prefix, never to a panic.

pub mod bytes;
pub mod container;
pub mod content;
pub mod event;
pub mod history;
pub mod ids;
mod interner;
pub mod machine;
pub mod pickle;
pub mod recording;
pub mod release;
pub mod run;
pub mod slurm;
pub mod snapshot;
pub mod source_file;
pub mod stack;
pub mod stage;
pub mod text;

pub use bytes::Bytes;
pub use container::{ContainerError, ContentKind, Opened, sniff};
pub use event::{Action, Event, Mark, Phase, UnknownAction};
pub use history::{
    FailedRequest, Fragmentation, FreeBlocks, Gap, History, Inconsistencies, Inconsistency, Lifetime, LifetimeId,
    Moment, Peak, Peaks, SegmentState, State, Step, Steps, Totals, TotalsAt, UsedBlock,
};
pub use ids::{Address, DeviceIndex, EventIndex, PoolId, Stream, Time};
pub use recording::{BlockChange, HeldMemory, PhaseReader, Recording, RecordingError, RecordingHeader, read_recording};
pub use release::Release;
pub use run::{
    AheadReason, Category, Ended, Launch, LaunchError, PhantomRecord, Problem, ProblemKind, Process, Record, Run,
    ShortenedReason, UntrainedReason, read_launch, read_phantom_records, read_records,
};
pub use snapshot::{
    Annotation, Block, BlockState, Pool, Segment, SegmentKind, Snapshot, SnapshotError, SnapshotSettings, Stage,
    TorchVersions, WrongValue, read_snapshot,
};
pub use stack::{Frame, FrameId, StackId, StackTable};
pub use stage::LifeStage;
