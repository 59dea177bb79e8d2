//! The operation whose request failed, and the large tensors of its kind.

use std::collections::BTreeSet;

use allocator::replay::AllocationChange;
use causes::CauseId;
use report::{Evidence, Finding, Remedy, Severity};
use trace::run::OperationRecord;
use trace::{Bytes, Lifetime, LifetimeId, Moment};

use crate::measure::growth::stays;
use crate::measure::life::Life;
use crate::measure::view::View;
use crate::rules::facts::input::Facts;
use crate::rules::facts::known::{Source, bytes, text};
use crate::rules::rule::removal::Removal;
use crate::rules::rule::{Cause, Rank};

/// Tensors of one kind below 1/5 of the device are no cause.
const MIN_DEVICE_DENOMINATOR: u64 = 5;
/// At the need, tensors of 1/4 of the request count, too.
const LEAST_PART: u64 = 4;
/// The segment is this much larger than the request at most.
const SEGMENT_ROUNDING: u64 = allocator::size::ROUND_LARGE_BYTES;

/// The bytes of an element in PyTorch's types.
const ELEMENT_BYTES: [u64; 5] = [1, 2, 4, 8, 16];
/// PyTorch's layers of images.
const IMAGE_LAYERS: [&str; 4] =
    ["nn/modules/conv.py", "nn/modules/batchnorm.py", "nn/modules/pooling.py", "nn/modules/upsampling.py"];

/// The failed request of a known operation, and the live tensors of about the same size.
pub(in crate::rules) struct Failed<'f> {
    pub(in crate::rules) operation: &'f OperationRecord,
    pub(in crate::rules) requested: Bytes,
    /// The module that was running.
    pub(in crate::rules) module: &'f str,
    facts: &'f Facts<'f>,
    view: &'f View<'f>,
    moment: Moment,
}

impl<'f> Failed<'f> {
    /// Returns the operation of the request that ended the program; `None` without a record of the agent.
    pub(in crate::rules) fn of(facts: &'f Facts<'f>) -> Option<Failed<'f>> {
        let (view, moment) = (facts.view.filter(|_| facts.is_at_error())?, facts.moment()?);
        let operation = view.trace.process.operation.as_ref()?;
        // Weights that are made have no operands.
        if operation.functions.iter().any(|function| function == "__init__" || function == "reset_parameters") {
            return None;
        }
        let oom = view.trace.process.ooms.last()?;
        let requested = facts.failure.as_ref()?.requested?.nearest();
        Some(Failed { operation, requested, module: &oom.module, facts, view, moment })
    }

    /// Returns the cause; the change leaves out the request and the tensors of about the same size. `None` if both are small.
    pub(in crate::rules) fn cause(&self, rule: CauseId, what: &str, remedy: Remedy) -> Option<Cause> {
        self.cause_of(rule, what, remedy, self.list_alike(), self.requested)
    }

    /// As [`Failed::cause`], for tensors of a shape: where the request is another, for the live tensors of the same line alone.
    pub(in crate::rules) fn cause_of_shape(
        &self,
        rule: CauseId,
        what: &str,
        shape: &[u64],
        remedy: Remedy,
    ) -> Option<Cause> {
        if self.is_of_shape(shape) {
            return self.cause(rule, what, remedy);
        }
        let sizes = ELEMENT_BYTES.map(|bytes| Bytes(elements(shape).saturating_mul(bytes)));
        let failed_at = self.facts.failed_at();
        let is_alike =
            |life: &Lifetime| sizes.contains(&life.requested()) && self.view.own_line(life.stack) == failed_at;
        let live = self.view.live_with_ids(self.moment);
        let alike: Vec<_> = live.filter(|(_, life, contents)| !stays(*contents) && is_alike(life)).collect();
        let size = alike.first()?.1.requested();
        let [_, rest @ ..] = alike.as_slice() else { return None };
        let rest = rest.iter().map(|(id, life, _)| (*id, life.block())).collect();
        self.cause_of(rule, what, remedy, rest, size)
    }

    /// Returns the cause for a tensor of `size`, the request or a live one, and for others of that size.
    fn cause_of(
        &self,
        rule: CauseId,
        what: &str,
        remedy: Remedy,
        alike: Vec<(LifetimeId, Bytes)>,
        size: Bytes,
    ) -> Option<Cause> {
        let held: Bytes = alike.iter().map(|(_, block)| *block).sum();
        let all = held + size;
        let device = self.facts.device.total?.nearest();
        if all.0.saturating_mul(MIN_DEVICE_DENOMINATOR) < device.0 {
            return None;
        }
        let others = match alike.len() {
            0 => String::new(),
            1 if held.to_string() == size.to_string() => " twice".to_owned(),
            1 => format!(", beside {held} in another such tensor"),
            count => format!(", beside {held} in {count} such tensors"),
        };
        let finding = Finding {
            without: None,
            rule,
            severity: Severity::Error,
            message: format!("{what} {size}{others}"),
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
    pub(in crate::rules) fn mentions(&self, word: &str) -> bool {
        is_in(self.module, word) || self.names(word)
    }

    /// True if a word is part of the expression, or of the name of a function of PyTorch's on the way to the request.
    pub(in crate::rules) fn names(&self, word: &str) -> bool {
        is_in(&self.operation.text, word) || self.operation.functions.iter().any(|name| is_in(name, word))
    }

    /// True if a tensor of a shape, in one of PyTorch's types, has the bytes of the request.
    pub(in crate::rules) fn is_of_shape(&self, shape: &[u64]) -> bool {
        let rounding = |bytes: u64| self.requested.0.checked_sub(bytes).is_some_and(|more| more < SEGMENT_ROUNDING);
        ELEMENT_BYTES.iter().any(|bytes| rounding(elements(shape).saturating_mul(*bytes)))
    }

    /// True if a convolution, or another layer of images, made a live tensor of the size of the request.
    pub(in crate::rules) fn is_beside_images(&self) -> bool {
        let is_image = |stack| {
            let mut frames = self.view.frames_of(stack);
            frames.any(|frame| IMAGE_LAYERS.iter().any(|file| frame.file.ends_with(file)))
        };
        let mut live = self.view.live_after(self.moment);
        live.any(|(life, contents)| !stays(contents) && self.is_alike(life) && is_image(life.stack))
    }

    /// True if PyTorch's functions between the user's line and the request include one of `names`.
    pub(in crate::rules) fn calls(&self, names: &[&str]) -> bool {
        self.operation.functions.iter().any(|function| names.contains(&function.as_str()))
    }
}

fn is_in(name: &str, word: &str) -> bool {
    name.to_ascii_lowercase().contains(word)
}

/// The number of elements of a shape.
pub(in crate::rules) fn elements(shape: &[u64]) -> u64 {
    shape.iter().fold(1, |product, size| product.saturating_mul(*size))
}

/// `[8, 16, 4096, 4096]`.
pub(in crate::rules) fn words_of_shape(shape: &[u64]) -> String {
    let sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
    format!("[{}]", sizes.join(", "))
}
