//! NCCL: communicators that know their size and rank, and collectives that move small values only ([`collectives`]).
//!
//! Every rank is assumed to arrive at once, so no call waits. NCCL's own memory is a model (`memory`). Windows and
//! device communicators, which programs would use from their own kernels, are absent.

pub(crate) mod collectives;
mod memory;
pub(crate) mod split;

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use self::memory::{Connection, Held};
use self::split::NO_COLOR;
use crate::api::runtime::memory::{cudaFree, cudaMalloc};
use crate::boundary::{In, Out, Status, absent, export, literal};
use crate::handle::{Handle, Table};
use crate::ledger::OutOfMemory;
pub(crate) use crate::status::NcclResult;

/// `ncclUnhandledCudaError`: the runtime refused, e.g. for want of memory.
const CUDA_ERROR: NcclResult = NcclResult(1);

/// `ncclInvalidUsage`: e.g. a group that ends and never started.
const INVALID_USAGE: NcclResult = NcclResult(5);

/// `NCCL_VERSION_CODE` of `nccl.h`: 2.28.9.
const VERSION: i32 = 22_809;

/// `ncclNumOps`: operators that programs create are numbered from here.
static NEXT_OPERATOR: AtomicI32 = AtomicI32::new(5);

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// `ncclUniqueId`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct UniqueId {
    bytes: [u8; 128],
}

/// `ncclSimInfo_t`, of which only the last field is an answer.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct SimInfo {
    size: usize,
    magic: u32,
    version: u32,
    estimated_time: f32,
}

/// One rank's end of a communicator.
#[derive(Clone, Copy, Debug)]
struct Communicator {
    count: i32,
    rank: i32,
    device: i32,
}

static COMMUNICATORS: Table<(Communicator, Held)> = Table::new();
static REGISTRATIONS: Table<()> = Table::new();

/// NCCL's text in `ncclGetLastError` after a request that did not fit on the device.
const OUT_OF_MEMORY: &CStr = c"Cuda failure 2 'out of memory'";

thread_local! {
    static GROUP_DEPTH: Cell<u32> = const { Cell::new(0) };
    static LAST_ERROR: Cell<&'static CStr> = const { Cell::new(c"") };
}

fn communicator(handle: Handle) -> Result<Communicator, NcclResult> {
    COMMUNICATORS.with(handle, |(known, _)| *known).ok_or(NcclResult::INVALID)
}

/// Connects a communicator for the requested kind of traffic.
fn connect(handle: Handle, connection: Connection) -> Result<Communicator, NcclResult> {
    let connected = COMMUNICATORS.with(handle, |(known, held)| {
        held.connect(connection, known.count, known.device).map(|()| *known).map_err(refuse)
    });
    connected.ok_or(NcclResult::INVALID)?
}

/// Sets the text of a request that did not fit, and returns its status.
fn refuse(_: OutOfMemory) -> NcclResult {
    LAST_ERROR.set(OUT_OF_MEMORY);
    CUDA_ERROR
}

fn create(handle: Out<Handle>, count: i32, rank: i32) -> Result<(), NcclResult> {
    if handle.is_null() || count < 1 || !(0..count).contains(&rank) {
        return Err(NcclResult::INVALID);
    }
    handle.set(insert(Communicator { count, rank, device: crate::cuda::context::current() as i32 })?)
}

fn insert(communicator: Communicator) -> Result<Handle, NcclResult> {
    memory::start(communicator.device).map_err(refuse)?;
    Ok(COMMUNICATORS.insert((communicator, Held::default())))
}

fn destroy(handle: Handle) -> Result<(), NcclResult> {
    let (known, held) = COMMUNICATORS.remove(handle).ok_or(NcclResult::INVALID)?;
    held.release(known.device);
    Ok(())
}

fn end_group() -> Result<(), NcclResult> {
    let depth = GROUP_DEPTH.get();
    GROUP_DEPTH.set(depth.checked_sub(1).ok_or(INVALID_USAGE)?);
    Ok(())
}

