//! Words for the rows of lists: devices, errors, inputs, ranks.

use trace::text::{Framework, OomKind, StatedBytes, StatedOom};

use super::layout::keep_end;
use crate::check::Rank;
use crate::explain::{ExplainReport, Input, InputKind};

/// PyTorch's name of a device; `GPU 1` for another framework.
pub(super) fn words_of_device(framework: Framework, index: u32) -> String {
    match framework {
        Framework::Cuda => format!("cuda:{index}"),
        Framework::Hip => format!("hip:{index}"),
        Framework::Xpu => format!("xpu:{index}"),
        Framework::Mps => format!("mps:{index}"),
        Framework::Npu => format!("npu:{index}"),
        _ => format!("GPU {index}"),
    }
}

/// The exhausted memory, for an error without the size of the request.
pub(super) fn words_of_kind(kind: OomKind) -> &'static str {
    match kind {
        OomKind::Allocator => "PyTorch's allocator got no memory",
        OomKind::Rejected => "PyTorch refused a request beyond the allowed fraction",
        OomKind::AsyncAllocator => "the cudaMallocAsync backend got no memory",
        OomKind::DeviceCall => "a CUDA call outside PyTorch's allocator got no memory",
        OomKind::Context => "a CUDA context could not be made",
        OomKind::Cublas => "cuBLAS got no memory",
        OomKind::Cudnn => "cuDNN got no memory",
        OomKind::MathLibrary => "cuFFT, cuSOLVER or cuSPARSE got no memory",
        OomKind::Nccl => "NCCL got no memory",
        OomKind::Foreign => "another framework got no memory",
        OomKind::HostAllocation => "the host's memory was full",
        OomKind::SharedMemory => "the host's shared memory was full",
        OomKind::Killed => "the kernel killed a process",
        OomKind::Ended => "a process was ended from outside",
    }
}

/// `crash.log:120: rank 3, cuda:0, 2.00 GiB requested, 1.20 GiB free`, by its place in the list of errors.
pub(super) fn words_of_error(report: &ExplainReport, index: usize, oom: &StatedOom) -> String {
    let input = report.oom_inputs.get(index).and_then(|&input| report.inputs.get(input));
    let file = input.map_or_else(|| "line ".to_owned(), |input| keep_end(path_of_input(input), 40) + ":");
    let rank = oom.rank.map(|rank| format!("rank {rank}"));
    let device = oom.device_index.map(|index| words_of_device(oom.framework, index));
    let asked = oom.requested_bytes.map(words_of_request);
    let asked = asked.unwrap_or_else(|| words_of_kind(oom.kind).to_owned());
    let free = oom.free_bytes.map(|bytes| format!("{} free", bytes.nearest));
    let again = (oom.occurrences > 1).then(|| words_of_printings(oom));
    let group = oom.group.map(|group| format!("last of {} errors since line {}", group.errors, group.first_line));
    let facts = [rank, device, Some(asked), free, again, group];
    format!("{file}{}: {}", oom.line, facts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

/// `2.00 GiB requested`; a size that no tensor has is not shown as a figure.
pub(super) fn words_of_request(bytes: StatedBytes) -> String {
    const NO_TENSOR: u64 = 1 << 50;
    if bytes.nearest.0 >= NO_TENSOR {
        "more than 1 PiB requested".to_owned()
    } else {
        format!("{} requested", bytes.nearest)
    }
}

/// Tests for an error that a text prints more often than loggers and launchers repeat one.
pub(super) fn is_printed_often(oom: &StatedOom) -> bool {
    oom.occurrences > 10
}

/// `printed 3 times`; of an error that is printed often the last line too.
fn words_of_printings(oom: &StatedOom) -> String {
    let last = is_printed_often(oom).then(|| format!(", last on line {}", oom.last_line));
    format!("printed {} times{}", oom.occurrences, last.unwrap_or_default())
}

/// `snapshot, rank 1, as PyTorch 2.10 or 2.11 writes it`.
pub(super) fn words_of_input(input: &Input) -> String {
    let kind = match input.kind {
        InputKind::Snapshot => "snapshot",
        InputKind::Run => "run of oomph",
        InputKind::Text => "text",
    };
    let torch = input.torch.as_ref().map(|torch| format!("as PyTorch {torch} writes it"));
    let rank = input.rank.map(|rank| format!("rank {rank}"));
    [Some(kind.to_owned()), rank, torch].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// `rank 1`; the file's name without a known rank.
pub(super) fn name_of_input(input: &Input) -> String {
    input.rank.map_or_else(|| path_of_input(input).to_owned(), |rank| format!("rank {rank}"))
}

/// The path as the user named it; words for standard input.
pub(super) fn path_of_input(input: &Input) -> &str {
    if input.path == "-" { "standard input" } else { &input.path }
}

/// `rank 0    cuda:0      2.93 GiB on the device,    2.00 GiB allocated, ran out`.
pub(super) fn words_of_rank(rank: &Rank) -> String {
    let Rank { rank, device, peak, oom } = rank;
    let end = if *oom { ", ran out" } else { "" };
    let (used, allocated) = (peak.device_bytes, peak.allocated_bytes);
    format!("rank {rank:<4} cuda:{device:<3} {used:>11} on the device, {allocated:>11} allocated{end}")
}
