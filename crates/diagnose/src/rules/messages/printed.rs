//! The answer to a paste without an error: why more is reserved, or shown by `nvidia-smi`, than is allocated.

use causes::CauseId;
use report::{Evidence, Finding, Remedy, Severity};
use trace::Bytes;
use trace::text::StatedBytes;

use crate::rules::advice::advice;
use crate::rules::facts::input::Facts;
use crate::rules::facts::known::{Known, Source};
use crate::rules::rule::{Cause, Rank};

/// A smaller difference is no question.
const LEAST: Bytes = Bytes::from_mib(128);

/// The figures of a paste.
#[derive(Clone, Copy)]
struct Paste {
    allocated: Bytes,
    reserved: Option<Bytes>,
    /// The peak of the allocated or of the reserved bytes.
    peak: Option<Bytes>,
    /// The memory of the process, by `nvidia-smi`.
    process: Option<Bytes>,
    is_emptied: bool,
}

/// Replaces the causes by the answer, if the text prints the allocator's figures and no error.
pub(super) fn decide(causes: Vec<Cause>, facts: &Facts) -> Vec<Cause> {
    let Some(paste) = Paste::of(facts) else { return causes };
    let Some(message) = paste.sentence() else { return causes };
    let finding = Finding {
        without: None,
        rule: CauseId::Unclear,
        severity: Severity::Info,
        message,
        location: None,
        evidence: paste.evidence(),
        remedies: paste.remedies(),
    };
    vec![Cause { finding, bytes: None, rank: Rank::Unclear, removal: None }]
}

impl Paste {
    fn of(facts: &Facts) -> Option<Paste> {
        let printed = facts.printed.filter(|_| facts.failure.is_none() && facts.view.is_none())?;
        let nearest = |size: Option<StatedBytes>| size.map(|size| size.nearest);
        let processes: Vec<Bytes> = facts
            .card
            .iter()
            .flat_map(|card| card.processes.iter().flatten())
            .filter_map(|process| nearest(process.bytes))
            .collect();
        let used = facts.card.and_then(|card| nearest(card.used_bytes));
        let process = if let [only] = processes[..] { Some(only) } else { used.filter(|_| processes.is_empty()) };
        Some(Paste {
            allocated: nearest(printed.allocated_bytes)?,
            reserved: nearest(printed.reserved_bytes),
            peak: nearest(printed.peak_bytes),
            process,
            is_emptied: printed.is_emptied,
        })
    }

    /// The bytes of the cache, if they are known.
    fn cached(self) -> Option<Bytes> {
        self.reserved.map(|reserved| reserved - self.allocated)
    }

    fn sentence(self) -> Option<String> {
        let Paste { allocated, reserved, process, .. } = self;
        let cached = self.cached().unwrap_or_default();
        let outside = reserved.zip(process).map(|(reserved, process)| process - reserved).unwrap_or_default();
        let passed = self.peak.map(|peak| peak - reserved.unwrap_or(allocated)).unwrap_or_default();
        if cached >= LEAST && self.is_emptied {
            return Some(format!(
                "no error: {allocated} are allocated, and {cached} more stay reserved after empty_cache(): segments with a block in use are not \
                 released"
            ));
        }
        if cached >= LEAST.max(outside) {
            return Some(format!(
                "no error: {allocated} are allocated, and {cached} more are reserved: PyTorch's cache, which keeps what the peak took for later \
                 requests"
            ));
        }
        if passed >= LEAST.max(outside) {
            return Some(format!(
                "no error: {allocated} are allocated now, and the peak was {}: that is what the program needs",
                self.peak.unwrap_or_default()
            ));
        }
        if outside >= LEAST {
            return Some(format!(
                "no error: {outside} of the {} that nvidia-smi shows are outside PyTorch: a CUDA context and libraries",
                process.unwrap_or_default()
            ));
        }
        let unknown = process.filter(|_| reserved.is_none()).map(|process| process - allocated)?;
        (unknown >= LEAST).then(|| {
            format!(
                "no error: {unknown} of the {} that nvidia-smi shows are not allocated: PyTorch's cache, which it keeps reserved, and a CUDA context",
                process.unwrap_or_default()
            )
        })
    }

    fn evidence(self) -> Vec<Evidence> {
        let printed = [("allocated", Some(self.allocated)), ("reserved", self.reserved), ("peak", self.peak)];
        let printed = printed.into_iter().filter_map(|(what, size)| Some(Known::new(size?, Source::Printed).row(what)));
        printed.chain(self.process.map(|size| Known::new(size, Source::NvidiaSmi).row("in use"))).collect()
    }

    fn remedies(self) -> Vec<Remedy> {
        let context = advice(
            "leave the context: a CUDA context of 0.3 to 0.6 GiB goes when the process ends",
            "torch.cuda.memory_reserved() beside nvidia-smi shows how much is cache and how much is context",
        );
        let empty = advice(
            "torch.cuda.empty_cache() returns the cache to the device, if another program needs it",
            "for PyTorch itself it is free memory; max_memory_allocated() is what the program needs at its peak",
        );
        let keep = advice(
            "free the blocks in use that share those segments: torch.cuda.memory_snapshot() lists them",
            "expandable segments release the free pages beside them",
        );
        let first = if self.is_emptied && self.cached() >= Some(LEAST) { keep } else { empty };
        let is_shown = self.process.is_some();
        std::iter::once(first).chain(is_shown.then_some(context)).collect()
    }
}