export! { NcclResult;
    fn ncclGetVersion(version: Out<i32>) {
        // See Note [Version answers] in `version.rs`.
        version.set(crate::resolve::ask_number("libnccl.so.", c"ncclGetVersion").unwrap_or(VERSION))
    }

    fn ncclGetUniqueId(id: Out<UniqueId>) {
        // Only that identifiers differ matters; a counter keeps runs the same.
        let mut bytes = [0; 128];
        bytes[..8].copy_from_slice(&NEXT_ID.fetch_add(1, Ordering::Relaxed).to_le_bytes());
        id.set(UniqueId { bytes })
    }

    fn ncclCommInitRank(handle: Out<Handle>, count: i32, _id: UniqueId, rank: i32) { create(handle, count, rank) }

    fn ncclCommInitRankConfig(handle: Out<Handle>, count: i32, _id: UniqueId, rank: i32, _config: *mut c_void) {
        create(handle, count, rank)
    }

    fn ncclCommInitRankScalable(
        handle: Out<Handle>, count: i32, rank: i32, _id_count: i32, _ids: In<UniqueId>, _config: *mut c_void,
    ) { create(handle, count, rank) }

    fn ncclCommInitAll(handles: Out<Handle>, count: i32, devices: In<i32>) {
        let total = usize::try_from(count).map_err(|_| NcclResult::INVALID)?;
        for index in 0..total {
            let rank = index as i32;
            let device = if devices.is_null() { rank } else { devices.array(total).get::<NcclResult>(index)? };
            handles.array(total).set::<NcclResult>(index, insert(Communicator { count, rank, device })?)?;
        }
        Ok(())
    }

    fn ncclCommSplit(parent: Handle, color: i32, _key: i32, handle: Out<Handle>, _config: *mut c_void) {
        let parent = communicator(parent)?;
        if color == NO_COLOR {
            return handle.set(std::ptr::null_mut());
        }
        if let Some((count, rank)) = split::find_group(color) {
            return create(handle, count, rank);
        }
        let text = "a communicator that was split off is assumed to have all ranks of its parent";
        crate::journal::record_assumption("nccl-split", text, 0);
        create(handle, parent.count, parent.rank)
    }

    fn ncclCommShrink(
        parent: Handle, excluded: In<i32>, excluded_count: i32, handle: Out<Handle>, _config: *mut c_void, _flags: i32,
    ) {
        let parent = communicator(parent)?;
        let total = usize::try_from(excluded_count).map_err(|_| NcclResult::INVALID)?;
        let excluded = excluded.array(total).to_vec::<NcclResult>()?;
        let below = excluded.iter().filter(|rank| **rank < parent.rank).count() as i32;
        create(handle, parent.count - excluded_count, parent.rank - below)
    }

    fn ncclCommFinalize(handle: Handle) { communicator(handle).map(drop) }
    fn ncclCommRevoke(handle: Handle, _flags: i32) { communicator(handle).map(drop) }
    fn ncclCommDestroy(handle: Handle) { destroy(handle) }
    fn ncclCommAbort(handle: Handle) { destroy(handle) }

    fn ncclCommGetAsyncError(handle: Handle, error: Out<NcclResult>) {
        communicator(handle)?;
        error.set(NcclResult::SUCCESS)
    }
    fn ncclCommCount(handle: Handle, count: Out<i32>) { count.set(communicator(handle)?.count) }
    fn ncclCommUserRank(handle: Handle, rank: Out<i32>) { rank.set(communicator(handle)?.rank) }
    fn ncclCommCuDevice(handle: Handle, device: Out<i32>) { device.set(communicator(handle)?.device) }

    fn ncclCommRegister(handle: Handle, _buffer: usize, _bytes: usize, registration: Out<Handle>) {
        communicator(handle)?;
        registration.set(REGISTRATIONS.insert(()))
    }
    fn ncclCommDeregister(handle: Handle, registration: Handle) {
        communicator(handle)?;
        REGISTRATIONS.remove(registration).ok_or(NcclResult::INVALID)
    }

    fn ncclRedOpCreatePreMulSum(operator: Out<i32>, _scalar: usize, _data_type: i32, _residence: i32, handle: Handle) {
        communicator(handle)?;
        operator.set(NEXT_OPERATOR.fetch_add(1, Ordering::Relaxed))
    }
    fn ncclRedOpDestroy(_operator: i32, handle: Handle) { communicator(handle).map(drop) }

    fn ncclGroupStart() {
        GROUP_DEPTH.set(GROUP_DEPTH.get() + 1);
        Ok(())
    }
    fn ncclGroupEnd() { end_group() }
    fn ncclGroupSimulateEnd(info: Out<SimInfo>) {
        end_group()?;
        if !info.is_null() {
            let known = info.get::<NcclResult>()?;
            info.set_if_wanted(SimInfo { estimated_time: 0.0, ..known });
        }
        Ok(())
    }

    fn ncclMemAlloc(address: Out<usize>, bytes: usize) {
        if cudaMalloc(address, bytes).0 == 0 { Ok(()) } else { Err(CUDA_ERROR) }
    }
    fn ncclMemFree(address: usize) {
        if cudaFree(address).0 == 0 { Ok(()) } else { Err(CUDA_ERROR) }
    }
}

absent! { NcclResult;
    ncclCommWindowDeregister ncclCommWindowRegister ncclDevCommCreate ncclDevCommDestroy
}

/// `ncclGetErrorString`, as NCCL's header declares it.
#[unsafe(no_mangle)]
pub extern "C" fn ncclGetErrorString(result: NcclResult) -> *const c_char {
    literal(match result.0 {
        0 => c"no error",
        1 => c"unhandled cuda error",
        2 => c"unhandled system error",
        3 => c"internal error of the phantom GPU",
        4 => c"invalid argument",
        5 => c"invalid usage",
        6 => c"remote process exited or there was a network error",
        7 => c"NCCL operation in progress",
        _ => c"unknown result code",
    })
}

