//! The text of `torch.OutOfMemoryError` from 2.4 on, up to the advice at its end.

use std::fmt::Write as _;

use allocator::OutOfMemory;
use trace::Bytes;

/// What the message says where this process alone uses the device. The numbers have two decimals.
pub(crate) fn text(oom: &OutOfMemory) -> String {
    let OutOfMemory { tried, device_total, device_free, allocated, private_pools_free, reserved, .. } = *oom;
    let mut text = format!(
        "CUDA out of memory. Tried to allocate {}. GPU 0 has a total capacity of {} of which {} is free. \
         Including non-PyTorch memory, this process has {} memory in use. ",
        size(tried),
        size(device_total),
        size(device_free),
        size(Bytes(device_total.0 - device_free.0))
    );
    if let Some(allowed) = oom.allowed {
        let _ = write!(text, "{} allowed; ", size(allowed));
    }
    let _ = write!(
        text,
        "Of the allocated memory {} is allocated by PyTorch, ",
        size(Bytes(allocated.0 + private_pools_free.0))
    );
    if private_pools_free.0 > 0 {
        let _ = write!(text, "with {} allocated in private pools (e.g., CUDA Graphs), ", size(private_pools_free));
    }
    let rest = reserved.0 - allocated.0 - private_pools_free.0;
    let _ = write!(text, "and {} is reserved by PyTorch but unallocated.", size(Bytes(rest)));
    text
}

/// `format_size` in c10/cuda/CUDACachingAllocator.cpp.
pub(crate) fn size(Bytes(bytes): Bytes) -> String {
    match bytes {
        0..=1024 => format!("{bytes} bytes"),
        1025..=0x10_0000 => format!("{:.2} KiB", bytes as f64 / 1024.0),
        0x10_0001..=0x4000_0000 => format!("{:.2} MiB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.2} GiB", bytes as f64 / 1_073_741_824.0),
    }
}
