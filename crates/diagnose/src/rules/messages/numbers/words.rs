//! The sentences, the sum and the remedies of a message's figures.

use causes::CauseId;
use report::Remedy;
use trace::Bytes;
use trace::text::Framework;

use super::figures::{Numbers, Segments};
use crate::rules::advice::advice;
use crate::rules::causes::fragmentation::{advise_expandable_segments, keep_blocks_whole};
use crate::rules::causes::need_exceeds_device::need_less;
use crate::rules::causes::non_pytorch_memory::find_library;
use crate::rules::causes::one_huge_request::make_smaller;
use crate::rules::causes::other_process_memory::{end_them, list_holders};
use crate::rules::causes::small_gpu_fraction::raise_fraction;
use crate::rules::causes::unclear::record_more;

/// Intel's Arc GPUs refuse a larger allocation, unless it is relaxed (oneAPI's Unified Runtime).
const LARGEST_OF_ARC: Bytes = Bytes::from_mib(4096);
/// Unexplained memory beyond a context.
const HELD: Bytes = Bytes::from_mib(1024);

impl Numbers {
    /// The sum of all used and requested bytes, beside the size of the device.
    pub(super) fn words(&self) -> String {
        let parts = [
            (self.allocated, "allocated"),
            (self.waiting, "active for other streams"),
            (self.requested, "requested"),
            (self.outside.unwrap_or_default(), "outside PyTorch"),
            (self.others, "of other processes"),
            (self.unexplained(), "unaccounted for"),
        ];
        let parts: Vec<(Bytes, &str)> = parts.into_iter().filter(|(size, _)| *size > Bytes::ZERO).collect();
        let sum: Bytes = parts.iter().map(|(size, _)| *size).sum();
        let words: Vec<String> = parts.iter().map(|(size, what)| format!("{size} {what}")).collect();
        let settings = if self.requested > self.free + self.cached && !self.is_waiting() {
            ", less than the request: no allocator setting can help"
        } else {
            ""
        };
        format!("{} = {sum} of {}; the cache holds {}{settings}", words.join(" + "), self.total, self.cached)
    }

    /// Returns the remedies of the decided cause, most bytes first. The name of a remedy has the most bytes that the remedy can free.
    pub(in crate::rules::messages) fn remedies(&self, decided: CauseId) -> Vec<Remedy> {
        let Numbers { requested, free, cached, others, .. } = *self;
        match decided {
            CauseId::OneHugeRequest => vec![make_smaller()],
            CauseId::Fragmentation => vec![self.setting()],
            CauseId::OtherProcessMemory => vec![with_most(end_them(self.framework), others.max(self.unexplained()))],
            CauseId::NonPytorchMemory => vec![find_library()],
            CauseId::SmallGpuFraction => vec![raise_fraction()],
            CauseId::NeedExceedsDevice => {
                let helps = requested <= free + cached && cached > Bytes::ZERO;
                need_less(Some(requested - free)).into_iter().chain(helps.then(|| self.setting())).collect()
            }
            _ if self.is_no_size() => vec![find_wrong_size()],
            _ => self.explain_refusal().into_iter().chain(record_more()).collect(),
        }
    }

    /// The setting against a cache in pieces, where the platform has it.
    fn setting(&self) -> Remedy {
        let setting = match self.segments {
            Segments::SetBy(variable) => {
                Remedy { remedy: format!("set {variable}=expandable_segments:True"), ..advise_expandable_segments() }
            }
            Segments::Unsupported => keep_blocks_whole("expandable segments do not exist on this platform"),
            Segments::On => keep_blocks_whole("expandable segments are on already"),
        };
        with_most(setting, self.cached)
    }

    /// The advice of an unclear message's figures.
    fn explain_refusal(&self) -> Option<Remedy> {
        if self.has_room() {
            return Some(self.explain_room());
        }
        if self.is_waiting() {
            return Some(advice(
                "let streams catch up: torch.cuda.synchronize() before the request, fewer tensors with record_stream",
                "a block that another stream used is free only when that stream's event has passed; FSDP's limit_all_gathers=True and \
                 TORCH_NCCL_AVOID_RECORD_STREAMS=1 bound such blocks",
            ));
        }
        let held = self.unexplained() + self.others;
        let would_serve = held >= HELD && self.requested <= self.free + held;
        would_serve.then(|| with_most(list_holders(self.framework), held))
    }