/// `ncclGetLastError`, as declared in NCCL's header: the thread's last error with a text beyond its status.
#[unsafe(no_mangle)]
pub extern "C" fn ncclGetLastError(_communicator: Handle) -> *const c_char {
    literal(LAST_ERROR.get())
}

/// `ncclResetDebugInit`, as declared in NCCL's header: no debug output exists to reset.
#[unsafe(no_mangle)]
pub extern "C" fn ncclResetDebugInit() {}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    fn unique_id() -> UniqueId {
        let mut id = UniqueId { bytes: [7; 128] };
        assert_eq!(ncclGetUniqueId(Out::to(&mut id)), NcclResult::SUCCESS);
        id
    }

    fn join(count: i32, rank: i32) -> Handle {
        let mut handle = std::ptr::null_mut();
        assert_eq!(ncclCommInitRank(Out::to(&mut handle), count, unique_id(), rank), NcclResult::SUCCESS);
        handle
    }

    fn size_and_rank(handle: Handle) -> Option<(i32, i32)> {
        let (mut count, mut rank) = (0, 0);
        let status = ncclCommCount(handle, Out::to(&mut count));
        assert_eq!(ncclCommUserRank(handle, Out::to(&mut rank)), status);
        (status == NcclResult::SUCCESS).then_some((count, rank))
    }

    /// `sizeof` and `offsetof` printed by a C++ program over `nccl.h` 2.28.9 (g++ 12, x86-64).
    #[test]
    fn structs_are_laid_out_as_the_header_says() {
        assert_eq!((size_of::<UniqueId>(), align_of::<UniqueId>()), (128, 1));
        assert_eq!((size_of::<SimInfo>(), offset_of!(SimInfo, estimated_time)), (24, 16));
    }

    #[test]
    fn identifiers_differ_and_are_written_whole() {
        let (first, second) = (unique_id(), unique_id());
        assert_ne!(first.bytes, second.bytes);
        assert_eq!(first.bytes[8..], [0; 120]);
    }

    #[test]
    fn a_communicator_knows_its_size_and_rank_until_destroyed() {
        let handle = join(64, 3);
        assert_eq!(size_and_rank(handle), Some((64, 3)));
        let mut error = NcclResult(7);
        assert_eq!(ncclCommGetAsyncError(handle, Out::to(&mut error)), NcclResult::SUCCESS);
        assert_eq!(error, NcclResult::SUCCESS);
        assert_eq!(ncclCommDestroy(handle), NcclResult::SUCCESS);
        assert_eq!(size_and_rank(handle), None);
    }

    #[test]
    fn ranks_outside_the_communicator_are_refused() {
        for (count, rank) in [(0, 0), (4, 4), (4, -1)] {
            let mut handle = std::ptr::null_mut();
            let status = ncclCommInitRank(Out::to(&mut handle), count, unique_id(), rank);
            assert_eq!(status, NcclResult::INVALID, "rank {rank} of {count}");
        }
    }

    #[test]
    fn a_split_keeps_all_ranks_and_no_colour_means_no_communicator() {
        let parent = join(8, 2);
        let mut child = std::ptr::null_mut();
        assert_eq!(ncclCommSplit(parent, 1, 0, Out::to(&mut child), std::ptr::null_mut()), NcclResult::SUCCESS);
        assert_eq!(size_and_rank(child), Some((8, 2)));
        assert_eq!(ncclCommSplit(parent, NO_COLOR, 0, Out::to(&mut child), std::ptr::null_mut()), NcclResult::SUCCESS);
        assert!(child.is_null());
    }

    #[test]
    fn shrinking_moves_ranks_down() {
        let (parent, excluded) = (join(8, 5), [1, 6]);
        let mut child = std::ptr::null_mut();
        let list = In::to(&excluded).cast();
        let status = ncclCommShrink(parent, list, 2, Out::to(&mut child), std::ptr::null_mut(), 0);
        assert_eq!((status, size_and_rank(child)), (NcclResult::SUCCESS, Some((6, 4))));
    }

    #[test]
    fn groups_nest_and_end_no_more_often_than_they_start() {
        let mut info = SimInfo { size: 24, magic: 0x7468_5283, version: 22_809, estimated_time: -1.0 };
        assert_eq!(ncclGroupStart(), NcclResult::SUCCESS);
        assert_eq!(ncclGroupStart(), NcclResult::SUCCESS);
        assert_eq!(ncclGroupEnd(), NcclResult::SUCCESS);
        assert_eq!(ncclGroupSimulateEnd(Out::to(&mut info)), NcclResult::SUCCESS);
        assert!(info.estimated_time.abs() < f32::EPSILON && info.magic == 0x7468_5283);
        assert_eq!(ncclGroupEnd(), INVALID_USAGE);
    }

    #[test]
    fn operators_of_the_program_never_collide_with_the_built_in_ones() {
        let handle = join(2, 0);
        let mut operators = [0; 2];
        for operator in &mut operators {
            assert_eq!(ncclRedOpCreatePreMulSum(Out::to(operator), 0, 7, 0, handle), NcclResult::SUCCESS);
        }
        assert!(operators[0] >= 5 && operators[1] > operators[0]);
    }
}
