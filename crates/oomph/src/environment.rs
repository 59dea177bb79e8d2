//! Every environment variable that oomph reads or sets, in one place.

/// Read: the Python that runs scripts, as `--python`.
pub(crate) const PYTHON: &str = "OOMPH_PYTHON";
/// Read: where the phantom and the agent are unpacked, in place of the user's cache folder.
pub(crate) const CACHE_DIR: &str = "OOMPH_CACHE_DIR";
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

/// Set for the phantom and the agent: the run directory.
pub(crate) const RUN_DIR: &str = "OOMPH_RUN_DIR";
/// Set for the phantom: the number of devices.
pub(crate) const DEVICES: &str = "OOMPH_DEVICES";
/// Set for the phantom: the profile.
pub(crate) const DEVICE: &str = "OOMPH_DEVICE";
/// Set for the phantom: requests never fail for want of memory.
pub(crate) const UNLIMITED: &str = "OOMPH_UNLIMITED";
/// Set for the phantom: what other processes hold of each device.
pub(crate) const OTHERS: &str = "OOMPH_OTHERS";
/// Set for the agent: optimizer steps after which it stops.
pub(crate) const STEPS: &str = "OOMPH_STEPS";
/// Set for the phantom: the file that takes notes of which files the program looks at.
pub(crate) const FILES: &str = "OOMPH_FILES";
/// Set for the agent: wait as a fork server.
pub(crate) const SERVE: &str = "OOMPH_SERVE";
/// Set for the agent: `0` = only the counters are wanted, no history of the allocator.
pub(crate) const HISTORY: &str = "OOMPH_HISTORY";
/// Set for the agent: `1` = operators are counted.
pub(crate) const WORK: &str = "OOMPH_WORK";
/// Set for the agent: the changes that it makes to the program.
pub(crate) const REMEDIES: &str = "OOMPH_REMEDIES";
/// Set for the agent: the one rank that runs, where the others are absent.
pub(crate) const RANK: &str = "OOMPH_RANK";
/// Set for the agent then: how many ranks the job has.
pub(crate) const WORLD_SIZE: &str = "OOMPH_WORLD_SIZE";
/// Set for the agent then: how many of them a machine has.
pub(crate) const LOCAL_WORLD_SIZE: &str = "OOMPH_LOCAL_WORLD_SIZE";
/// Removed then: the place that a launcher gave oomph itself.
pub(crate) const LAUNCHERS: &[&str] = &["RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK"];
/// Set for the agent: the share that value-dependent shapes are assumed to select.
pub(crate) const FRACTION: &str = "OOMPH_FRACTION";

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
