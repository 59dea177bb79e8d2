//! The message of the caching allocator in every version and on every device.

use trace::text::Framework::{Cuda, Hip, Mps, Npu, Xpu};
use trace::text::OomKind::{Allocator, AsyncAllocator, Rejected};

use crate::expect::{CUDA, Case, Expect, all, bare, check};
use crate::sizes::*;

const HIP: Expect = bare(Hip, Allocator);
const XPU: Expect = bare(Xpu, Allocator);
const NPU: Expect = bare(Npu, Allocator);
const MPS: Expect = bare(Mps, Allocator);
const ASYNC: Expect = bare(Cuda, AsyncAllocator);

/// More than 2⁶⁰ bytes.
const MORE_THAN_1EB: trace::text::StatedBytes = size(1 << 60, 1 << 60, u64::MAX);

/// 1.0 to 2.0: sizes in parentheses.
#[rustfmt::skip]
pub(crate) const IN_PARENTHESES: &[Case] = &[
    // 1.0 to 1.3: "cached" is what is reserved and not allocated.
    ("RuntimeError: CUDA out of memory. Tried to allocate 16.00 GiB (GPU 0; 11.93 GiB total capacity; 4.00 GiB already allocated; 7.33 GiB free; 179.00 KiB cached)",
     Expect { device: Some(0), requested: Some(GIB_16_00), total: Some(GIB_11_93), allocated: Some(GIB_4_00), free: Some(GIB_7_33), unallocated: Some(KIB_179_00), ..CUDA }),
    ("RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 3; 7.93 GiB total capacity; 781.59 MiB already allocated; 7.61 MiB free; 0 bytes cached)",
     Expect { device: Some(3), requested: Some(MIB_20_00), total: Some(GIB_7_93), allocated: Some(MIB_781_59), free: Some(MIB_7_61), unallocated: Some(exactly(0)), ..CUDA }),
    ("RuntimeError: CUDA out of memory. Tried to allocate 1024.00 MiB (GPU 1; 15.90 GiB total capacity; 12.04 GiB already allocated; 511.18 MiB free; 2.72 GiB cached)",
     Expect { device: Some(1), requested: Some(MIB_1024_00), total: Some(GIB_15_90), allocated: Some(GIB_12_04), free: Some(MIB_511_18), unallocated: Some(GIB_2_72), ..CUDA }),
    ("RuntimeError: CUDA out of memory. Tried to allocate 2.00 MiB (GPU 0; 1.96 GiB total capacity; 1024 bytes already allocated; 1.50 KiB free; 512 bytes cached)",
     Expect { device: Some(0), requested: Some(MIB_2_00), total: Some(GIB_1_96), allocated: Some(exactly(1024)), free: Some(KIB_1_50), unallocated: Some(exactly(512)), ..CUDA }),
    // 1.4 to 1.7: "reserved in total".
    ("RuntimeError: CUDA out of memory. Tried to allocate 12.00 GiB (GPU 0; 23.65 GiB total capacity; 1.06 GiB already allocated; 10.26 GiB free; 12.53 GiB reserved in total by PyTorch)",
     Expect { device: Some(0), requested: Some(GIB_12_00), total: Some(GIB_23_65), allocated: Some(GIB_1_06), free: Some(GIB_10_26), reserved: Some(GIB_12_53), ..CUDA }),
    ("RuntimeError: CUDA out of memory. Tried to allocate 36.00 MiB (GPU 7; 15.90 GiB total capacity; 788.51 MiB already allocated; 145.93 MiB free; 1.02 GiB reserved in total by PyTorch)",
     Expect { device: Some(7), requested: Some(MIB_36_00), total: Some(GIB_15_90), allocated: Some(MIB_788_51), free: Some(MIB_145_93), reserved: Some(GIB_1_02), ..CUDA }),
    ("RuntimeError: CUDA out of memory. Tried to allocate 52.00 MiB (GPU 11; 79.15 GiB total capacity; 44.40 GiB already allocated; 0 bytes free; 57.55 GiB reserved in total by PyTorch)",
     Expect { device: Some(11), requested: Some(MIB_52_00), total: Some(GIB_79_15), allocated: Some(GIB_44_40), free: Some(exactly(0)), reserved: Some(GIB_57_55), ..CUDA }),
    // 1.8 and 1.9: with a fraction.
    ("RuntimeError: CUDA out of memory. Tried to allocate 6.00 GiB (GPU 0; 24.00 GiB total capacity; 8.00 GiB already allocated; 15.11 GiB free; 12.00 GiB allowed; 8.27 GiB reserved in total by PyTorch)",
     Expect { device: Some(0), requested: Some(GIB_6_00), total: Some(GIB_24_00), allocated: Some(GIB_8_00), free: Some(GIB_15_11), allowed: Some(GIB_12_00), reserved: Some(GIB_8_27), ..CUDA }),
    // 1.10 to 2.0: with advice.
    ("RuntimeError: CUDA out of memory. Tried to allocate 8.00 GiB (GPU 0; 15.90 GiB total capacity; 12.04 GiB already allocated; 2.72 GiB free; 12.27 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.  See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF",
     Expect { device: Some(0), requested: Some(GIB_8_00), total: Some(GIB_15_90), allocated: Some(GIB_12_04), free: Some(GIB_2_72), reserved: Some(GIB_12_27), ..CUDA }),
    ("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 32768.00 GiB (GPU 0; 24.00 GiB total capacity; 512 bytes already allocated; 23.51 GiB free; 12.00 GiB allowed; 2.00 MiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.  See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF",
     Expect { device: Some(0), requested: Some(GIB_32768_00), total: Some(GIB_24_00), allocated: Some(exactly(512)), free: Some(GIB_23_51), allowed: Some(GIB_12_00), reserved: Some(MIB_2_00), ..CUDA }),
    ("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 256.00 MiB (GPU 2; 39.39 GiB total capacity; 22.10 GiB already allocated; 195.50 KiB free; 23.64 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.  See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF",
     Expect { device: Some(2), requested: Some(MIB_256_00), total: Some(GIB_39_39), allocated: Some(GIB_22_10), free: Some(KIB_195_50), reserved: Some(GIB_23_64), ..CUDA }),
];

