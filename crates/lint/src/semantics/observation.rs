//! Mistakes shown by an abstract run of the program: found by `interpreter`, reported by rules.

use report::lint::Certainty;

use super::data::NodeId;

/// The kind of a shown mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ObservationKind {
    /// A total with an addend of each step, graphs included.
    Accumulated,
    /// A collection that keeps a graph of each step.
    Collected,
    /// A recurrent state with the graph of the step before.
    Carried,
    /// A forward in a loop over batches, for a graph without a use.
    RecordedLoop,
    /// Another forward for a graph without a use.
    RecordedForward,
    /// A forward of a fixed module in a training step, for a graph without a use.
    RecordedTeacher,
    /// Outputs of all batches kept on the GPU.
    OutputsOnGpu,
    /// An optimizer with steps and gradients never cleared, beside others with cleared ones.
    NeverCleared,
    /// A loop with cleared gradients; no mistake.
    GradientsCleared,
    /// Gradients cleared between the forward and the backward.
    ClearedAfterForward,
    /// Gradients filled with zeros instead of freed.
    ZerosKept,
    /// A graph kept for no later backward.
    GraphRetained,
    /// A graph of gradients without a use.
    GraphCreated,
    /// Gradients of several batches added up without a division.
    NotDivided,
    /// Batches whose loss has no backward.
    BackwardSkipped,
}

/// A mistake and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Observation {
    pub(crate) kind: ObservationKind,
    pub(crate) at: NodeId,
    /// True if a training step frees the saved tensors, so that only the nodes of the graph stay.
    pub(crate) in_training: bool,
    pub(crate) certainty: Certainty,
    /// True if the node puts one tensor with a graph into a collection: its argument can be detached.
    pub(crate) is_tensor: bool,
}
