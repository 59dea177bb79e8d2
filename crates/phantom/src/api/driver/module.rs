//! Modules, libraries and kernels that programs load at run time (Triton, nvrtc): loaded, never run.

use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_uint, c_void};

use super::DriverStatus;
use crate::boundary::{In, Out, export, inert};
use crate::cubin::{self, Parameters};
use crate::cuda::graph::Work;
use crate::cuda::{INVALID_HANDLE, INVALID_VALUE, capture, context, kernel};
use crate::handle::{Handle, Table};
use crate::ranges::is_device;
use crate::space::{self, RangeKind};
use crate::values::{self, written};
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

/// `CUlaunchConfig`, as far as it is read.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LaunchConfig {
    pub(crate) grid: [c_uint; 3],
    pub(crate) block: [c_uint; 3],
    pub(crate) shared_bytes: c_uint,
    pub(crate) stream: Handle,
}

/// Launches a kernel, which runs nothing: its possible writes are noted, and a capture gets a node.
fn launch(stream: Handle, function: Handle, parameters: *const *const c_void) -> Result<(), DriverStatus> {
    capture::note(stream, Work::Kernel)?;
    values::note_launch();
    note_launch(function, parameters);
    Ok(())
}

/// Notes a kernel's possible writes. PyTorch launches its precompiled kernels through the runtime, so this kernel
/// belongs to the program, to Triton, or to PyTorch's run-time compilation. `parameters` are the addresses of the
/// arguments.
fn note_launch(function: Handle, parameters: *const *const c_void) {
    if caller::owner().starts_with(PYTORCH) {
        return;
    }
    let sizes = FUNCTIONS.with(function, |sizes| sizes.clone()).flatten();
    let Some(sizes) = sizes.filter(|_| !parameters.is_null()) else { return written::note_anywhere() };
    for (index, _) in sizes.iter().enumerate().filter(|(_, size)| **size == size_of::<usize>()) {
        // SAFETY: `cuLaunchKernel`'s contract is an address for each parameter of the kernel, of an argument of the
        // parameter's size.
        let argument = unsafe { (*parameters.add(index)).cast::<usize>().read_unaligned() };
        if is_device(argument) {
            written::note(argument, 1);
        }
    }
}

/// Finds a kernel by name.
fn function_of(module: Handle, name: In<c_char>) -> Result<Handle, DriverStatus> {
    let name = name.text().ok_or(INVALID_VALUE)?;
    let parameters = MODULES.with(module, |kernels| kernels.get(name.as_bytes()).cloned()).ok_or(INVALID_HANDLE)?;
    Ok(FUNCTIONS.insert(parameters))
}

/// The common prefix of PyTorch's libraries.
const PYTORCH: &str = "libtorch";

/// Loaded code: the known parameters of its kernels.
static MODULES: Table<BTreeMap<Vec<u8>, Parameters>> = Table::new();
/// Kernels: their parameters, if known.
static FUNCTIONS: Table<Option<Parameters>> = Table::new();

/// Bytes for a variable of a loaded module, whose true size is in its cubin.
const VARIABLE_BYTES: usize = 4096;

