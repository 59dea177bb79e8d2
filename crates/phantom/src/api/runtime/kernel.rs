//! Kernels: attributes, and launches that run nothing, but are noted in a capture.

use std::ffi::{c_int, c_uint, c_void};

use super::CudaStatus;
use super::registration::Dim3;
use crate::boundary::{In, Out, export, inert};
use crate::cuda::capture;
use crate::cuda::graph::Work;
use crate::cuda::kernel::{self, FuncAttributes};
use crate::handle::Handle;
use crate::{device, fatbin, values};

inert! { CudaStatus;
    cudaFuncSetAttribute
    cudaFuncSetCacheConfig
    cudaFuncSetSharedMemConfig
}

/// `cudaLaunchConfig_t`, as far as it is read.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LaunchConfig {
    pub(crate) grid: Dim3,
    pub(crate) block: Dim3,
    pub(crate) dynamic_shared_bytes: usize,
    pub(crate) stream: Handle,
}

/// The launches whose parameters are alike.
macro_rules! launches {
    ($($name:ident)*) => {
        export! { CudaStatus;
            $(
                fn $name(
                    _function: *const c_void, _grid: Dim3, _block: Dim3, _arguments: *const *const c_void, _shared_bytes: usize,
                    stream: Handle,
                ) {
                    launch(stream)
                }
            )*
        }
    };
}

launches! {
    cudaLaunchKernel cudaLaunchCooperativeKernel __cudaLaunchKernel __cudaLaunchKernel_ptsz
}

export! { CudaStatus;
    fn cudaLaunchKernelExC(config: In<LaunchConfig>, _function: *const c_void, _arguments: *const *const c_void) {
        launch(config.get::<CudaStatus>()?.stream)
    }
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

/// A kernel runs nothing; in a capture it is a node.
fn launch(stream: Handle) -> Result<(), CudaStatus> {
    values::note_launch();
    Ok(capture::note(stream, Work::Kernel).map(drop)?)
}

fn blocks_per_multiprocessor(threads: c_int, shared_bytes: usize) -> c_int {
    kernel::occupancy(device::profile(), u32::try_from(threads).unwrap_or(0), shared_bytes as u64) as c_int
}
