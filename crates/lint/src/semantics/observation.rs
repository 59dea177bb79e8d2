//! Mistakes that an abstract run of the program shows; `interpreter` finds them, rules report them.

use report::lint::Certainty;

use super::data::NodeId;

/// A mistake that a run has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ObservationKind {
    /// A total that each step adds to with a graph.
    Accumulated,
    /// A collection that keeps a graph of each step.
    Collected,
    /// A recurrent state with the graph of the step before.
    Carried,
    /// A forward in a loop over batches whose graph nobody uses.
    RecordedLoop,
    /// Another forward whose graph nobody uses.
    RecordedForward,
    /// A forward of a fixed module in a training step, whose graph nobody uses.
    RecordedTeacher,
    /// Outputs of all batches kept on the GPU.
    OutputsOnGpu,
    /// An optimizer takes steps and its gradients are never cleared, though those of others are.
    NeverCleared,
    /// A loop that clears gradients; no mistake.
    GradientsCleared,
    /// Gradients cleared between the forward and the backward.
    ClearedAfterForward,
    /// Gradients filled with zeros instead of freed.
    ZerosKept,
    /// A graph kept for no later backward.
    GraphRetained,
    /// A graph of gradients that nobody uses.
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
