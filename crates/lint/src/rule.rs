//! The type of a rule, and of the code reported by one.

use causes::CauseId;
use report::RuleId;
use report::lint::Certainty;
use ruff_text_size::Ranged;

use crate::finding::{Fix, MemoryEffect};
use crate::interpreter::observed;
use crate::semantics::data::Syntax;
use crate::semantics::{Model, ObservationKind};
use crate::span::TextSpan;

/// A rule of the linter.
#[derive(Clone, Copy)]
pub struct Rule {
    /// The name, after the pattern: reads well as "allow NAME".
    pub id: RuleId,
    /// The effect of the mistake on memory.
    pub effect: MemoryEffect,
    /// The pattern in one line.
    pub summary: &'static str,
    /// The advice, in a few words.
    pub help: &'static str,
    /// The cause that `check` and `explain` name when a run shows the mistake.
    pub cause: Option<CauseId>,
    pub(crate) check: fn(&Model<'_>, &mut Matches),
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Rule").field(&self.id.0).finish()
    }
}

/// The code in one file reported by one rule.
#[derive(Debug, Default)]
pub(crate) struct Matches {
    pub(crate) list: Vec<Match>,
}

/// A reported piece of code.
#[derive(Debug)]
pub(crate) struct Match {
    pub(crate) span: TextSpan,
    pub(crate) message: String,
    /// Replaces the rule's effect if this match is milder.
    pub(crate) effect: Option<MemoryEffect>,
    pub(crate) fix: Option<Fix>,
    pub(crate) certainty: Certainty,
}

impl Matches {
    /// Checks whether a piece of code within `syntax` is reported already.
    pub(crate) fn covers(&self, syntax: &impl Ranged) -> bool {
        let span = TextSpan::of(syntax);
        self.list.iter().any(|found| found.span.start >= span.start && found.span.end <= span.end)
    }

    /// Reports the statements in which an abstract run has shown a mistake, unless they are reported already.
    pub(crate) fn report(&mut self, model: &Model<'_>, kind: ObservationKind, message: &str) {
        for observation in observed(model, kind) {
            let Syntax::Expression(expression) = model.node(observation.at).syntax else { continue };
            if !self.covers(expression) && !self.list.iter().any(|it| it.span.start == TextSpan::of(expression).start) {
                self.add(expression, message).certainty = observation.certainty;
            }
        }
    }

    /// Reports an expression or a statement.
    pub(crate) fn add(&mut self, syntax: &impl Ranged, message: impl Into<String>) -> &mut Match {
        let found = Match {
            span: TextSpan::of(syntax),
            message: message.into(),
            effect: None,
            fix: None,
            certainty: Certainty::Certain,
        };
        self.list.push(found);
        let last = self.list.len() - 1;
        &mut self.list[last]
    }
}
