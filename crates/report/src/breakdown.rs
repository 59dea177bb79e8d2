//! Parts that add up to their total, or do not exist.

use serde::{Deserialize, Serialize};
use trace::Bytes;

/// The category of an allocation's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Contents {
    /// Parameters of modules.
    Parameters,
    /// The `.grad` of parameters.
    Gradients,
    /// Tensors in an optimizer's state.
    OptimizerState,
    /// Buffers of modules.
    Buffers,
    /// Tensors that forward makes and that backward, or code after forward, still needs.
    Activations,
    /// Blocks that a phase allocates and frees before its end.
    Temporaries,
    /// Blocks allocated while data is loaded, between the optimizer step and forward.
    Inputs,
    /// Scratch memory of a library.
    Workspaces,
    /// Allocations of an unknown category.
    Other,
    /// Bytes that the allocator counted and the trace does not show.
    Unattributed,
}

impl Contents {
    /// The name in reports.
    pub fn words(self) -> &'static str {
        match self {
            Contents::Parameters => "parameters",
            Contents::Gradients => "gradients",
            Contents::OptimizerState => "optimizer state",
            Contents::Buffers => "buffers",
            Contents::Activations => "activations",
            Contents::Temporaries => "temporaries",
            Contents::Inputs => "inputs",
            Contents::Workspaces => "workspaces",
            Contents::Other => "other",
            Contents::Unattributed => "unattributed",
        }
    }
}

/// One line of a breakdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Part {
    /// The category.
    pub category: Contents,
    /// The bytes of the category.
    pub bytes: Bytes,
}

/// A total and the parts that make it up, largest first. In JSON: the list of its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "Vec<Part>", try_from = "Vec<Part>")]
pub struct Breakdown {
    total: Bytes,
    parts: Vec<Part>,
}

/// The error of parts that do not add up to their total.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the parts add up to {sum} bytes, expected the total of {total} bytes")]
pub struct DoesNotAddUp {
    /// The expected total, in bytes.
    pub total: u64,
    /// The sum of the parts, in bytes.
    pub sum: u64,
}

impl Breakdown {
    /// `parts` as the breakdown of `total`, largest first; empty parts are left out.
    pub fn new(total: Bytes, parts: Vec<Part>) -> Result<Breakdown, DoesNotAddUp> {
        let sum: Bytes = parts.iter().map(|part| part.bytes).sum();
        if sum != total {
            return Err(DoesNotAddUp { total: total.0, sum: sum.0 });
        }
        let mut parts = parts;
        parts.retain(|part| part.bytes != Bytes::ZERO);
        parts.sort_by_key(|part| (std::cmp::Reverse(part.bytes), part.category));
        Ok(Breakdown { total, parts })
    }

    /// The sum of the parts.
    pub fn total(&self) -> Bytes {
        self.total
    }

    /// The parts, largest first, without empty parts.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The bytes of a category; zero if the category has no part.
    pub fn bytes_of(&self, category: Contents) -> Bytes {
        let same = self.parts.iter().filter(|part| part.category == category);
        same.map(|part| part.bytes).sum()
    }
}

/// The total is the sum of the parts.
impl TryFrom<Vec<Part>> for Breakdown {
    type Error = DoesNotAddUp;

    fn try_from(parts: Vec<Part>) -> Result<Breakdown, DoesNotAddUp> {
        Breakdown::new(parts.iter().map(|part| part.bytes).sum(), parts)
    }
}

impl From<Breakdown> for Vec<Part> {
    fn from(breakdown: Breakdown) -> Vec<Part> {
        breakdown.parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(category: Contents, bytes: u64) -> Part {
        Part { category, bytes: Bytes(bytes) }
    }

    #[test]
    fn parts_that_are_not_the_whole_are_refused() {
        let parts = || vec![part(Contents::Gradients, 3), part(Contents::Other, 4)];
        let short = Breakdown::new(Bytes(8), parts());
        assert_eq!(short, Err(DoesNotAddUp { total: 8, sum: 7 }));
        assert!(Breakdown::new(Bytes(6), parts()).is_err());
        assert!(Breakdown::new(Bytes(7), parts()).is_ok());
    }

    #[test]
    fn parts_come_largest_first_and_empty_ones_not_at_all() {
        let parts = vec![part(Contents::Buffers, 0), part(Contents::Gradients, 3), part(Contents::Other, 4)];
        let breakdown = Breakdown::new(Bytes(7), parts).map(Vec::from);
        let expected = vec![part(Contents::Other, 4), part(Contents::Gradients, 3)];
        assert_eq!(breakdown, Ok(expected));
    }
}
