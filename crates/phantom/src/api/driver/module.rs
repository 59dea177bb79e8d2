//! Modules, libraries and kernels that programs load at run time (Triton, nvrtc): loaded, never run.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::DriverStatus;
use crate::boundary::{In, Out, export, inert};
use crate::cuda::{INVALID_HANDLE, INVALID_VALUE, context, kernel};
use crate::handle::{Handle, Table};
use crate::space::{self, RangeKind};
use crate::values::written;
use crate::{caller, device};

inert! { DriverStatus;
    cuFuncLoad
    cuFuncSetAttribute
    cuFuncSetCacheConfig
    cuKernelSetAttribute
    cuKernelSetCacheConfig
    cuTensorMapEncodeIm2col
    cuTensorMapEncodeIm2colWide
    cuTensorMapEncodeTiled
    cuTensorMapReplaceAddress
}

/// PyTorch launches its kernels through the runtime, but for those that it compiles itself. What others launch here is a program's own
/// kernel or one of Triton's, which may write into any tensor.
fn note_launch() {
    if !caller::owner().starts_with(PYTORCH) {
        written::note_anywhere();
    }
}

/// How the names of PyTorch's libraries begin.
const PYTORCH: &str = "libtorch";

static MODULES: Table<()> = Table::new();
static FUNCTIONS: Table<()> = Table::new();

/// Room for a variable of a loaded module, whose true size is in its cubin.
const VARIABLE_BYTES: usize = 4096;

export! { DriverStatus;
    fn cuModuleLoad(module: Out<Handle>, _path: In<c_char>) { module.set(MODULES.insert(())) }
    fn cuModuleLoadData(module: Out<Handle>, _image: *const c_void) { module.set(MODULES.insert(())) }
    fn cuModuleLoadDataEx(
        module: Out<Handle>, _image: *const c_void, _count: c_uint, _options: *const c_int, _values: *const *const c_void,
    ) {
        module.set(MODULES.insert(()))
    }
    fn cuModuleLoadFatBinary(module: Out<Handle>, _image: *const c_void) { module.set(MODULES.insert(())) }
    fn cuModuleUnload(module: Handle) { MODULES.remove(module).ok_or_else(|| INVALID_HANDLE.into()) }
    fn cuModuleGetLoadingMode(mode: Out<c_int>) { mode.set(2) } // lazy
    fn cuModuleGetFunction(function: Out<Handle>, module: Handle, _name: In<c_char>) {
        MODULES.with(module, |()| ()).ok_or(INVALID_HANDLE)?;
        function.set(FUNCTIONS.insert(()))
    }
    fn cuModuleGetGlobal_v2(address: Out<usize>, bytes: Out<usize>, module: Handle, _name: In<c_char>) {
        MODULES.with(module, |()| ()).ok_or(INVALID_HANDLE)?;
        let place = space::place(RangeKind::Symbol, context::current(), "symbol", VARIABLE_BYTES, 256).ok_or(INVALID_VALUE)?;
        address.set_if_wanted(place);
        bytes.set_if_wanted(VARIABLE_BYTES);
        Ok(())
    }
    fn cuLibraryLoadData(
        library: Out<Handle>, _code: *const c_void, _jit: *const c_int, _jit_values: *const *const c_void, _jit_count: c_uint,
        _options: *const c_int, _values: *const *const c_void, _count: c_uint,
    ) {
        library.set(MODULES.insert(()))
    }
    fn cuLibraryUnload(library: Handle) { MODULES.remove(library).ok_or_else(|| INVALID_HANDLE.into()) }
    fn cuLibraryGetKernel(function: Out<Handle>, library: Handle, _name: In<c_char>) {
        MODULES.with(library, |()| ()).ok_or(INVALID_HANDLE)?;
        function.set(FUNCTIONS.insert(()))
    }
    fn cuLibraryGetModule(module: Out<Handle>, library: Handle) { module.set(library) }
    fn cuKernelGetFunction(function: Out<Handle>, of: Handle) { function.set(of) }
    fn cuKernelGetAttribute(value: Out<c_int>, number: c_int, _kernel: Handle, _device: c_int) {
        value.set(kernel::attribute(device::profile(), number).ok_or(INVALID_VALUE)?)
    }
    fn cuFuncGetAttribute(value: Out<c_int>, number: c_int, _function: Handle) {
        value.set(kernel::attribute(device::profile(), number).ok_or(INVALID_VALUE)?)
    }
    fn cuLaunchKernel(_function: Handle) { note_launch(); Ok(()) }
    fn cuLaunchKernelEx(_config: *const c_void, _function: Handle) { note_launch(); Ok(()) }
    fn cuLaunchCooperativeKernel(_function: Handle) { note_launch(); Ok(()) }
    fn cuFuncIsLoaded(state: Out<c_int>, _function: Handle) { state.set(1) }
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks: Out<c_int>, _function: Handle, threads: c_int, shared_bytes: usize) {
        let threads = u32::try_from(threads).unwrap_or(0);
        blocks.set(kernel::occupancy(device::profile(), threads, shared_bytes as u64) as c_int)
    }
    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: Out<c_int>, _function: Handle, threads: c_int, shared_bytes: usize, _flags: c_uint,
    ) {
        let threads = u32::try_from(threads).unwrap_or(0);
        blocks.set(kernel::occupancy(device::profile(), threads, shared_bytes as u64) as c_int)
    }
    fn cuOccupancyMaxActiveClusters(clusters: Out<c_int>, _function: Handle, _config: *const c_void) {
        clusters.set(device::profile().multiprocessors as c_int)
    }
    fn cuLinkCreate_v2(_count: c_uint, _options: *const c_int, _values: *const *const c_void, state: Out<Handle>) {
        state.set(MODULES.insert(()))
    }
    fn cuLinkAddData_v2(
        state: Handle, _kind: c_int, _data: *const c_void, _bytes: usize, _name: In<c_char>, _count: c_uint,
        _options: *const c_int, _values: *const *const c_void,
    ) {
        MODULES.with(state, |()| ()).ok_or_else(|| INVALID_HANDLE.into())
    }
    fn cuLinkComplete(state: Handle, image: Out<*const c_void>, bytes: Out<usize>) {
        MODULES.with(state, |()| ()).ok_or(INVALID_HANDLE)?;
        // An empty image: `cuModuleLoadData` takes anything.
        image.set::<DriverStatus>(c"".as_ptr().cast())?;
        bytes.set(0)
    }
    fn cuLinkDestroy(state: Handle) { MODULES.remove(state).ok_or_else(|| INVALID_HANDLE.into()) }
}
