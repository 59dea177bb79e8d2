//! The parts of a rule: its declaration, and the cause that it finds.

use report::{Finding, RuleId};
use trace::Bytes;

use super::input::Facts;

/// A rule of `check` and `explain`, declared as `RULE` by a file in `rules/`.
#[derive(Clone, Copy)]
pub struct Rule {
    /// The name of the pattern; the documentation page is `docs/rules/ID.md`.
    pub id: RuleId,
    /// The pattern in one line, for `oomph rule` and `docs/rules/README.md`.
    pub summary: &'static str,
    pub(super) when: When,
    pub(super) check: Check,
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Rule").field(&self.id.0).finish()
    }
}

/// The commands that apply a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// `check` alone.
    Check(Group),
    /// `explain` alone.
    Explain,
    /// `check` and `explain`.
    Both(Group),
    /// `explain`, if every other finding is a [`Rank::Aside`].
    Otherwise,
}

/// The order of `check`'s findings among findings of one severity; within a group the registry's order counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    /// The failed request.
    Request,
    /// Growth from step to step; at most one of its rules finds a cause.
    Growth,
    /// The need and the device.
    Need,
    /// The processes of a job.
    Job,
    /// The contents of the peak.
    Peak,
    /// Retries after the cache was emptied.
    Retries,
    /// Errors that the program caught.
    Caught,
    /// Shapes that depend on values.
    Shapes,
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

impl Rule {
    /// Returns the causes that the rule finds in `facts`.
    pub(super) fn causes(&self, facts: &Facts) -> Vec<Cause> {
        match self.check {
            Check::One(find) => find(facts).into_iter().collect(),
            Check::Many(find) => find(facts),
        }
    }

    /// The rule's group in `check`; `None` if only `explain` applies it.
    pub(super) fn group_in_check(&self) -> Option<Group> {
        match self.when {
            When::Check(group) | When::Both(group) => Some(group),
            When::Explain | When::Otherwise => None,
        }
    }

    /// Whether `explain` always applies the rule.
    pub(super) fn is_for_explain(&self) -> bool {
        matches!(self.when, When::Explain | When::Both(_))
    }
}