export! { DriverStatus;
    fn cuModuleLoad(module: Out<Handle>, _path: In<c_char>) { module.set(MODULES.insert(BTreeMap::new())) }
    fn cuModuleLoadData(module: Out<Handle>, image: *const c_void) { module.set(MODULES.insert(cubin::parameters_of(image))) }
    fn cuModuleLoadDataEx(
        module: Out<Handle>, image: *const c_void, _count: c_uint, _options: *const c_int, _values: *const *const c_void,
    ) {
        module.set(MODULES.insert(cubin::parameters_of(image)))
    }
    fn cuModuleLoadFatBinary(module: Out<Handle>, _image: *const c_void) { module.set(MODULES.insert(BTreeMap::new())) }
    fn cuModuleUnload(module: Handle) { MODULES.remove(module).map(drop).ok_or_else(|| INVALID_HANDLE.into()) }
    fn cuModuleGetLoadingMode(mode: Out<c_int>) { mode.set(2) } // lazy
    fn cuModuleGetFunction(function: Out<Handle>, module: Handle, name: In<c_char>) { function.set(function_of(module, name)?) }
    fn cuModuleGetGlobal_v2(address: Out<usize>, bytes: Out<usize>, module: Handle, _name: In<c_char>) {
        MODULES.with(module, |_| ()).ok_or(INVALID_HANDLE)?;
        let place = space::place(RangeKind::Symbol, context::current(), "symbol", VARIABLE_BYTES, 256).ok_or(INVALID_VALUE)?;
        address.set_if_wanted(place);
        bytes.set_if_wanted(VARIABLE_BYTES);
        Ok(())
    }
    fn cuLibraryLoadData(
        library: Out<Handle>, code: *const c_void, _jit: *const c_int, _jit_values: *const *const c_void, _jit_count: c_uint,
        _options: *const c_int, _values: *const *const c_void, _count: c_uint,
    ) {
        library.set(MODULES.insert(cubin::parameters_of(code)))
    }
    fn cuLibraryUnload(library: Handle) { MODULES.remove(library).map(drop).ok_or_else(|| INVALID_HANDLE.into()) }
    fn cuLibraryGetKernel(function: Out<Handle>, library: Handle, name: In<c_char>) { function.set(function_of(library, name)?) }
    fn cuLibraryGetModule(module: Out<Handle>, library: Handle) { module.set(library) }
    fn cuKernelGetFunction(function: Out<Handle>, of: Handle) { function.set(of) }
    fn cuKernelGetAttribute(value: Out<c_int>, number: c_int, _kernel: Handle, _device: c_int) {
        value.set(kernel::attribute(device::profile(), number).ok_or(INVALID_VALUE)?)
    }
    fn cuFuncGetAttribute(value: Out<c_int>, number: c_int, _function: Handle) {
        value.set(kernel::attribute(device::profile(), number).ok_or(INVALID_VALUE)?)
    }
    fn cuLaunchKernel(
        function: Handle, _gx: c_uint, _gy: c_uint, _gz: c_uint, _bx: c_uint, _by: c_uint, _bz: c_uint, _shared: c_uint,
        stream: Handle, parameters: *const *const c_void, _extra: *const *const c_void,
    ) {
        launch(stream, function, parameters)
    }
    fn cuLaunchKernelEx(
        config: In<LaunchConfig>, function: Handle, parameters: *const *const c_void, _extra: *const *const c_void,
    ) {
        launch(config.get::<DriverStatus>()?.stream, function, parameters)
    }
    fn cuLaunchCooperativeKernel(
        function: Handle, _gx: c_uint, _gy: c_uint, _gz: c_uint, _bx: c_uint, _by: c_uint, _bz: c_uint, _shared: c_uint,
        stream: Handle, parameters: *const *const c_void,
    ) {
        launch(stream, function, parameters)
    }
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
        state.set(MODULES.insert(BTreeMap::new()))
    }
    fn cuLinkAddData_v2(
        state: Handle, _kind: c_int, _data: *const c_void, _bytes: usize, _name: In<c_char>, _count: c_uint,
        _options: *const c_int, _values: *const *const c_void,
    ) {
        MODULES.with(state, |_| ()).ok_or_else(|| INVALID_HANDLE.into())
    }
    fn cuLinkComplete(state: Handle, image: Out<*const c_void>, bytes: Out<usize>) {
        MODULES.with(state, |_| ()).ok_or(INVALID_HANDLE)?;
        // An empty image: `cuModuleLoadData` takes anything.
        image.set::<DriverStatus>(c"".as_ptr().cast())?;
        bytes.set(0)
    }
    fn cuLinkDestroy(state: Handle) { MODULES.remove(state).map(drop).ok_or_else(|| INVALID_HANDLE.into()) }
}