    /// A reason for a refusal with room on the device, by the kind of the device.
    fn explain_room(&self) -> Remedy {
        if self.segment_reserve.is_some() {
            return advice(
                "raise expandable_segments_reserve of PYTORCH_CUDA_ALLOC_CONF, or unset it",
                "an allocation cannot span expandable segments, and the request is larger than the address space of one",
            );
        }
        if self.is_limited_by_mps {
            return advice(
                "raise the limit that the text sets: CUDA_MPS_PINNED_DEVICE_MEM_LIMIT",
                "MPS refuses a client's request beyond it, whatever is free on the device",
            );
        }
        match self.framework {
            Framework::Xpu if is_beyond_arc(self.requested) => split_for_arc(),
            Framework::Hip => advice(
                "try without MIOpen: a convolution's workspace may be what was refused",
                "torch.backends.cudnn.enabled = False, or MIOPEN_FIND_MODE=FAST; tiles make the workspace smaller",
            ),
            _ => advice(
                "watch the free memory while it runs, and look for a limit of the process",
                "another process may have come and gone at the moment of the request; MPS, ulimit -v and the host's memory (WSL, Windows) refuse \
                 with free memory on the device, too",
            ),
        }
    }

    pub(in crate::rules::messages) fn sentence(&self, decided: CauseId) -> String {
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
            CauseId::Unclear => self.sentence_of_unclear(),
            _ => format!(
                "{} of the device's {total} are held by other processes, or by libraries of this process: the message does not tell",
                self.unexplained().max(self.others)
            ),
        }
    }

    fn sentence_of_unclear(&self) -> String {
        let Numbers { requested, total, free, allocated, cached, .. } = *self;
        if self.is_no_size() {
            return sentence_of_no_size();
        }
        if self.has_room() {
            return format!("{requested} were refused with {free} of the device free");
        }
        if self.is_waiting() {
            return format!(
                "{} are freed and still active: they wait for other streams (record_stream) and serve no request; {cached} more are in the cache, and \
                 {requested} were requested",
                self.waiting
            );
        }
        if self.unexplained() < Bytes(total.0 / 100) {
            return format!(
                "{} of {total} are allocated or requested, and nothing else is large: {cached} in the cache, {} outside PyTorch, {} of other \
                 processes",
                allocated + requested,
                self.outside.unwrap_or_default(),
                self.others
            );
        }
        format!(
            "{allocated} allocated and {requested} requested are {} of {total}; {} are in no figure of the message: a CUDA context, a \
             display, libraries or other processes",
            allocated + requested,
            self.unexplained()
        )
    }
}

pub(super) fn sentence_of_no_size() -> String {
    "the request is not a size of a tensor: a dimension is negative, or was read from a wrong or corrupt value"
        .to_owned()
}

pub(super) fn find_wrong_size() -> Remedy {
    advice(
        "find the wrong size: print the shapes right before the failing call",
        "a length that was read from a tensor, a file or another rank may be garbage; no device has such memory, and no other program is in the way",
    )
}

/// True for a request that Arc GPUs refuse.
pub(super) fn is_beyond_arc(requested: Bytes) -> bool {
    requested > LARGEST_OF_ARC
}

pub(super) fn split_for_arc() -> Remedy {
    advice(
        "a tensor of at most 4 GiB: Arc GPUs refuse a larger single allocation",
        "UR_L0_ENABLE_RELAXED_ALLOCATION_LIMITS=1 lifts the limit of Level Zero in recent drivers; a smaller batch or tiles keep below it",
    )
}

/// Returns the remedy with its largest possible effect in its name.
fn with_most(remedy: Remedy, bytes: Bytes) -> Remedy {
    Remedy { remedy: format!("{} (at most {bytes})", remedy.remedy), ..remedy }
}
