//! The numbers of an out-of-memory message: each is known by the words beside it.
//!
//! # Note [Clauses]
//! From 1.0 to 2.15, on every kind of device, the messages are lists of sizes with words before or behind them. They
//! differ in the order and in what is there, so they are not parsed by a grammar for each version: every size is looked at in
//! turn, and the words beside it say what it is. The table holds no more of the words than tell it from the others, so
//! that a message which is cut off in the middle of them is still understood. A size with other words, a second one of the same
//! kind, or a gap without any size ends the message: what follows is another line of the log.

use memchr::memmem;

use super::artifact::{OtherProcess, StatedOom};
use super::size;
use super::squeeze::Squeezed;
use super::stated::StatedBytes;
use crate::bytes::Bytes;

/// The most letters between two sizes of one message, with the words that belong to them.
pub(super) const WIDEST_GAP: usize = 112;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Requested,
    Total,
    Free,
    Allocated,
    Reserved,
    Unallocated,
    PrivatePools,
    ThisProcess,
    Process,
    Allowed,
    OtherAllocations,
    SegmentReserve,
    /// Known and of no use.
    Other,
}

/// Words before a size, words behind it (without blanks), and what it is.
///
/// Sources: c10/cuda/CUDACachingAllocator.cpp of PyTorch 1.0 (pull request 13751), 1.4 (35901), 1.8 (48172), 2.1, 2.4, 2.12 and
/// 2.15; c10/cuda/CUDAMallocAsyncAllocator.cpp of 2.0; c10/xpu/XPUCachingAllocator.cpp and aten/src/ATen/mps/MPSAllocator.mm
/// of 2.6; NPUCachingAllocator.cpp of torch_npu 2.1; c10/core/impl/alloc_cpu.cpp; NCCL 2.30; mm/oom_kill.c of Linux.
const CLAUSES: [(&str, &str, Field); 38] = [
    ("Triedtoallocatemorethan", "", Field::Requested),
    ("Triedtoallocate", "", Field::Requested),
    ("Requestedsize:", "", Field::Requested),
    ("youtriedtoallocate", "", Field::Requested),
    ("youtriedtommap", "", Field::Requested),
    ("unabletommap", "", Field::Requested),
    ("CUDAcalloc", "", Field::Requested),
    ("CUDAmalloc", "", Field::Requested),
    ("CUDAhostalloc", "", Field::Requested),
    ("CUDAhostcalloc", "", Field::Requested),
    ("totalcapacityof", "", Field::Total),
    ("totalcapactyof", "", Field::Total),
    ("ofwhich", "", Field::Free),
    ("thisprocesshas", "", Field::ThisProcess),
    ("Oftheallocatedmemory", "", Field::Allocated),
    ("with", "allocatedin", Field::PrivatePools),
    ("and", "isreserved", Field::Unallocated),
    ("MPSallocated:", "", Field::Allocated),
    ("otherallocations:", "", Field::OtherAllocations),
    ("maxallowed:", "", Field::Allowed),
    ("Currentlyallocated:", "", Field::Allocated),
    ("Requested:", "", Field::Requested),
    ("Devicelimit:", "", Field::Total),
    ("Free(accordingtoCUDA):", "", Field::Free),
    ("memoryfraction):", "", Field::Allowed),
    ("segmentreserveof", "", Field::SegmentReserve),
    ("isatleast", "", Field::Other),
    ("total-vm:", "", Field::Other),
    ("anon-rss:", "", Field::ThisProcess),
    ("largerthan", "", Field::Other),
    (";", "totalcap", Field::Total),
    (";", "already", Field::Allocated),
    (";", "currentactive", Field::Other),
    (";", "free", Field::Free),
    (";", "allowed", Field::Allowed),
    (".", "allowed", Field::Allowed),
    (";", "reserved", Field::Reserved),
    (";", "cached", Field::Unallocated),
];

/// Reads the sizes of the message at the start of `message` into `oom`, and gives where the last one's words end.
///
/// The words by which the message was found end at `anchor`; the first size is not far behind them.
pub(super) fn read(message: &Squeezed, anchor: usize, oom: &mut StatedOom) -> usize {
    let (mut end, mut at) = (0, 0);
    let bytes = &message.bytes;
    while at < bytes.len() && at < end.max(anchor) + WIDEST_GAP {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let Some((size, length)) = size::parse(&bytes[at..]) else {
            at += number_length(&bytes[at..]);
            continue;
        };
        let Some((field, behind)) = field(&bytes[..at], &bytes[at + length..]) else { break };
        let pid = if field == Field::Process { process(&bytes[..at]) } else { None };
        if !set(oom, field, pid, size) {
            break;
        }
        at += length + behind;
        end = at;
    }
    raise_bound(bytes, oom);
    end
}