/// 2.1 to 2.15: sizes in sentences.
#[rustfmt::skip]
pub(crate) const IN_SENTENCES: &[Case] = &[
    // 2.1: "capacty".
    ("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacty of 24.00 GiB of which 23.51 GiB is free. Of the allocated memory 512 bytes is allocated by PyTorch, and 2.00 MiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting max_split_size_mb to avoid fragmentation.  See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF",
     Expect { device: Some(0), requested: Some(MIB_20_00), total: Some(GIB_24_00), free: Some(GIB_23_51), allocated: Some(exactly(512)), unallocated: Some(MIB_2_00), ..CUDA }),
    ("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 192.00 MiB. GPU 1 has a total capacty of 23.65 GiB of which 145.93 MiB is free. Process 4242 has 3.00 GiB memory in use. Including non-PyTorch memory, this process has 20.48 GiB memory in use. 22.10 GiB allowed; Of the allocated memory 16.00 GiB is allocated by PyTorch, and 4.00 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting max_split_size_mb to avoid fragmentation.  See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF",
     Expect { device: Some(1), requested: Some(MIB_192_00), total: Some(GIB_23_65), free: Some(MIB_145_93), process: Some(GIB_20_48), allowed: Some(GIB_22_10), allocated: Some(GIB_16_00), unallocated: Some(GIB_4_00), processes: &[(4242, Some(GIB_3_00))], ..CUDA }),
    // 2.2 and 2.3: "capacity", other advice.
    ("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total capacity of 23.64 GiB of which 211.00 MiB is free. Including non-PyTorch memory, this process has 23.51 GiB memory in use. Of the allocated memory 22.10 GiB is allocated by PyTorch, and 1.02 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)",
     Expect { device: Some(0), requested: Some(MIB_512_00), total: Some(GIB_23_64), free: Some(MIB_211_00), process: Some(GIB_23_51), allocated: Some(GIB_22_10), unallocated: Some(GIB_1_02), ..CUDA }),
    // Several processes; this process not first; one without a reported size.
    ("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 700.00 MiB. GPU 3 has a total capacity of 79.15 GiB of which 418.25 MiB is free. Process 811 has 12.27 GiB memory in use. Including non-PyTorch memory, this process has 44.40 GiB memory in use. Process 90210 has 21.87 GiB memory in use. Process 7 has 17179869184.00 GiB memory in use. Of the allocated memory 39.39 GiB is allocated by PyTorch, and 4.00 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)",
     Expect { device: Some(3), requested: Some(MIB_700_00), total: Some(GIB_79_15), free: Some(MIB_418_25), process: Some(GIB_44_40), allocated: Some(GIB_39_39), unallocated: Some(GIB_4_00), processes: &[(811, Some(GIB_12_27)), (90210, Some(GIB_21_87)), (7, None)], ..CUDA }),
    // This process in a container, under the host's process id.
    ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 MiB. GPU 0 has a total capacity of 15.90 GiB of which 7.61 MiB is free. Process 1234567 has 15.56 GiB memory in use. Of the allocated memory 15.11 GiB is allocated by PyTorch, and 19.00 MiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)",
     Expect { device: Some(0), requested: Some(MIB_2_00), total: Some(GIB_15_90), free: Some(MIB_7_61), allocated: Some(GIB_15_11), unallocated: Some(MIB_19_00), processes: &[(1_234_567, Some(GIB_15_56))], ..CUDA }),
    // This process without a reported size.
    ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 30.00 MiB. GPU 0 has a total capacity of 8.00 GiB of which 0 bytes is free. Including non-PyTorch memory, this process has 17179869184.00 GiB memory in use. Of the allocated memory 6.85 GiB is allocated by PyTorch, and 179.00 KiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)",
     Expect { device: Some(0), requested: Some(MIB_30_00), total: Some(GIB_8_00), free: Some(exactly(0)), allocated: Some(GIB_6_85), unallocated: Some(KIB_179_00), ..CUDA }),
    // 2.4 to 2.9: with private pools.
    ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 2.00 GiB of which 7.61 MiB is free. Of the allocated memory 533.00 MiB is allocated by PyTorch, with 30.00 MiB allocated in private pools (e.g., CUDA Graphs), and 19.00 MiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)",
     Expect { device: Some(0), requested: Some(MIB_20_00), total: Some(GIB_2_00), free: Some(MIB_7_61), allocated: Some(MIB_533_00), pools: Some(MIB_30_00), unallocated: Some(MIB_19_00), ..CUDA }),
    // 2.10: PYTORCH_ALLOC_CONF.
    ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 5 has a total capacity of 79.15 GiB of which 1.71 GiB is free. Including non-PyTorch memory, this process has 64.00 GiB memory in use. Of the allocated memory 61.27 GiB is allocated by PyTorch, and 1.21 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)",
     Expect { device: Some(5), requested: Some(GIB_3_00), total: Some(GIB_79_15), free: Some(GIB_1_71), process: Some(GIB_64_00), allocated: Some(GIB_61_27), unallocated: Some(GIB_1_21), ..CUDA }),
    // 2.11 to 2.14: another address.
    ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1024.00 MiB. GPU 0 has a total capacity of 11.59 GiB of which 788.51 MiB is free. Including non-PyTorch memory, this process has 10.26 GiB memory in use. 10.26 GiB allowed; Of the allocated memory 9.01 GiB is allocated by PyTorch, with 52.00 MiB allocated in private pools (e.g., CUDA Graphs), and 256.00 MiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory Management  (https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)",
     Expect { device: Some(0), requested: Some(MIB_1024_00), total: Some(GIB_11_59), free: Some(MIB_788_51), process: Some(GIB_10_26), allowed: Some(GIB_10_26), allocated: Some(GIB_9_01), pools: Some(MIB_52_00), unallocated: Some(MIB_256_00), ..CUDA }),
    // 2.15: expandable segments are on.
    ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 24.00 GiB of which 1.06 GiB is free. Of the allocated memory 21.87 GiB is allocated by PyTorch, and 192.00 MiB is reserved by PyTorch but unallocated. expandable_segments is enabled. If instead the process is running out of virtual address space (VSZ), expandable segments may be over-reserving VA (each segment reserves ~9/8 of device memory, times the number of streams); reduce it via PYTORCH_CUDA_ALLOC_CONF expandable_segments_reserve / expandable_segments_reserve_by_class.",
     Expect { device: Some(0), requested: Some(GIB_2_00), total: Some(GIB_24_00), free: Some(GIB_1_06), allocated: Some(GIB_21_87), unallocated: Some(MIB_192_00), ..CUDA }),
    // 2.15: beyond the address space of the segment.
    ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total capacity of 24.00 GiB of which 22.10 GiB is free. Of the allocated memory 512 bytes is allocated by PyTorch, and 2.00 MiB is reserved by PyTorch but unallocated. This allocation exceeds the expandable-segment reserve of 2.00 GiB for this stream, and a single allocation cannot span expandable segments. Raise PYTORCH_CUDA_ALLOC_CONF expandable_segments_reserve or expandable_segments_reserve_by_class (or unset it) so that a segment is at least 3.00 GiB.",
     Expect { device: Some(0), requested: Some(GIB_3_00), total: Some(GIB_24_00), free: Some(GIB_22_10), allocated: Some(exactly(512)), unallocated: Some(MIB_2_00), segment_reserve: Some(GIB_2_00), ..CUDA }),
    // 2.15: a pool of the program.
    ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 24.00 GiB of which 23.51 GiB is free. Of the allocated memory 0 bytes is allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated. The custom allocator backing this MemPool returned nullptr. Check preceding allocator warnings or logs for the reason.",
     Expect { device: Some(0), requested: Some(MIB_20_00), total: Some(GIB_24_00), free: Some(GIB_23_51), allocated: Some(exactly(0)), unallocated: Some(exactly(0)), ..CUDA }),
];

