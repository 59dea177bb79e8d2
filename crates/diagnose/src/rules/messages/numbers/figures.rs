//! The figures of a message, and the first true line of the table (Note \[Messages]).

use causes::CauseId;
use report::Finding;
use trace::Bytes;
use trace::text::{ClueKind, Framework};

use crate::rules::facts::input::{Facts, Failure};
use crate::rules::facts::known::Known;
use crate::rules::facts::sizes::{is_contradiction, is_no_size};
use crate::rules::rule::{Cause, Rank};

/// A difference of this size may be the memory of foreign processes or of a library.
const LARGE: Bytes = Bytes::from_mib(1536);
/// A CUDA context with PyTorch's modules.
const CONTEXT: Bytes = Bytes::from_mib(614);

/// The numbers of a message of PyTorch's allocator. See Note [Messages].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules::messages) struct Numbers {
    pub(super) requested: Bytes,
    pub(super) total: Bytes,
    pub(super) free: Bytes,
    pub(super) allocated: Bytes,
    /// Reserved and unallocated, without the blocks that wait for other streams.
    pub(super) cached: Bytes,
    /// Freed blocks that wait for other streams.
    pub(super) waiting: Bytes,
    /// The memory of the own process outside PyTorch, if the message has a figure of the process.
    pub(super) outside: Option<Bytes>,
    pub(super) others: Bytes,
    limit: Option<Bytes>,
    /// The address space of an expandable segment.
    pub(super) segment_reserve: Option<Bytes>,
    pub(super) framework: Framework,
    pub(super) segments: Segments,
    /// True if the text sets a limit for clients of MPS.
    pub(super) is_limited_by_mps: bool,
}

/// Expandable segments in the program of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Segments {
    /// The variable that sets them.
    SetBy(&'static str),
    /// The platform has none.
    Unsupported,
    /// They are on.
    On,
}

impl Segments {
    fn of(failure: &Failure) -> Segments {
        let is_on_windows = failure.frames.iter().any(|frame| frame.file.as_bytes().get(1..3) == Some(b":\\"));
        if failure.clue(ClueKind::NoExpandableSegments).is_some()
            || is_on_windows
            || failure.framework == Framework::Xpu
        {
            return Segments::Unsupported;
        }
        if failure.clue(ClueKind::ExpandableSegments).is_some() {
            return Segments::On;
        }
        let names = ["PYTORCH_HIP_ALLOC_CONF", "PYTORCH_NPU_ALLOC_CONF", "PYTORCH_ALLOC_CONF"];
        let stated = names.into_iter().find(|name| failure.message.contains(name));
        Segments::SetBy(stated.unwrap_or(if failure.framework == Framework::Npu {
            names[1]
        } else {
            "PYTORCH_CUDA_ALLOC_CONF"
        }))
    }
}

impl Numbers {
    /// Returns the numbers; `None` with a history, or if a necessary figure is missing.
    pub(super) fn of(facts: &Facts) -> Option<Numbers> {
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
        let unallocated = reserved - allocated - failure.in_pools;
        let waiting = failure.waiting.min(unallocated);
        Some(Numbers {
            requested: failure.requested?.nearest(),
            total,
            free,
            // A block of a private pool serves no other pool.
            allocated: allocated + failure.in_pools,
            cached: unallocated - waiting,
            waiting,
            outside: process.map(|process| process - reserved),
            others: failure.others.iter().filter_map(|other| Some(other.bytes?.nearest)).sum(),
            limit: failure.allowed.map(Known::nearest),
            segment_reserve: failure.segment_reserve.map(|bytes| bytes.nearest),
            framework: failure.framework,
            segments: Segments::of(failure),
            is_limited_by_mps: failure.clue(ClueKind::MpsLimit).is_some(),
        })
    }

