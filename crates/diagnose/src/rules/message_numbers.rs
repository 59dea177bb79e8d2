//! The cause that the numbers of a message decide, without a history.
//!
//! # Note [Messages]
//! PyTorch's message states sizes of one instant, rounded to two decimals. The first true line of the table decides; further true lines are
//! remarks. R is the request, S its segment, T the device, F free, A allocated, U reserved and unallocated, V = A + U; N is the memory of the
//! own process outside PyTorch, O the memory of foreign processes, X the unexplained rest of the device, L the limit of the own process.
//!
//! | | | cause |
//! |---|---|---|
//! | 1 | V + R > L and F >= S | `small-gpu-fraction` |
//! | 2 | F >= S | `unclear`: the device had room |
//! | 3 | R >= T / 2 | `one-huge-request` |
//! | 4 | R <= F + U and U >= T / 10 | `fragmentation` |
//! | 5 | O (else X, if 1.5 GiB and 15 % of T) frees enough, and the rest fits: A + R + N <= T | `other-process-memory` |
//! | 6 | N >= 1.5 GiB and T / 10, and R <= F + U + N less a context | `non-pytorch-memory` |
//! | 7 | A >= 90 % of T - O, or A + R > T - O - N | `need-exceeds-device` |
//! | 8 | | `unclear` |
//!
//! In a container the driver does not know the program by its process id: a figure of the own process below V is ignored, and a listed process
//! with the same size is the program, if the device cannot hold two.

use causes::CauseId;
use report::{Finding, Severity};
use trace::Bytes;

use super::fragmentation::advise_expandable_segments;
use super::input::{Facts, Failure};
use super::known::{Known, Source, text};
use super::need_exceeds_device::need_less;
use super::one_huge_request::make_smaller;
use super::other_process_memory::end_them;
use super::rule::{Cause, Rank};

/// A difference of this size may be the memory of foreign processes or of a library.
const LARGE: Bytes = Bytes::from_mib(1536);
/// A CUDA context with PyTorch's modules.
const CONTEXT: Bytes = Bytes::from_mib(614);
/// Two figures of one process differ by less.
const SAME: Bytes = Bytes::from_mib(700);

/// The causes between which the table decides.
const DECIDED: [CauseId; 7] = [
    CauseId::SmallGpuFraction,
    CauseId::OneHugeRequest,
    CauseId::Fragmentation,
    CauseId::OtherProcessMemory,
    CauseId::NonPytorchMemory,
    CauseId::NeedExceedsDevice,
    CauseId::Unclear,
];

/// The numbers of a message of PyTorch's allocator. See Note [Messages].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Numbers {
    requested: Bytes,
    total: Bytes,
    free: Bytes,
    allocated: Bytes,
    cached: Bytes,
    /// The memory of the own process outside PyTorch, if the message has a figure of the process.
    outside: Option<Bytes>,
    others: Bytes,
    limit: Option<Bytes>,
}

/// Keeps the decided cause of the table, and makes remarks of further causes.
pub(super) fn decide(mut causes: Vec<Cause>, facts: &Facts) -> Vec<Cause> {
    let Some(numbers) = Numbers::of(facts) else { return causes };
    let decided = numbers.cause();
    causes.retain(|cause| cause.finding.rule == decided || !is_answer(cause));
    for cause in causes.iter_mut().filter(|cause| is_of_table(cause) && cause.finding.rule != decided) {
        cause.finding.severity = Severity::Info;
        cause.rank = Rank::Aside;
    }
    if !causes.iter().any(|cause| cause.finding.rule == decided) {
        causes.push(numbers.to_cause(decided, facts));
    }
    for cause in causes.iter_mut().filter(|cause| cause.finding.rule == decided) {
        if decided == CauseId::Unclear {
            cause.finding.message = numbers.sentence(decided);
            // The list of processes is what decides.
            cause.finding.remedies.insert(0, end_them());
        }
        cause.finding.severity = facts.severity();
        cause.finding.evidence.push(text("sum", numbers.words(), Source::Message));
    }
    causes
}

fn is_of_table(cause: &Cause) -> bool {
    DECIDED.contains(&cause.finding.rule)
}

/// True for a cause of the whole device, never a remark.
fn is_answer(cause: &Cause) -> bool {
    let answers = [CauseId::OneHugeRequest, CauseId::NeedExceedsDevice, CauseId::Unclear];
    answers.contains(&cause.finding.rule)
}

impl Numbers {
    /// Returns the numbers; `None` with a history, or if a necessary figure is missing.
    fn of(facts: &Facts) -> Option<Numbers> {
        let failure = facts.failure.as_ref().filter(|failure| failure.is_fatal && failure.is_allocators())?;
        if facts.view.is_some() || facts.need.is_some() {
            return None;
        }
        let (allocated, reserved) = (failure.allocated?.nearest(), failure.reserved?.nearest());
        let (total, free) = (facts.device.total?.nearest(), failure.free?.nearest());
        let process = failure.process.map(Known::nearest).filter(|process| *process >= reserved);
        Some(Numbers {
            requested: failure.requested?.nearest(),
            total,
            free,
            allocated,
            cached: reserved - allocated,
            outside: process.map(|process| process - reserved),
            others: other_bytes(failure, total, process.unwrap_or(reserved), free),
            limit: failure.allowed.map(Known::nearest),
        })
    }

