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
use report::words::count;
use report::{Finding, Remedy, Severity};
use trace::Bytes;
use trace::text::{Framework, OomKind};

use super::fragmentation::advise_expandable_segments;
use super::input::{Facts, Failure};
use super::known::{Known, Source, text};
use super::logged_growth;
use super::need_exceeds_device::need_less;
use super::non_pytorch_memory::find_library;
use super::one_huge_request::make_smaller;
use super::other_process_memory::{end_largest, end_them, listed_processes};
use super::phases;
use super::rule::{Cause, Rank};
use super::shared::is_contradiction;
use super::small_gpu_fraction::raise_fraction;
use super::switches;
use super::unclear::record_more;

/// A difference of this size may be the memory of foreign processes or of a library.
const LARGE: Bytes = Bytes::from_mib(1536);
/// A CUDA context with PyTorch's modules.
const CONTEXT: Bytes = Bytes::from_mib(614);
/// No tensor has this size: a shape has overflowed.
const NO_TENSOR: Bytes = Bytes::from_mib(1 << 30);
const EXPANDABLE: &str = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True";
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
pub(super) struct Numbers {
    requested: Bytes,
    total: Bytes,
    free: Bytes,
    allocated: Bytes,
    cached: Bytes,
    /// The memory of the own process outside PyTorch, if the message has a figure of the process.
    outside: Option<Bytes>,
    others: Bytes,
    limit: Option<Bytes>,
    framework: Framework,
}

/// Keeps the decided cause of the table, and makes remarks of further causes.
pub(super) fn decide(mut causes: Vec<Cause>, facts: &Facts) -> Vec<Cause> {
    if let Some(unclear) = undecided(facts) {
        causes.retain(|cause| !is_of_table(cause) || is_listed(cause, facts));
        causes.push(unclear);
        return causes;
    }
    let Some(numbers) = Numbers::of(facts) else { return causes };
    if let Some(growth) = logged_growth::find(facts) {
        causes.retain(|cause| !is_of_table(cause));
        causes.push(growth);
        return causes;
    }
    let listed = causes.iter().any(|cause| is_listed(cause, facts));
    let decided = if listed { CauseId::OtherProcessMemory } else { numbers.cause() };
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
        }
        if !names_listed(cause) {
            cause.finding.remedies = numbers.remedies(decided);
            name_processes(cause, facts);
        }
        cause.finding.severity = facts.severity();
        cause.finding.evidence.push(text("sum", numbers.words(), Source::Message));
        add_switches(cause, facts);
        phases::add(cause, facts);
    }
    causes
}

/// Names the processes that the message lists in the advice to end them.
fn name_processes(cause: &mut Cause, facts: &Facts) {
    let Some(failure) = facts.failure.as_ref().filter(|_| cause.finding.rule == CauseId::OtherProcessMemory) else {
        return;
    };
    let mut others: Vec<(Bytes, u32)> =
        failure.others.iter().filter_map(|other| Some((other.bytes?.nearest, other.pid))).collect();
    others.sort_unstable_by(|a, b| b.cmp(a));
    let Some(((bytes, pid), rest)) = others.split_first() else {
        let listed = facts.device.total.map(|total| listed_processes(facts, total.nearest())).unwrap_or_default();
        if !listed.is_empty() {
            cause.finding.remedies = vec![end_largest(&listed)];
        }
        return;
    };
    let more = if rest.is_empty() {
        String::new()
    } else {
        format!(" and {}", count(rest.len(), "smaller one", "smaller ones"))
    };
    if let Some(first) = cause.finding.remedies.first_mut() {
        first.remedy = format!("end process {pid} ({bytes}){more} that nvidia-smi lists, or use another device");
    }
}

/// Returns the answer to a message of PyTorch's allocator, or of a library below, whose figures do not decide.
fn undecided(facts: &Facts) -> Option<Cause> {
    let failure = facts.failure.as_ref().filter(|failure| failure.is_fatal && !failure.is_hosts())?;
    if facts.view.is_some() || facts.need.is_some() || Numbers::of(facts).is_some() {
        return None;
    }
    let mut cause = match failure.kind {
        OomKind::Rejected => super::small_gpu_fraction::of_rejection(facts, failure),
        _ => super::unclear::of_message(facts, failure),
    };
    add_switches(&mut cause, facts);
    Some(cause)
}

/// Adds the switches of the program that ran out, before the general advice.
fn add_switches(cause: &mut Cause, facts: &Facts) {
    if matches!(cause.finding.rule, CauseId::OtherProcessMemory | CauseId::SmallGpuFraction) {
        return;
    }
    let switches: Vec<Remedy> = facts.programs.iter().flat_map(|program| switches::of_application(*program)).collect();
    let at = usize::from(cause.finding.rule == CauseId::Unclear).min(cause.finding.remedies.len());
    cause.finding.remedies.splice(at..at, switches);
}

fn names_listed(cause: &Cause) -> bool {
    let source = Source::NvidiaSmi.to_string();
    cause.finding.evidence.iter().any(|row| row.source == source)
}