    /// Returns the numbers of another framework's allocator, which states no process.
    pub(in crate::rules::messages) fn of_framework(
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
            waiting: Bytes::ZERO,
            outside: None,
            others: Bytes::ZERO,
            limit: None,
            segment_reserve: None,
            framework: Framework::Nvidia,
            segments: Segments::SetBy("PYTORCH_CUDA_ALLOC_CONF"),
            is_limited_by_mps: false,
        }
    }

    /// Returns the numbers of Metal's message: the limit takes the place of the device.
    fn of_mps(failure: &Failure) -> Option<Numbers> {
        let (total, allocated) = (failure.allowed?.nearest(), failure.allocated?.nearest());
        let (outside, requested) = (failure.other_allocations, failure.requested?.nearest());
        let free = total - allocated - outside;
        let numbers = Numbers::of_framework(requested, total, free, allocated, Bytes::ZERO);
        Some(Numbers { outside: Some(outside), framework: Framework::Mps, ..numbers })
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
    pub(in crate::rules::messages) fn cause(&self) -> CauseId {
        let Numbers { requested, total, free, allocated, cached, others, .. } = *self;
        if self.is_no_size() || (!self.has_room() && self.is_waiting()) {
            return CauseId::Unclear;
        }
        if self.framework == Framework::Mps {
            return self.cause_of_mps();
        }
        let (tenth, outside) = (Bytes(total.0 / 10), self.outside.unwrap_or_default());
        let room = total - others;
        if self.has_room() {
            let is_limited = self.limit.is_some_and(|limit| allocated + cached + requested > limit);
            return if is_limited { CauseId::SmallGpuFraction } else { CauseId::Unclear };
        }
        if requested <= free + cached && cached >= tenth {
            CauseId::Fragmentation
        } else if Bytes(requested.0.saturating_mul(2)) >= total {
            CauseId::OneHugeRequest
        } else if self.is_others() {
            CauseId::OtherProcessMemory
        } else if outside >= LARGE && outside >= tenth && requested + CONTEXT <= free + cached + outside {
            CauseId::NonPytorchMemory
        } else if allocated >= Bytes(room.0 / 10 * 9) || allocated + requested > room - outside {
            CauseId::NeedExceedsDevice
        } else if self.is_in_pieces() {
            CauseId::Fragmentation
        } else {
            CauseId::Unclear
        }
    }

    /// True if no line of the table holds, and no figure explains the refusal.
    pub(super) fn is_undecided(&self) -> bool {
        self.cause() == CauseId::Unclear && !self.is_no_size() && !self.has_room() && !self.is_waiting()
    }

    /// True for a request that no tensor makes.
    pub(super) fn is_no_size(&self) -> bool {
        is_no_size(self.requested)
    }

    /// True if the device had a segment for the request.
    pub(super) fn has_room(&self) -> bool {
        self.free >= segment(self.requested)
    }

    /// True if half of the cache waits for other streams, and the rest does not serve the request in any arrangement of its blocks.
    pub(super) fn is_waiting(&self) -> bool {
        let is_much = self.waiting >= self.cached && self.waiting >= Bytes(self.total.0 / 20);
        let would_serve = self.requested <= self.free + self.cached + self.waiting;
        is_much && would_serve && self.cached < Bytes(self.total.0 / 10)
    }

    /// True if the cache would serve a twentieth of the device in one piece with the free memory, and little else is held on the device.
    fn is_in_pieces(&self) -> bool {
        let Numbers { requested, total, free, cached, others, .. } = *self;
        requested <= free + cached
            && requested - free >= Bytes(total.0 / 20)
            && others + self.unexplained() + self.outside.unwrap_or_default() <= Bytes(total.0 / 20)
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

    /// True if a cause beside the decided one holds what the request lacks.
    pub(super) fn would_serve(&self, cause: CauseId, held: Bytes) -> bool {
        let Numbers { requested, total, free, allocated, cached, .. } = *self;
        let fits = allocated + requested + self.outside.unwrap_or_default() <= total;
        match cause {
            CauseId::Fragmentation => requested <= free + cached,
            CauseId::OtherProcessMemory => fits && requested <= free + held,
            CauseId::NonPytorchMemory => requested <= free + held,
            _ => true,
        }
    }

    /// The memory of the device without an explanation.
    pub(super) fn unexplained(&self) -> Bytes {
        let reserved = self.allocated + self.cached + self.waiting;
        self.total - (self.free + reserved + self.others + self.outside.unwrap_or_default())
    }

    /// Returns the decided cause; called if the rule of the cause finds nothing.
    pub(super) fn to_cause(self, decided: CauseId, facts: &Facts) -> Cause {
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
}

/// Returns the size of the segment that serves a request (c10/core/AllocatorConfig.h, 2.11).
fn segment(requested: Bytes) -> Bytes {
    match requested {
        size if size <= Bytes::from_mib(1) => Bytes::from_mib(2),
        size if size < Bytes::from_mib(10) => Bytes::from_mib(20),
        size => Bytes(size.0.div_ceil(2 << 20).saturating_mul(2 << 20)),
    }
}
