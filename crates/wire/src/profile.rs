//! Keys of `OOMPH_DEVICE`, the profile of the GPU that the phantom shows: `key=value` joined by `;`.
//!
//! `gpus` writes the text and names the columns of `gpus.toml` by the same keys; `phantom` reads the text
//! (Note [Device variable] in `crates/phantom/src/device.rs`).

/// Separates two figures.
pub const SEPARATOR: char = ';';

macro_rules! keys {
    ($($constant:ident = $key:literal: $doc:literal;)+) => {
        $(#[doc = $doc] pub const $constant: &str = $key;)+

        /// All keys, in the order of the text.
        pub const ALL: &[&str] = &[$($constant),+];
    };
}

keys! {
    NAME = "name": "`cudaDeviceProp::name`.";
    TOTAL_BYTES = "total_bytes": "Device memory as `cudaMemGetInfo` states it.";
    CONTEXT_BYTES = "context_bytes": "Device memory of one process outside PyTorch's allocator.";
    COMPUTE_CAPABILITY = "compute_capability": "`major.minor`.";
    MULTIPROCESSORS = "multiprocessors": "Number of streaming multiprocessors.";
    L2_BYTES = "l2_bytes": "L2 cache.";
    SHARED_MEMORY_PER_BLOCK_BYTES = "shared_memory_per_block_bytes": "Shared memory per block without opt-in.";
    SHARED_MEMORY_PER_BLOCK_OPTIN_BYTES = "shared_memory_per_block_optin_bytes": "Shared memory per block with opt-in.";
    SHARED_MEMORY_PER_MULTIPROCESSOR_BYTES = "shared_memory_per_multiprocessor_bytes": "Shared memory per multiprocessor.";
    RESERVED_SHARED_MEMORY_PER_BLOCK_BYTES = "reserved_shared_memory_per_block_bytes": "Shared memory of each block that the driver reserves.";
    REGISTERS_PER_MULTIPROCESSOR = "registers_per_multiprocessor": "32-bit registers per multiprocessor.";
    THREADS_PER_MULTIPROCESSOR = "threads_per_multiprocessor": "Resident threads per multiprocessor.";
    BLOCKS_PER_MULTIPROCESSOR = "blocks_per_multiprocessor": "Resident blocks per multiprocessor.";
    CLOCK_KHZ = "clock_khz": "Core clock.";
    MEMORY_CLOCK_KHZ = "memory_clock_khz": "Memory clock, half of the data rate of GDDR memory.";
    MEMORY_BUS_BITS = "memory_bus_bits": "Width of the memory bus.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_unique_and_free_of_separators() {
        for (index, key) in ALL.iter().enumerate() {
            assert!(!key.contains([SEPARATOR, '=']), "{key}");
            assert!(!ALL[..index].contains(key), "{key}");
        }
    }
}
