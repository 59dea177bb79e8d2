//! The stages of a search. See Note [Search for a plan].

/// A stage of a search. The next stage begins if the last found no plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SearchStage {
    /// The program's own options, without smaller sizes.
    Own,
    /// The usual remedies.
    Usual,
    /// Slow remedies, remedies of the optimizer's state and of weights, and smaller sizes.
    Last,
}

impl SearchStage {
    pub(super) const ALL: [SearchStage; 3] = [SearchStage::Own, SearchStage::Usual, SearchStage::Last];
}

/// How far a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The unchanged program alone.
    Unchanged,
    /// No edit of the source.
    OwnOptions,
    /// All stages.
    Everything,
}
