//! The number of dry runs at a time.

use std::thread;

use trace::Bytes;

/// The host memory of a dry run, measured: PyTorch, and the host's copy of a model.
const HOST_MEMORY_OF_A_RUN: Bytes = Bytes::from_gib(2);

/// Returns one job per core, as far as the host's memory suffices.
pub fn default_jobs() -> usize {
    let cores = thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let suffices = |free: Bytes| usize::try_from(free.0 / HOST_MEMORY_OF_A_RUN.0).unwrap_or(cores);
    cores.min(available_memory().map_or(cores, suffices)).max(1)
}

/// Reads `MemAvailable` from /proc/meminfo.
fn available_memory() -> Option<Bytes> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok().map(Bytes::from_kib)
}
