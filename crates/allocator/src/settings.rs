//! The device settings of `PYTORCH_CUDA_ALLOC_CONF`, as values.
//!
//! # Note [Settings by release]
//! Releases up to 2.9 have a parser of CUDA's own (`older.rs`), later ones share theirs among accelerators
//! (`common.rs`). The other differences are data: the known keys (`keys.rs`), and a few words. A text is accepted,
//! rejected and interpreted as in the release, including malformed numbers, and the error has PyTorch's words.
//!
//! Importing torch first chooses the backend with a separate parser; from 2.9 on, a text that this parser cannot follow
//! (a key without a value) ends the process. A running process that gets another text ([`Settings::reparse`]) resets
//! some settings to their defaults and keeps the others; if the text is rejected, the settings before the error hold
//! ([`Settings::apply`]).
//!
//! # Note [Compared with PyTorch]
//! `tests/settings/fuzz.py` passes random texts to real PyTorch and prints the results; `examples/settings.rs` compares
//! them: accepted or rejected, the exception and its message, and every setting afterwards, also after a rejection (2.0
//! cannot print its settings). After a text that a running process rejected, other texts follow.
//!
//! ```sh
//! oomph phantom --gpu rtx-4090 -- python tests/settings/fuzz.py --seed 11 --cases 100000 |
//!     cargo run --release -p allocator --example settings
//! ```
//!
//! 2026-11-21, all runs of the day (the generator of texts grew meanwhile, so a seed repeats only the last of them: 11
//! for 2.11.0, 15 for 2.15.0, 6 for 2.6.0). 2.1 to 2.5, 2.13 and 2.14 were not run: their keys are known from their
//! libraries.
//!
//! | PyTorch | equal | different | not defined |
//! |---|---|---|---|
//! | 2.0.1 | 2,999 | 0 | 1 |
//! | 2.6.0 | 42,454 | 0 | 3 |
//! | 2.7.1 | 5,175 | 0 | 0 |
//! | 2.8.0 | 6,271 | 0 | 0 |
//! | 2.9.1 | 6,305 | 0 | 0 |
//! | 2.10.0 | 6,256 | 0 | 0 |
//! | 2.11.0 | 212,382 | 0 | 0 |
//! | 2.12.1 | 6,303 | 0 | 0 |
//! | 2.15.0 | 42,497 | 0 | 0 |

mod common;
mod conf;
mod divisions;
mod error;
mod keys;
mod numbers;
mod older;
mod tokens;

use trace::{Bytes, Release};

use self::keys::Flag;

pub use self::conf::Inexpressible;
pub use self::error::{SettingsError, Thrown};

/// The largest number of MiB that PyTorch accepts: larger ones overflow 64 bits as bytes.
const MAX_MIB: u64 = u64::MAX >> 20;

/// The settings of the allocator, each with PyTorch's name for it
/// (`c10/core/AllocatorConfig.h` and `c10/cuda/CUDAAllocatorConfig.h`, 2.15).
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "PyTorch's settings are what they are")]
pub struct Settings {
    /// `backend:cudaMallocAsync`: the driver's own pool, without blocks and segments to model.
    pub cuda_malloc_async: bool,
    /// `max_split_size_mb`: blocks of at least this size are not split; `None` = no such limit.
    pub max_split_size: Option<Bytes>,
    /// `max_non_split_rounding_mb`: a request of at least `max_split_size` takes a cached block that is larger by less
    /// than this size.
    pub max_non_split_rounding: Bytes,
    /// `large_segment_size_mb`: the segment for requests of 1 to 10 MiB, and the page of expandable segments.
    pub large_segment_size: Bytes,
    /// `roundup_power2_divisions` by the power of two of the request in MiB: 1, 2, 4 … 32768. 0 and 1 round to 512 bytes only.
    pub roundup_power2_divisions: [u64; 16],
    /// `garbage_collection_threshold`, a share of the allowed memory; 0 = no collection.
    pub garbage_collection_threshold: f64,
    /// `expandable_segments`.
    pub expandable_segments: bool,
    /// `expandable_segments_reserve`; `None` = nine eighths of the device.
    pub expandable_segments_reserve: Option<Reserve>,
    /// `per_process_memory_fraction`; 1 = no limit.
    pub per_process_memory_fraction: f64,
    /// `throw_on_cudamalloc_oom`: a request beyond the limit is refused before anything is released.
    pub throw_on_cudamalloc_oom: bool,
    /// `graph_capture_record_stream_reuse`.
    pub graph_capture_record_stream_reuse: bool,
    /// `release_lock_on_cudamalloc`: other threads' operations may come between a search and its `cudaMalloc`.
    pub release_lock_on_cudamalloc: bool,
}

