//! Kernels: the attributes that a program may query. No kernel runs.

use crate::device::Profile;
use crate::fatbin::Arch;

/// The assumed number of registers per thread of a kernel: the true number is in the cubin, which is not read. The
/// number decides occupancy, and through occupancy CUB's temporary storage; 13 tested programs had the same peaks with
/// any answer.
pub(crate) const REGISTERS: u32 = 32;

/// Threads per block that every kernel allows.
pub(crate) const MAX_THREADS_PER_BLOCK: u32 = 1024;

/// Blocks of a kernel that fit on a multiprocessor at once, by the occupancy formula of the CUDA C++ Programming
/// Guide: the least that threads, blocks, registers and shared memory allow.
pub(crate) fn occupancy(profile: &Profile, threads: u32, dynamic_shared_bytes: u64) -> u32 {
    if threads == 0 || threads > MAX_THREADS_PER_BLOCK {
        return 0;
    }
    let warps = threads.div_ceil(32);
    let by_threads = profile.threads_per_multiprocessor / (warps * 32);
    let by_registers = profile.registers_per_multiprocessor / (warps * 32 * REGISTERS);
    let shared = dynamic_shared_bytes + profile.reserved_shared_memory_per_block_bytes;
    let by_shared = profile.shared_memory_per_multiprocessor_bytes.checked_div(shared).unwrap_or(u64::MAX);
    let limit = profile.blocks_per_multiprocessor.min(by_threads).min(by_registers);
    u64::from(limit).min(by_shared) as u32
}

/// `cudaFuncAttributes` of CUDA 12 and 13.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FuncAttributes {
    pub(crate) shared_size_bytes: usize,
    pub(crate) const_size_bytes: usize,
    pub(crate) local_size_bytes: usize,
    pub(crate) max_threads_per_block: i32,
    pub(crate) num_regs: i32,
    pub(crate) ptx_version: i32,
    pub(crate) binary_version: i32,
    pub(crate) cache_mode_ca: i32,
    pub(crate) max_dynamic_shared_size_bytes: i32,
    pub(crate) preferred_shmem_carveout: i32,
    pub(crate) cluster_dim_must_be_set: i32,
    pub(crate) required_cluster: [i32; 3],
    pub(crate) cluster_scheduling_policy_preference: i32,
    pub(crate) non_portable_cluster_size_allowed: i32,
    pub(crate) reserved: [i32; 16],
}

/// The attributes of a kernel that runs as code for `arch`.
pub(crate) fn attributes(profile: &Profile, arch: Arch) -> FuncAttributes {
    let version = arch as i32;
    FuncAttributes {
        max_threads_per_block: MAX_THREADS_PER_BLOCK as i32,
        num_regs: REGISTERS as i32,
        ptx_version: version,
        binary_version: version,
        max_dynamic_shared_size_bytes: profile.shared_memory_per_block_bytes as i32,
        preferred_shmem_carveout: -1,
        ..FuncAttributes::default()
    }
}

/// An attribute of a kernel that was loaded at run time, and so compiled for this device, by the driver's number
/// (`CUfunction_attribute`); `None` for an unknown number.
pub(crate) fn attribute(profile: &Profile, number: i32) -> Option<i32> {
    let (major, minor) = profile.compute_capability;
    let all = attributes(profile, major * 10 + minor);
    Some(match number {
        0 => all.max_threads_per_block,
        1..=3 | 7 | 10..=13 | 15 => 0,
        4 => all.num_regs,
        5 => all.ptx_version,
        6 => all.binary_version,
        8 => all.max_dynamic_shared_size_bytes,
        9 => all.preferred_shmem_carveout,
        14 => 1,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occupancy_is_the_least_that_any_resource_allows() {
        let profile = Profile::default();
        // Threads, dynamic shared memory, expected blocks; an RTX 4090 holds 1536 threads, 24 blocks, 64 Ki registers
        // and 100 KiB of shared memory, 1 KiB of it reserved per block.
        let cases = [(1024, 0, 1), (512, 0, 3), (128, 0, 12), (32, 0, 24), (128, 49_152, 2), (0, 0, 0), (2048, 0, 0)];
        for (threads, shared, blocks) in cases {
            assert_eq!(occupancy(&profile, threads, shared), blocks, "{threads} threads, {shared} bytes");
        }
    }

    #[test]
    fn the_layout_is_that_of_the_header() {
        assert_eq!(size_of::<FuncAttributes>(), 144);
    }
}
