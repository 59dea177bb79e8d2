//! The parts of a rule: its declaration, and the cause that it finds.

pub(super) mod removal;

use causes::CauseId;
use report::{Finding, Without};
use trace::Bytes;

use crate::rules::facts::input::Facts;
use crate::rules::rule::removal::Removal;

/// A rule of `check` and `explain`, declared as `RULE` by a file in `rules/`.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    /// The cause that the rule finds.
    pub(super) cause: CauseId,
    pub(super) check: Check,
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Rule").field(&self.cause).finish()
    }
}

/// The function that evaluates a rule.
#[derive(Clone, Copy)]
pub(super) enum Check {
    /// Finds at most one cause.
    One(fn(&Facts) -> Option<Cause>),
    /// Finds any number of causes.
    Many(fn(&Facts) -> Vec<Cause>),
}

/// A finding and its ranking figures.
#[derive(Clone, Debug)]
pub(super) struct Cause {
    /// The text, evidence and remedies.
    pub(super) finding: Finding,
    /// The bytes that would be free, or would not be requested, without the cause; `None` if unknown.
    pub(super) bytes: Option<Bytes>,
    /// The precedence among causes. See Note [Ranking].
    pub(super) rank: Rank,
    /// The change to the recorded program that removes the cause. See Note [Proofs] in `proof.rs`.
    pub(super) removal: Option<Removal>,
}

/// The precedence of a cause, most telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// The surroundings or a setting are at fault; the program need not change.
    Setting,
    /// The program holds memory needlessly.
    Fault,
    /// The program needs more memory than the device has.
    Need,
    /// A remark beside the causes.
    Aside,
    /// The evidence does not decide.
    Unclear,
}

impl Cause {
    /// Adds the change that removes the cause.
    #[must_use]
    pub(super) fn with_removal(self, removal: Removal) -> Cause {
        Cause { removal: Some(removal), ..self }
    }

    /// The proof, if the history was replayed without the cause.
    pub(super) fn without(&self) -> Option<Without> {
        self.finding.without
    }

    /// True if the failed request would be served without the cause.
    pub(super) fn is_sufficient(&self, missing: Option<Bytes>) -> bool {
        match self.without() {
            Some(without) => without.served == Some(true),
            None => missing.is_none() || self.bytes >= missing,
        }
    }

    /// The bytes that would be free without the cause.
    pub(super) fn freed_bytes(&self) -> Bytes {
        self.without().map_or(self.bytes.unwrap_or_default(), |without| without.freed_bytes)
    }
}

impl Rule {
    /// Returns the causes that the rule finds in `facts`.
    pub(super) fn causes(&self, facts: &Facts) -> Vec<Cause> {
        match self.check {
            Check::One(find) => find(facts).into_iter().collect(),
            Check::Many(find) => find(facts),
        }
    }
}