    /// Returns the cause of the first true line of the table.
    fn cause(&self) -> CauseId {
        let Numbers { requested, total, free, allocated, cached, others, .. } = *self;
        let (tenth, outside) = (Bytes(total.0 / 10), self.outside.unwrap_or_default());
        let room = total - others;
        if self.has_room() {
            let is_limited = self.limit.is_some_and(|limit| allocated + cached + requested > limit);
            return if is_limited { CauseId::SmallGpuFraction } else { CauseId::Unclear };
        }
        if Bytes(requested.0.saturating_mul(2)) >= total {
            CauseId::OneHugeRequest
        } else if requested <= free + cached && cached >= tenth {
            CauseId::Fragmentation
        } else if self.is_others() {
            CauseId::OtherProcessMemory
        } else if outside >= LARGE && outside >= tenth && requested + CONTEXT <= free + cached + outside {
            CauseId::NonPytorchMemory
        } else if allocated >= Bytes(room.0 / 10 * 9) || allocated + requested > room - outside {
            CauseId::NeedExceedsDevice
        } else {
            CauseId::Unclear
        }
    }

    /// True if the device had a segment for the request.
    fn has_room(&self) -> bool {
        self.free >= segment(self.requested)
    }

    /// True if foreign or unexplained memory would serve the request.
    fn is_others(&self) -> bool {
        let Numbers { requested, total, free, allocated, cached, others, .. } = *self;
        let fits = allocated + requested + self.outside.unwrap_or_default() <= total;
        if others >= Bytes(total.0 / 10) {
            return fits && requested <= free + cached + others;
        }
        let unexplained = self.unexplained();
        // The context of the own process is unexplained, too, if the message has no figure of the process.
        let context = if self.outside.is_some() { Bytes::ZERO } else { Bytes::from_mib(1024) };
        unexplained >= LARGE
            && unexplained.0 / 3 >= total.0 / 20
            && requested + context <= free + cached + unexplained
            && allocated + requested + context <= total
            && fits
    }

    /// The memory of the device without an explanation.
    fn unexplained(&self) -> Bytes {
        let known = self.free + self.allocated + self.cached + self.others + self.outside.unwrap_or_default();
        self.total - known
    }

    /// The sum of all used and requested bytes, beside the size of the device.
    fn words(&self) -> String {
        let parts = [
            (self.allocated, "allocated"),
            (self.requested, "requested"),
            (self.outside.unwrap_or_default(), "outside PyTorch"),
            (self.others, "of other processes"),
            (self.unexplained(), "unaccounted for"),
        ];
        let parts: Vec<(Bytes, &str)> = parts.into_iter().filter(|(size, _)| *size > Bytes::ZERO).collect();
        let sum: Bytes = parts.iter().map(|(size, _)| *size).sum();
        let words: Vec<String> = parts.iter().map(|(size, what)| format!("{size} {what}")).collect();
        format!("{} = {sum} of {}; the cache holds {}", words.join(" + "), self.total, self.cached)
    }

    /// Returns the decided cause; called if the rule of the cause finds nothing.
    fn to_cause(self, decided: CauseId, facts: &Facts) -> Cause {
        let (rank, remedies) = match decided {
            CauseId::OneHugeRequest => (Rank::Fault, vec![make_smaller()]),
            CauseId::Fragmentation => (Rank::Fault, vec![advise_expandable_segments()]),
            CauseId::NeedExceedsDevice => (Rank::Need, need_less()),
            _ => (Rank::Setting, vec![end_them()]),
        };
        let finding = Finding {
            without: None,
            rule: decided,
            severity: facts.severity(),
            message: self.sentence(decided),
            location: facts.failed_at(),
            evidence: Vec::new(),
            remedies,
        };
        Cause { finding, bytes: facts.failure.as_ref().and_then(Failure::missing), rank, removal: None }
    }

    fn sentence(&self, decided: CauseId) -> String {
        let Numbers { requested, total, free, allocated, cached, .. } = *self;
        match decided {
            CauseId::OneHugeRequest => {
                format!("one request for {requested} is more than half of the device's {total}")
            }
            CauseId::Fragmentation => format!(
                "{requested} could not be allocated with {cached} reserved and unused, and {free} free: no free block was large enough"
            ),
            CauseId::NeedExceedsDevice => format!(
                "the program's tensors fill the device: {allocated} of {total} are allocated, and {requested} more are requested"
            ),
            CauseId::Unclear if self.has_room() => {
                format!("{requested} were refused with {free} of the device free")
            }
            CauseId::Unclear => format!(
                "{allocated} allocated and {requested} requested are {} of {total}; {} are in no figure of the message: a CUDA context, a \
                 display, libraries or other processes",
                allocated + requested,
                self.unexplained()
            ),
            _ => format!(
                "{} of the device's {total} are held by other processes, or by libraries of this process: the message does not tell",
                self.unexplained().max(self.others)
            ),
        }
    }
}

/// Returns the bytes of the listed processes without the program.
fn other_bytes(failure: &Failure, total: Bytes, own: Bytes, free: Bytes) -> Bytes {
    let sizes: Vec<Bytes> = failure.others.iter().filter_map(|other| Some(other.bytes?.nearest)).collect();
    let all: Bytes = sizes.iter().copied().sum();
    if all + own + free <= total + SAME {
        return all;
    }
    let twice = sizes.into_iter().find(|size| size.0.abs_diff(own.0) <= SAME.0);
    all - twice.unwrap_or(all)
}

/// Returns the size of the segment that serves a request (c10/core/AllocatorConfig.h, 2.11).
fn segment(requested: Bytes) -> Bytes {
    match requested {
        size if size <= Bytes::from_mib(1) => Bytes::from_mib(2),
        size if size < Bytes::from_mib(10) => Bytes::from_mib(20),
        size => Bytes(size.0.div_ceil(2 << 20) * (2 << 20)),
    }
}