/// Requests rejected before the device is asked.
#[rustfmt::skip]
pub(crate) const REFUSED_AT_ONCE: &[Case] = &[
    ("RuntimeError: CUDA out of memory. Tried to allocate more than 1EB memory.", Expect { requested: Some(MORE_THAN_1EB), ..CUDA }),
    ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate more than 1EB memory.", Expect { requested: Some(MORE_THAN_1EB), ..CUDA }),
    ("torch.OutOfMemoryError: HIP out of memory. Tried to allocate more than 1EB memory.", Expect { requested: Some(MORE_THAN_1EB), ..HIP }),
    ("torch.OutOfMemoryError: CUDA out of memory. Allocation was preemptively rejected because it would exceed per_process_memory_fraction limit. Requested size: 700.00 MiB",
     Expect { requested: Some(MIB_700_00), ..bare(Cuda, Rejected) }),
    ("torch.OutOfMemoryError: CUDA out of memory. Allocation was preemptively rejected because it would exceed per_process_memory_fraction limit. Requested size: 179.00 KiB",
     Expect { requested: Some(KIB_179_00), ..bare(Cuda, Rejected) }),
];

#[rustfmt::skip]
pub(crate) const OTHER_DEVICES: &[Case] = &[
    // ROCm.
    ("RuntimeError: HIP out of memory. Tried to allocate 256.00 MiB (GPU 0; 15.90 GiB total capacity; 8.00 GiB already allocated; 7.33 GiB free; 8.27 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.  See documentation for Memory Management and PYTORCH_HIP_ALLOC_CONF",
     Expect { device: Some(0), requested: Some(MIB_256_00), total: Some(GIB_15_90), allocated: Some(GIB_8_00), free: Some(GIB_7_33), reserved: Some(GIB_8_27), ..HIP }),
    ("torch.OutOfMemoryError: HIP out of memory. Tried to allocate 64.00 GiB. GPU 4 has a total capacity of 191.98 GiB of which 39.39 GiB is free. Of the allocated memory 146.27 GiB is allocated by PyTorch, with 20.00 MiB allocated in private pools (e.g., HIP Graphs), and 4.00 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_HIP_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)",
     Expect { device: Some(4), requested: Some(GIB_64_00), total: Some(GIB_191_98), free: Some(GIB_39_39), allocated: Some(GIB_146_27), pools: Some(MIB_20_00), unallocated: Some(GIB_4_00), ..HIP }),
    // Intel: the extension, 2.6, and since.
    ("RuntimeError: XPU out of memory. Tried to allocate 1.71 GiB (GPU 0; 15.56 GiB total capacity; 0 bytes already allocated; 0 bytes reserved in total by PyTorch)",
     Expect { device: Some(0), requested: Some(GIB_1_71), total: Some(GIB_15_56), allocated: Some(exactly(0)), reserved: Some(exactly(0)), ..XPU }),
    ("RuntimeError: Current platform can NOT allocate memory block with size larger than 4GB! Tried to allocate 6.85 GiB (GPU  0; 15.56 GiB total capacity; 1.50 KiB already allocated; 2.00 MiB reserved in total by PyTorch)",
     Expect { device: Some(0), requested: Some(GIB_6_85), total: Some(GIB_15_56), allocated: Some(KIB_1_50), reserved: Some(MIB_2_00), ..XPU }),
    ("torch.OutOfMemoryError: XPU out of memory. Tried to allocate 8.00 GiB. GPU 0 has a total capacity of 15.11 GiB. Of the allocated memory 0 bytes is allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated. Please use `empty_cache` to release all unoccupied cached memory.",
     Expect { device: Some(0), requested: Some(GIB_8_00), total: Some(GIB_15_11), allocated: Some(exactly(0)), unallocated: Some(exactly(0)), ..XPU }),
    ("torch.OutOfMemoryError: XPU out of memory. Tried to allocate 4.00 GiB. GPU 2 has a total capacity of 5.65 GiB of which 3.40 GiB is free. 8.27 GiB allowed; Of the allocated memory 195.50 KiB is allocated by PyTorch, and 1.81 MiB is reserved by PyTorch but unallocated. Please use `empty_cache` to release all unoccupied cached memory.",
     Expect { device: Some(2), requested: Some(GIB_4_00), total: Some(GIB_5_65), free: Some(GIB_3_40), allowed: Some(GIB_8_27), allocated: Some(KIB_195_50), unallocated: Some(MIB_1_81), ..XPU }),
    // Ascend.
    ("RuntimeError: NPU out of memory. Tried to allocate 5.03 GiB (NPU 3; 60.96 GiB total capacity; 49.47 GiB already allocated; 49.47 GiB current active; 1.32 GiB free; 57.55 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.",
     Expect { device: Some(3), requested: Some(GIB_5_03), total: Some(GIB_60_96), allocated: Some(GIB_49_47), free: Some(GIB_1_32), reserved: Some(GIB_57_55), ..NPU }),
    ("torch.OutOfMemoryError: NPU out of memory. Tried to allocate 52.00 MiB (NPU 0; 61.27 GiB total capacity; 57.55 GiB already allocated; 57.55 GiB current active; 295.52 MiB free; 60.96 GiB allowed; 60.96 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.",
     Expect { device: Some(0), requested: Some(MIB_52_00), total: Some(GIB_61_27), allocated: Some(GIB_57_55), free: Some(MIB_295_52), allowed: Some(GIB_60_96), reserved: Some(GIB_60_96), ..NPU }),
    // Apple: `GB` up to 2.6 or so, `GiB` since; powers of 1024 in both.
    ("RuntimeError: MPS backend out of memory (MPS allocated: 3.13 GB, other allocations: 220.17 MB, max allowed: 3.40 GB). Tried to allocate 85.83 MB on private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit for memory allocations (may cause system failure).",
     Expect { requested: Some(MIB_85_83), allocated: Some(GIB_3_13), others_of_metal: Some(MIB_220_17), allowed: Some(GIB_3_40), ..MPS }),
    ("RuntimeError: MPS backend out of memory (MPS allocated: 1024.00 MiB, other allocations: 384.00 KiB, max allowed: 511.18 MiB). Tried to allocate 256.00 MiB on shared pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit for memory allocations (may cause system failure).",
     Expect { requested: Some(MIB_256_00), allocated: Some(MIB_1024_00), others_of_metal: Some(KIB_384_00), allowed: Some(MIB_511_18), ..MPS }),
    ("RuntimeError: MPS backend out of memory (MPS allocated: 20.48 GB, other allocations: 146.27 GB). Tried to allocate 30.25 KB on private pool.",
     Expect { requested: Some(KIB_30_25), allocated: Some(GIB_20_48), others_of_metal: Some(GIB_146_27), ..MPS }),
    ("RuntimeError: MPS backend out of memory (MPS allocated: 20.48 GiB, other allocations: 146.27 GiB, max allowed: 163.20 GiB). Tried to allocate 512 bytes on shared pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit for memory allocations (may cause system failure).",
     Expect { requested: Some(exactly(512)), allocated: Some(GIB_20_48), others_of_metal: Some(GIB_146_27), allowed: Some(GIB_163_20), ..MPS }),
];