/// True for a cause that `nvidia-smi` shows: a tenth of the device at least, with room for it beside the figures of the message.
fn is_listed(cause: &Cause, facts: &Facts) -> bool {
    if Numbers::of(facts).is_some() && cause.finding.severity != Severity::Error {
        return false;
    }
    let total = facts.card.and_then(|card| card.total_bytes).map(|total| total.nearest);
    cause.finding.rule == CauseId::OtherProcessMemory
        && names_listed(cause)
        && cause.bytes.zip(total).is_some_and(|(held, total)| held.0.saturating_mul(10) >= total.0)
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
        if failure.framework == Framework::Mps {
            return Numbers::of_mps(failure);
        }
        let allocated = failure.allocated?.nearest();
        let reserved = failure.reserved.map_or(allocated, Known::nearest);
        let (total, free) = (facts.device.total?.nearest(), failure.free?.nearest());
        let process = failure.process.map(Known::nearest).filter(|process| *process >= reserved);
        if is_contradiction(total, free, allocated, reserved) {
            return None;
        }
        Some(Numbers {
            requested: failure.requested?.nearest(),
            total,
            free,
            // A block of a private pool serves no other pool.
            allocated: allocated + failure.in_pools,
            cached: reserved - allocated - failure.in_pools,
            outside: process.map(|process| process - reserved),
            others: other_bytes(failure, total, process.unwrap_or(reserved), free),
            limit: failure.allowed.map(Known::nearest),
            framework: failure.framework,
        })
    }

    /// Returns the numbers of another framework's allocator, which states no process.
    pub(super) fn of_framework(
        requested: Bytes,
        total: Bytes,
        free: Bytes,
        allocated: Bytes,
        cached: Bytes,
    ) -> Numbers {
        Numbers {
            requested,
            total,
            free,
            allocated,
            cached,
            outside: None,
            others: Bytes::ZERO,
            limit: None,
            framework: Framework::Nvidia,
        }
    }

    /// Returns the numbers of Metal's message: the limit takes the place of the device.
    fn of_mps(failure: &Failure) -> Option<Numbers> {
        let (total, allocated) = (failure.allowed?.nearest(), failure.allocated?.nearest());
        let outside = failure.other_allocations;
        Some(Numbers {
            requested: failure.requested?.nearest(),
            total,
            free: total - allocated - outside,
            allocated,
            cached: Bytes::ZERO,
            outside: Some(outside),
            others: Bytes::ZERO,
            limit: None,
            framework: Framework::Mps,
        })
    }

    /// Returns the cause of Metal's message: another user of Metal may hold a quarter of the limit.
    fn cause_of_mps(&self) -> CauseId {
        let Numbers { requested, total, allocated, .. } = *self;
        let outside = self.outside.unwrap_or_default();
        if Bytes(requested.0.saturating_mul(2)) >= total {
            CauseId::OneHugeRequest
        } else if outside >= Bytes(total.0 / 4) && outside >= requested && allocated + requested <= total {
            CauseId::NonPytorchMemory
        } else {
            CauseId::NeedExceedsDevice
        }
    }

    /// Returns the cause of the first true line of the table.
    pub(super) fn cause(&self) -> CauseId {
        if self.framework == Framework::Mps {
            return self.cause_of_mps();
        }
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
        let settings = if self.requested > self.free + self.cached {
            ", less than the request: no allocator setting can help"
        } else {
            ""
        };
        format!("{} = {sum} of {}; the cache holds {}{settings}", words.join(" + "), self.total, self.cached)
    }

    /// Returns the decided cause; called if the rule of the cause finds nothing.
    fn to_cause(self, decided: CauseId, facts: &Facts) -> Cause {
        let rank = match decided {
            CauseId::OneHugeRequest | CauseId::Fragmentation => Rank::Fault,
            CauseId::NeedExceedsDevice => Rank::Need,
            _ => Rank::Setting,
        };
        let finding = Finding {
            without: None,
            rule: decided,
            severity: facts.severity(),
            message: self.sentence(decided),
            location: facts.failed_at(),
            evidence: Vec::new(),
            remedies: Vec::new(),
        };
        Cause { finding, bytes: facts.failure.as_ref().and_then(Failure::missing), rank, removal: None }
    }

    /// Returns the remedies of the decided cause, most bytes first. The name of a remedy has the most bytes that the remedy can free.
    pub(super) fn remedies(&self, decided: CauseId) -> Vec<Remedy> {
        let Numbers { requested, free, cached, others, .. } = *self;
        let settings = Remedy { remedy: format!("set {EXPANDABLE}"), ..advise_expandable_segments() };
        let settings = with_most(settings, cached);
        match decided {
            CauseId::OneHugeRequest => vec![make_smaller()],
            CauseId::Fragmentation => vec![settings],
            CauseId::OtherProcessMemory => vec![with_most(end_them(self.framework), others.max(self.unexplained()))],
            CauseId::NonPytorchMemory => vec![find_library()],
            CauseId::SmallGpuFraction => vec![raise_fraction()],
            CauseId::NeedExceedsDevice => {
                let helps = requested <= free + cached;
                need_less(Some(requested - free)).into_iter().chain(helps.then_some(settings)).collect()
            }
            _ => std::iter::once(end_them(self.framework)).chain(record_more()).collect(),
        }
    }

    pub(super) fn sentence(&self, decided: CauseId) -> String {
        let Numbers { requested, total, free, allocated, cached, .. } = *self;
        match decided {
            CauseId::OneHugeRequest if requested >= NO_TENSOR => {
                format!(
                    "a request for {requested} is no size of a tensor: a dimension is negative, or was read from a wrong value"
                )
            }
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
            CauseId::Unclear if self.unexplained() < Bytes(total.0 / 100) => format!(
                "{} of {total} are allocated or requested, and nothing else is large: {cached} in the cache, {} outside PyTorch, {} of other \
                 processes",
                allocated + requested,
                self.outside.unwrap_or_default(),
                self.others
            ),
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

/// Returns the remedy with its largest possible effect in its name.
fn with_most(remedy: Remedy, bytes: Bytes) -> Remedy {
    Remedy { remedy: format!("{} (at most {bytes})", remedy.remedy), ..remedy }
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
