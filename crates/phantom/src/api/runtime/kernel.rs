//! Kernels: attributes, and launches that run nothing.

use std::ffi::{c_int, c_uint, c_void};

use super::CudaStatus;
use crate::boundary::{Out, export, inert};
use crate::cuda::kernel::{self, FuncAttributes};
use crate::{device, fatbin};

inert! { CudaStatus;
    __cudaLaunchKernel
    __cudaLaunchKernel_ptsz
    cudaFuncSetAttribute
    cudaFuncSetCacheConfig
    cudaFuncSetSharedMemConfig
    cudaLaunchCooperativeKernel
    cudaLaunchKernel
    cudaLaunchKernelExC
}

export! { CudaStatus;
    fn cudaFuncGetAttributes(attributes: Out<FuncAttributes>, function: *const c_void) {
        let profile = device::profile();
        attributes.set(kernel::attributes(profile, fatbin::arch_of(function as usize, profile.compute_capability)))
    }
    fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: Out<c_int>, _function: *const c_void, threads: c_int, shared_bytes: usize,
    ) {
        blocks.set(blocks_per_multiprocessor(threads, shared_bytes))
    }
    fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: Out<c_int>, _function: *const c_void, threads: c_int, shared_bytes: usize, _flags: c_uint,
    ) {
        blocks.set(blocks_per_multiprocessor(threads, shared_bytes))
    }
    fn cudaOccupancyAvailableDynamicSMemPerBlock(
        bytes: Out<usize>, _function: *const c_void, blocks: c_int, _threads: c_int,
    ) {
        let whole = device::profile().shared_memory_per_multiprocessor_bytes as usize;
        bytes.set(whole / usize::try_from(blocks.max(1)).unwrap_or(1))
    }
    fn cudaOccupancyMaxActiveClusters(clusters: Out<c_int>, _function: *const c_void, _config: *const c_void) {
        clusters.set(device::profile().multiprocessors as c_int)
    }
}

fn blocks_per_multiprocessor(threads: c_int, shared_bytes: usize) -> c_int {
    kernel::occupancy(device::profile(), u32::try_from(threads).unwrap_or(0), shared_bytes as u64) as c_int
}
