//! The texts of the errors that real PyTorch raises, from 2.4 on, up to the advice at their end.

use std::fmt::Write as _;

use allocator::{MallocError, OutOfMemory};
use trace::Bytes;

/// The exception and its text, as the driver of the tests records them.
pub(crate) fn of(error: &MallocError) -> String {
    match error {
        MallocError::OutOfMemory(oom) => format!("OOM: {}", out_of_memory(oom)),
        MallocError::Rejected { requested } => format!(
            "OOM: CUDA out of memory. Allocation was preemptively rejected because it would exceed \
             per_process_memory_fraction limit. Requested size: {}",
            size(*requested)
        ),
        MallocError::TooLarge { .. } => "OOM: CUDA out of memory. Tried to allocate more than 1EB memory.".to_owned(),
        MallocError::LendingPoolInUse | MallocError::ExpandableReleased => format!("RuntimeError: {error}"),
    }
}

/// The message of a process that uses the device alone.
fn out_of_memory(oom: &OutOfMemory) -> String {
    let OutOfMemory { tried, device_total, device_free, allocated, private_pools_free, reserved, .. } = *oom;
    let mut text = format!(
        "CUDA out of memory. Tried to allocate {}. GPU 0 has a total capacity of {} of which {} is free. \
         Including non-PyTorch memory, this process has {} memory in use. ",
        size(tried),
        size(device_total),
        size(device_free),
        size(Bytes(device_total.0.saturating_sub(device_free.0)))
    );
    if let Some(allowed) = oom.allowed {
        let _ = write!(text, "{} allowed; ", size(allowed));
    }
    let taken = Bytes(allocated.0 + private_pools_free.0);
    let _ = write!(text, "Of the allocated memory {} is allocated by PyTorch, ", size(taken));
    if private_pools_free.0 > 0 {
        let _ = write!(text, "with {} allocated in private pools (e.g., CUDA Graphs), ", size(private_pools_free));
    }
    let rest = Bytes(reserved.0.saturating_sub(taken.0));
    let _ = write!(text, "and {} is reserved by PyTorch but unallocated.", size(rest));
    text
}

/// `format_size` in `c10/core/Allocator.h` (2.11): two decimals, and the larger unit only above 1024 of the smaller.
fn size(Bytes(bytes): Bytes) -> String {
    match bytes {
        0..=0x400 => format!("{bytes} bytes"),
        0x401..=0x10_0000 => format!("{:.2} KiB", bytes as f64 / 1024.0),
        0x10_0001..=0x4000_0000 => format!("{:.2} MiB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.2} GiB", bytes as f64 / 1_073_741_824.0),
    }
}