/// The address space of an expandable segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reserve {
    /// A share of the device.
    Fraction(f64),
    /// A number of bytes.
    Bytes(Bytes),
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            cuda_malloc_async: false,
            max_split_size: None,
            max_non_split_rounding: Bytes(20 << 20),
            large_segment_size: Bytes(20 << 20),
            roundup_power2_divisions: [0; 16],
            garbage_collection_threshold: 0.0,
            expandable_segments: false,
            expandable_segments_reserve: None,
            per_process_memory_fraction: 1.0,
            throw_on_cudamalloc_oom: false,
            graph_capture_record_stream_reuse: false,
            release_lock_on_cudamalloc: false,
        }
    }
}

impl Settings {
    /// Parses the `PYTORCH_CUDA_ALLOC_CONF` of a new process.
    ///
    /// # Errors
    /// PyTorch's error for a text that it rejects.
    pub fn parse(text: &str, release: Release) -> Result<Settings, SettingsError> {
        let cuda_malloc_async = backend_at_load(text, release).map_err(SettingsError::at_load)?;
        let mut settings = Settings { cuda_malloc_async, ..Settings::default() };
        settings.apply(text, release)?;
        Ok(settings)
    }

    /// The settings after a running process gets this text (`torch.cuda.memory._set_allocator_settings`): some return
    /// to their defaults, others keep their values.
    ///
    /// # Errors
    /// PyTorch's error for a text that it rejects; [`Settings::apply`] keeps the settings that remain.
    pub fn reparse(&self, text: &str, release: Release) -> Result<Settings, SettingsError> {
        let mut settings = self.clone();
        settings.apply(text, release)?;
        Ok(settings)
    }

    /// [`Settings::reparse`] in place: a rejected text leaves the settings read before the error.
    ///
    /// # Errors
    /// PyTorch's error for a text that it rejects.
    pub fn apply(&mut self, text: &str, release: Release) -> Result<(), SettingsError> {
        self.max_split_size = None;
        self.roundup_power2_divisions = [0; 16];
        self.garbage_collection_threshold = 0.0;
        if has_common_parser(release) { common::read(text, release, self) } else { older::read(text, release, self) }
    }

    fn set(&mut self, flag: Flag, value: bool) {
        match flag {
            Flag::ExpandableSegments => self.expandable_segments = value,
            Flag::ThrowOnCudaMallocOom => self.throw_on_cudamalloc_oom = value,
            Flag::GraphCaptureRecordStreamReuse => self.graph_capture_record_stream_reuse = value,
            Flag::ReleaseLockOnCudaMalloc => self.release_lock_on_cudamalloc = value,
            Flag::Pinned => {}
        }
    }
}

/// Tests that `import torch` chooses the driver's own pool.
fn backend_at_load(text: &str, release: Release) -> Result<bool, SettingsError> {
    if has_common_parser(release) {
        return common::backend_at_load(text);
    }
    if (release.major, release.minor) == (2, 9) {
        common::check_at_load(text, release)?;
    }
    Ok(older::backend_at_load(text))
}

/// Tests that accelerators share a parser.
fn has_common_parser(release: Release) -> bool {
    release >= Release { major: 2, minor: 10 }
}

/// `true` for the driver's own pool, `false` for PyTorch's allocator, `None` for an unknown name.
fn known_backend(name: &str) -> Option<bool> {
    match name {
        "native" => Some(false),
        "cudaMallocAsync" => Some(true),
        _ => None,
    }
}

fn backend_name(cuda_malloc_async: bool) -> &'static str {
    if cuda_malloc_async { "cudaMallocAsync" } else { "native" }
}