/// The `cudaMallocAsync` backend.
#[rustfmt::skip]
pub(crate) const ASYNC_BACKEND: &[Case] = &[
    ("torch.OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of memory)\nCurrently allocated     : 0 bytes\nRequested               : 30.00 GiB\nDevice limit            : 24.00 GiB\nFree (according to CUDA): 23.51 GiB\nPyTorch limit (set by user-supplied memory fraction)\n                        : 17179869184.00 GiB",
     Expect { device: Some(0), requested: Some(GIB_30_00), total: Some(GIB_24_00), free: Some(GIB_23_51), allocated: Some(exactly(0)), ..ASYNC }),
    ("torch.cuda.OutOfMemoryError: Allocation on device 1 would exceed allowed memory. (out of memory)\nCurrently allocated     : 10.26 GiB\nRequested               : 2.00 GiB\nDevice limit            : 24.00 GiB\nFree (according to CUDA): 12.53 GiB\nPyTorch limit (set by user-supplied memory fraction)\n                        : 12.00 GiB",
     Expect { device: Some(1), requested: Some(GIB_2_00), total: Some(GIB_24_00), free: Some(GIB_12_53), allocated: Some(GIB_10_26), allowed: Some(GIB_12_00), ..ASYNC }),
    ("torch.OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of memory)", Expect { device: Some(0), ..ASYNC }),
    ("torch.OutOfMemoryError: Allocation on device", ASYNC),
];

/// Every table of this file.
pub(crate) const TABLES: &[&[Case]] = &[IN_PARENTHESES, IN_SENTENCES, REFUSED_AT_ONCE, OTHER_DEVICES, ASYNC_BACKEND];

#[test]
fn every_wording_of_the_allocator_is_read() {
    all(TABLES.iter().flat_map(|table| table.iter()).map(|(text, expect)| check(text.as_bytes(), expect)));
}

#[test]
fn the_class_of_the_exception_is_kept_and_the_message_is_what_follows_it() {
    for (text, _) in TABLES.iter().flat_map(|table| table.iter()) {
        let (class, message) = text.split_once(": ").unwrap();
        let found = crate::expect::errors(text.as_bytes());
        assert_eq!(found[0].exception.as_deref(), Some(class), "{text}");
        assert_eq!(found[0].message.replace(' ', ""), message.replace([' ', '\n'], ""), "{text}");
    }
}
