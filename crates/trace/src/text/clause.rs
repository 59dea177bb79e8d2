//! The numbers of an out-of-memory message, identified by the words around them.
//!
//! # Note [Clauses]
//! From 1.0 to 2.15, on every kind of device, the messages are lists of sizes with words before or after each size.
//! Order and content differ by version, so there is no grammar per version: every size is visited in turn, and the
//! words around it identify its meaning. The table holds only as many words as distinguish the sizes, so that a message
//! cut off in the middle is still understood. A size with unknown words, a second size of the same meaning, or a gap
//! without any size ends the message: the rest is another line of the log.

use memchr::memmem;

use super::artifact::{OtherProcess, StatedOom};
use super::normalize::Normalized;
use super::size;
use super::stated::StatedBytes;
use crate::bytes::Bytes;

/// The most letters between two sizes of one message, including the words of both.
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
    /// Known, but unused.
    Other,
}

/// The words before a size, the words after it (without blanks), and its meaning.
///
/// Sources: c10/cuda/CUDACachingAllocator.cpp of PyTorch 1.0 (pull request 13751), 1.4 (35901), 1.8 (48172), 2.1, 2.4,
/// 2.12 and 2.15; c10/cuda/CUDAMallocAsyncAllocator.cpp of 2.0; c10/xpu/XPUCachingAllocator.cpp and
/// aten/src/ATen/mps/MPSAllocator.mm of 2.6; NPUCachingAllocator.cpp of torch_npu 2.1; c10/core/impl/alloc_cpu.cpp;
/// NCCL 2.30; mm/oom_kill.c of Linux.
const CLAUSES: [(&str, &str, Field); 40] = [
    ("Triedtoallocatemorethan", "", Field::Requested),
    ("Triedtoallocate", "", Field::Requested),
    ("Requestedsize:", "", Field::Requested),
    ("youtriedtoallocate", "", Field::Requested),
    ("youtriedtommap", "", Field::Requested),
    ("unabletommap", "", Field::Requested),
    ("Unabletoallocate", "foranarray", Field::Requested),
    ("CUDAcalloc", "", Field::Requested),
    ("CUDAmalloc", "", Field::Requested),
    ("CUDAhostalloc", "", Field::Requested),
    ("CUDAhostcalloc", "", Field::Requested),
    ("butonly", "", Field::Free),
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

/// Reads the sizes of the message at the start of `message` into `oom`; returns the end of the last one's words.
///
/// The anchor of the message ends at `anchor`; the first size follows closely.
pub(super) fn read(message: &Normalized, anchor: usize, oom: &mut StatedOom) -> usize {
    read_bytes(&message.bytes, anchor, oom, false)
}

/// [`read`] for a message whose beginning is cut off: sizes with unknown words are passed over up to the anchor.
pub(super) fn read_part(message: &Normalized, anchor: usize, oom: &mut StatedOom) -> usize {
    read_bytes(&message.bytes, anchor, oom, true)
}

/// [`read`] for the letters of a message.
pub(super) fn read_bytes(bytes: &[u8], anchor: usize, oom: &mut StatedOom, is_part: bool) -> usize {
    let (mut end, mut at) = (0, 0);
    while at < bytes.len() && at < end.max(anchor) + WIDEST_GAP {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let Some((size, length)) = size::parse(&bytes[at..]) else {
            at += number_length(&bytes[at..]);
            continue;
        };
        let Some((field, behind)) = field(&bytes[..at], &bytes[at + length..]) else {
            if is_part && end == 0 {
                at += length;
                continue;
            }
            break;
        };
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

/// The meaning of a size, and the length of the words after it.
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

/// Sets `field`; `false` if it was set before.
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
    // A request is stated as it is, however large; for other sizes the largest number means "unknown" or "no limit".
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
    const MOST_DEVICES: u64 = 128;
    const WORDS: [&[u8]; 5] = [b"(GPU", b"GPU", b"(NPU", b"NPU", b"device"];
    let after = |word: &&[u8]| {
        memmem::find_iter(message, word).find_map(|at| {
            let rest = &message[at + word.len()..];
            let (number, length) = size::whole(rest)?;
            // A date follows the message of a log.
            let is_alone = !matches!(rest.get(length), Some(b'.') | None) || word == b"device";
            let is_alone = is_alone && number < MOST_DEVICES;
            is_alone.then(|| u32::try_from(number).ok()).flatten()
        })
    };
    WORDS.iter().find_map(after)
}

/// The number behind `cuda:`, as other frameworks name a device.
pub(super) fn cuda_device(message: &[u8]) -> Option<u32> {
    const MOST: u64 = 64;
    let numbers = memmem::find_iter(message, b"cuda:").filter_map(|at| size::whole(&message[at + b"cuda:".len()..]));
    numbers.map(|(number, _)| number).find(|number| *number < MOST).and_then(|number| u32::try_from(number).ok())
}

/// The process in a message about the host or from a launcher.
pub(super) fn pid(message: &[u8]) -> Option<u32> {
    const WORDS: [&[u8]; 8] =
        [b"killedprocess", b"killprocess", b"reapedprocess", b"(pid(s)", b"(pid:", b"(pid", b"bypid", b",pid="];
    let message = message.to_ascii_lowercase();
    let after = |word: &&[u8]| {
        memmem::find_iter(&message, word).find_map(|at| size::whole(&message[at + word.len()..])).map(|(pid, _)| pid)
    };
    WORDS.iter().find_map(after).and_then(|pid| u32::try_from(pid).ok())
}
