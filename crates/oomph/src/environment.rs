//! Every environment variable that oomph reads or sets, in one place; those named `OOMPH_…` are documented in `wire`.

pub(crate) use wire::variable::{
    CACHE_DIR, DEVICE, DEVICES, FILES, FRACTION, HISTORY, LOCAL_WORLD_SIZE, OTHERS, PYTHON, RANK, REMEDIES, RUN_DIR,
    SERVE, STEPS, UNLIMITED, WORK, WORLD_SIZE,
};

/// Read: the folder of user caches (XDG base directories).
pub(crate) const XDG_CACHE_HOME: &str = "XDG_CACHE_HOME";
/// Read: the user's home.
pub(crate) const HOME: &str = "HOME";
/// Read: the active virtual environment.
pub(crate) const VIRTUAL_ENV: &str = "VIRTUAL_ENV";
/// Read: the active Conda environment.
pub(crate) const CONDA_PREFIX: &str = "CONDA_PREFIX";
/// Read: where programs are looked for.
pub(crate) const PATH: &str = "PATH";

/// Removed then: the place that a launcher gave oomph itself.
pub(crate) const LAUNCHERS: &[&str] = &["RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK"];

/// Set for PyTorch: the allocator's settings, where a run is to have others than the environment says.
pub(crate) const CUDA_ALLOC_CONF: &str = "PYTORCH_CUDA_ALLOC_CONF";
/// Removed then: its newer name.
pub(crate) const ALLOC_CONF: &str = "PYTORCH_ALLOC_CONF";

/// Set for the dynamic loader: the phantom, by its bare name, because this list is split at blanks.
pub(crate) const LD_PRELOAD: &str = "LD_PRELOAD";
/// Set for the dynamic loader: the folder of the phantom.
pub(crate) const LD_LIBRARY_PATH: &str = "LD_LIBRARY_PATH";
/// Set for Python: the folder of the agent's `sitecustomize`.
pub(crate) const PYTHONPATH: &str = "PYTHONPATH";
/// Set for Triton: the folder of `libcuda.so.1`, which it otherwise looks up in the loader's cache.
pub(crate) const TRITON_LIBCUDA_PATH: &str = "TRITON_LIBCUDA_PATH";
/// Removed: the phantom's devices are not the machine's.
pub(crate) const CUDA_VISIBLE_DEVICES: &str = "CUDA_VISIBLE_DEVICES";

/// Reads a variable; unset and empty are the same.
pub(crate) fn get(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
