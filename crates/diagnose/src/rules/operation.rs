//! The operation whose request failed, and the large tensors of its kind.

use std::collections::BTreeSet;

use allocator::replay::AllocationChange;
use causes::CauseId;
use report::{Evidence, Finding, Remedy, Severity};
use trace::run::OperationRecord;
use trace::{Bytes, Lifetime, LifetimeId, Moment};

use super::input::Facts;
use super::known::{Source, bytes, text};
use super::removal::Removal;
use super::rule::{Cause, Rank};
use crate::measure::growth::stays;
use crate::measure::life::Life;
use crate::measure::view::View;

/// Tensors of one kind below 1/5 of the device are no cause.
const MIN_DEVICE_DENOMINATOR: u64 = 5;
/// At the need, tensors of 1/4 of the request count, too.
const LEAST_PART: u64 = 4;
/// The segment is this much larger than the request at most.
const SEGMENT_ROUNDING: u64 = allocator::size::ROUND_LARGE_BYTES;

/// The failed request of a known operation, and the live tensors of about the same size.
pub(super) struct Failed<'f> {
    pub(super) operation: &'f OperationRecord,
    pub(super) requested: Bytes,
    /// The functions on the stack, the user's included, innermost first.
    pub(super) functions: Vec<&'f str>,
    /// The module that was running.
    pub(super) module: &'f str,
    facts: &'f Facts<'f>,
    view: &'f View<'f>,
    moment: Moment,
}

impl<'f> Failed<'f> {
    /// Returns the operation of the request that ended the program; `None` without a record of the agent.
    pub(super) fn of(facts: &'f Facts<'f>) -> Option<Failed<'f>> {
        let (view, moment) = (facts.view.filter(|_| facts.is_at_error())?, facts.moment()?);
        let operation = view.trace.process.operation.as_ref()?;
        // Weights that are made have no operands.
        if operation.functions.iter().any(|function| function == "__init__" || function == "reset_parameters") {
            return None;
        }
        let oom = view.trace.process.ooms.last()?;
        let requested = facts.failure.as_ref()?.requested?.nearest();
        let functions = oom.frames.iter().map(|(function, ..)| function.as_str()).collect();
        Some(Failed { operation, requested, functions, module: &oom.module, facts, view, moment })
    }

    /// Returns the cause; the change leaves out the request and the tensors of about the same size. `None` if both are small.
    pub(super) fn cause(&self, rule: CauseId, what: &str, remedy: Remedy) -> Option<Cause> {
        let alike: Vec<(LifetimeId, Bytes)> = self.list_alike();
        let held: Bytes = alike.iter().map(|(_, block)| *block).sum();
        let all = held + self.requested;
        let device = self.facts.device.total?.nearest();
        if all.0.saturating_mul(MIN_DEVICE_DENOMINATOR) < device.0 {
            return None;
        }
        let others = match alike.len() {
            0 => String::new(),
            1 => format!(", and {held} are alive in another tensor of that size"),
            count => format!(", and {held} are alive in {count} tensors of that size"),
        };
        let finding = Finding {
            without: None,
            rule,
            severity: Severity::Error,
            message: format!("{what} takes {}{others}", self.requested),
            location: self.facts.failed_at(),
            evidence: self.evidence(held),
            remedies: vec![remedy],
        };
        let edits = alike.into_iter().map(|(id, _)| (id, AllocationChange::LeaveOut)).collect();
        let cause = Cause { finding, bytes: Some(all), rank: Rank::Fault, removal: None };
        // The remedy does without the whole tensors, and takes something else.
        let removal = Removal::with_failed(edits, AllocationChange::LeaveOut).estimated();
        let others = self.other_bytes_at_need();
        Some(cause.with_removal(others.map_or(removal.clone(), |bytes| removal.all_but(bytes))))
    }

    /// The bytes at the peak of the run without a limit without the tensors that follow from the request: as large, or reduced to a part.
    fn other_bytes_at_need(&self) -> Option<Bytes> {
        let later = self.facts.fate.as_ref()?.later;
        let peak = later.trace.history.peaks().allocated?;
        let follows =
            |life: &Lifetime| life.block().0.saturating_mul(LEAST_PART) + SEGMENT_ROUNDING >= self.requested.0;
        let live = later.live_after(peak.at).filter(|(life, contents)| stays(*contents) || !follows(life));
        Some(live.map(|(life, _)| life.block()).sum())
    }

    /// True for half to twice the size of the request, of which the size of its segment is known.
    fn is_alike(&self, life: &Lifetime) -> bool {
        let (block, segment) = (life.block().0, self.requested.0);
        block.saturating_mul(2) + SEGMENT_ROUNDING >= segment && block <= segment.saturating_mul(2)
    }

    fn evidence(&self, held: Bytes) -> Vec<Evidence> {
        let mut evidence = vec![
            bytes("requested", self.requested, Source::Observer),
            bytes("alive in tensors of that size", held, Source::LiveAtError),
        ];
        if !self.operation.text.is_empty() {
            evidence.push(text("computed", self.operation.text.clone(), Source::Observer));
        }
        evidence
    }

    /// The live tensors of half to twice the size of the request, without persistent categories.
    fn list_alike(&self) -> Vec<(LifetimeId, Bytes)> {
        // Tensors of earlier iterations have another cause.
        let kept = self.facts.pressure.iter().flat_map(|pressure| &pressure.kept);
        let kept: BTreeSet<LifetimeId> = kept.map(|(id, _)| *id).collect();
        let live = self.view.live_with_ids(self.moment).filter(|(id, ..)| !kept.contains(id));
        let alike = live.filter(|(_, life, contents)| !stays(*contents) && self.is_alike(life));
        alike.map(|(id, life, _)| (id, life.block())).collect()
    }

    /// True if a word is part of a function's name, of the module's name or of the expression.
    pub(super) fn mentions(&self, word: &str) -> bool {
        let is_in = |name: &str| name.to_ascii_lowercase().contains(word);
        is_in(self.module) || is_in(&self.operation.text) || self.functions.iter().any(|name| is_in(name))
    }

    /// True if PyTorch's functions between the user's line and the request include one of `names`.
    pub(super) fn calls(&self, names: &[&str]) -> bool {
        self.operation.functions.iter().any(|function| names.contains(&function.as_str()))
    }
}

/// The number of elements of a shape.
pub(super) fn elements(shape: &[u64]) -> u64 {
    shape.iter().fold(1, |product, size| product.saturating_mul(*size))
}

/// `[8, 16, 4096, 4096]`.
pub(super) fn words_of_shape(shape: &[u64]) -> String {
    let sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
    format!("[{}]", sizes.join(", "))
}