fn number_length(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count()
}

/// What a size is, and how long the words behind it are.
fn field(before: &[u8], behind: &[u8]) -> Option<(Field, usize)> {
    if process(before).is_some() {
        return Some((Field::Process, 0));
    }
    let fits = |(left, right, _): &&(&str, &str, Field)| {
        before.ends_with(left.as_bytes()) && behind.starts_with(right.as_bytes())
    };
    CLAUSES.iter().find(fits).map(|(_, right, field)| (*field, right.len()))
}

/// The number of the process in `…Process4242has`.
fn process(before: &[u8]) -> Option<u32> {
    let before = before.strip_suffix(b"has")?;
    let digits = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (words, number) = before.split_at(before.len() - digits);
    let number = std::str::from_utf8(number).ok()?.parse().ok()?;
    words.ends_with(b"Process").then_some(number)
}

/// Whether `field` was still free.
fn set(oom: &mut StatedOom, field: Field, pid: Option<u32>, size: StatedBytes) -> bool {
    let known = Some(size).filter(|size| size.nearest.0 < size::NOT_AVAILABLE);
    let place = match field {
        Field::Requested => &mut oom.requested_bytes,
        Field::Total => &mut oom.total_bytes,
        Field::Free => &mut oom.free_bytes,
        Field::Allocated => &mut oom.allocated_bytes,
        Field::Reserved => &mut oom.reserved_bytes,
        Field::Unallocated => &mut oom.reserved_unallocated_bytes,
        Field::PrivatePools => &mut oom.private_pools_bytes,
        Field::ThisProcess => &mut oom.process_bytes,
        Field::Allowed => &mut oom.allowed_bytes,
        Field::OtherAllocations => &mut oom.other_allocations_bytes,
        Field::SegmentReserve => &mut oom.segment_reserve_bytes,
        Field::Process => {
            oom.other_processes.extend(pid.map(|pid| OtherProcess { pid, bytes: known }));
            return true;
        }
        Field::Other => return true,
    };
    if place.is_some() {
        return false;
    }
    // A request is stated as it is, however large; of other sizes the largest number means "unknown" or "no limit".
    *place = if field == Field::Requested { Some(size) } else { known };
    true
}

/// `more than 1EB` has no upper bound.
fn raise_bound(bytes: &[u8], oom: &mut StatedOom) {
    if let Some(requested) = &mut oom.requested_bytes
        && requested.nearest.0 >= 1 << 60
        && memmem::find(bytes, b"morethan").is_some()
    {
        requested.highest = Bytes(u64::MAX);
    }
}

/// The number of the device: `GPU 0;`, `GPU 0 has`, `NPU 3;`, `device 0`, `GPU:0`.
pub(super) fn device(message: &[u8]) -> Option<u32> {
    const WORDS: [&[u8]; 5] = [b"(GPU", b"GPU", b"(NPU", b"NPU", b"device"];
    let after = |word: &&[u8]| {
        memmem::find_iter(message, word).find_map(|at| {
            let rest = &message[at + word.len()..];
            let (number, length) = size::whole(rest)?;
            let is_alone = !matches!(rest.get(length), Some(b'.') | None) || word == b"device";
            is_alone.then(|| u32::try_from(number).ok()).flatten()
        })
    };
    WORDS.iter().find_map(after)
}

/// The process that a message of the host or of a launcher is about.
pub(super) fn pid(message: &[u8]) -> Option<u32> {
    const WORDS: [&[u8]; 8] =
        [b"killedprocess", b"killprocess", b"reapedprocess", b"(pid(s)", b"(pid:", b"(pid", b"bypid", b",pid="];
    let message = message.to_ascii_lowercase();
    let after = |word: &&[u8]| {
        memmem::find_iter(&message, word).find_map(|at| size::whole(&message[at + word.len()..])).map(|(pid, _)| pid)
    };
    WORDS.iter().find_map(after).and_then(|pid| u32::try_from(pid).ok())
}
