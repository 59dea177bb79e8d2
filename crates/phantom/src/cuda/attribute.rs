//! Device attributes by CUDA's numbers, which the runtime and the driver share (`cudaDeviceAttr`, `CUdevice_attribute`).

use crate::cuda::context;
use crate::device::Profile;

/// Fields that every GPU since compute capability 6.0 shares (CUDA C++ Programming Guide, «Technical Specifications
/// per Compute Capability»), by attribute number.
const COMMON: &[(i32, i32)] = &[
    (1, 1024), // threads per block
    (2, 1024), // block x, y, z
    (3, 1024),
    (4, 64),
    (5, 2_147_483_647), // grid x, y, z
    (6, 65_535),
    (7, 65_535),
    (9, 65_536),         // constant memory
    (10, 32),            // warp
    (11, 2_147_483_647), // pitch
    (14, 512),           // texture alignment
    (15, 1),             // overlap of copy and compute
    (17, 0),             // run time limit on kernels
    (18, 0),             // integrated
    (19, 1),             // maps host memory
    (20, 0),             // compute mode: default
    (21, 131_072),       // textures and surfaces
    (22, 131_072),
    (23, 65_536),
    (24, 16_384),
    (25, 16_384),
    (26, 16_384),
    (27, 32_768),
    (28, 32_768),
    (29, 2048),
    (30, 512),
    (31, 1), // concurrent kernels
    (32, 0), // ECC
    (34, 0), // PCI device
    (35, 0), // TCC driver
    (40, 2), // copy engines
    (41, 1), // unified addressing
    (42, 32_768),
    (43, 2048),
    (45, 32_768),
    (46, 32_768),
    (47, 8192),
    (48, 8192),
    (49, 32_768),
    (50, 0), // PCI domain
    (51, 32),
    (52, 32_768),
    (53, 32_768),
    (54, 2046),
    (55, 32_768),
    (56, 131_072),
    (57, 65_536),
    (58, 16_384),
    (59, 16_384),
    (60, 16_384),
    (61, 32_768),
    (62, 2048),
    (63, 32_768),
    (64, 32_768),
    (65, 2048),
    (66, 32_768),
    (67, 32_768),
    (68, 2046),
    (69, 268_435_456),
    (70, 131_072),
    (71, 65_000),
    (72, 2_097_120),
    (73, 32_768),
    (74, 32_768),
    (77, 32_768),
    (78, 1), // stream priorities
    (79, 1), // L1 caches
    (80, 1),
    (83, 1), // managed memory
    (84, 0), // multi-GPU board
    (85, 0),
    (86, 0),  // host atomics
    (87, 32), // single to double precision
    (88, 0),  // pageable memory access
    (89, 1),  // concurrent managed access
    (90, 1),  // compute preemption
    (91, 1),  // host pointers of registered memory
    (92, 1),  // stream memory operations
    (93, 1),
    (94, 1),
    (95, 1), // cooperative launch
    (96, 0),
    (98, 1),
    (99, 1), // host register
    (100, 0),
    (101, 0),
    (102, 1), // virtual memory management
    (103, 1), // handles: file descriptor
    (104, 0),
    (105, 0),
    (107, 0), // generic compression
    (110, 0),
    (112, 1),
    (113, 1),
    (114, 1),
    (115, 1), // memory pools
    (116, 0), // GPUDirect RDMA
    (117, 0),
    (118, 0),
    (119, 1), // pool handles: file descriptor
    (121, 1),
    (122, 0),
    (123, 0),
    (124, 0),
    (125, 1), // IPC events
    (126, 1),
    (127, 0), // tensor maps: see below
    (128, 0), // fabric handles
    (129, 1),
    (130, 0),
    (131, -1),
    (132, 0), // multicast
    (133, 0),
    (134, -1),
    (135, 0),
    (138, 0),
    (139, 0),
    (140, 0),
    (141, 0),
    (142, 0),
    (143, 0),
    (144, 0),
    (145, 0),
    (147, 0),
];

/// The value of an attribute of a device; `None` for a number that CUDA 13.0 does not know.
pub fn value(profile: &Profile, device: u32, attribute: i32) -> Option<i32> {
    let small = |bytes: u64| i32::try_from(bytes).unwrap_or(i32::MAX);
    let (major, minor) = profile.compute_capability;
    Some(match attribute {
        8 => small(profile.shared_memory_per_block_bytes),
        12 | 82 => profile.registers_per_multiprocessor as i32,
        13 => profile.clock_khz as i32,
        16 => profile.multiprocessors as i32,
        33 => device as i32 + 1,
        36 => profile.memory_clock_khz as i32,
        37 => profile.memory_bus_bits as i32,
        38 => small(profile.l2_bytes),
        39 => profile.threads_per_multiprocessor as i32,
        75 => major as i32,
        76 => minor as i32,
        81 => small(profile.shared_memory_per_multiprocessor_bytes),
        97 => small(profile.shared_memory_per_block_optin_bytes),
        106 => profile.blocks_per_multiprocessor as i32,
        // An eighth of the device's L2 may not persist; only cards since 8.0 have the feature.
        108 => {
            if major >= 8 {
                small(profile.l2_bytes / 8 * 6)
            } else {
                0
            }
        }
        109 => {
            if major >= 8 {
                128 << 20
            } else {
                0
            }
        }
        111 => small(profile.reserved_shared_memory_per_block_bytes),
        // Thread block clusters and tensor maps came with 9.0.
        120 | 127 => i32::from(major >= 9),
        _ => COMMON.iter().find(|(number, _)| *number == attribute)?.1,
    })
}

/// `cudaDeviceProp` of CUDA 13, field by field as `driver_types.h` lays it out.
#[repr(C)]
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "the names are those of the header")]
pub struct DeviceProp {
    pub name: [u8; 256],
    pub uuid: [u8; 16],
    pub luid: [u8; 8],
    pub luid_device_node_mask: u32,
    pub total_global_mem: usize,
    pub shared_mem_per_block: usize,
    pub regs_per_block: i32,
    pub warp_size: i32,
    pub mem_pitch: usize,
    pub max_threads_per_block: i32,
    pub max_threads_dim: [i32; 3],
    pub max_grid_size: [i32; 3],
    pub total_const_mem: usize,
    pub major: i32,
    pub minor: i32,
    pub texture_alignment: usize,
    pub texture_pitch_alignment: usize,
    pub multi_processor_count: i32,
    pub integrated: i32,
    pub can_map_host_memory: i32,
    /// `maxTexture1D` … `maxSurfaceCubemapLayered`, in the header's order.
    pub textures: [i32; 39],
    pub surface_alignment: usize,
    pub concurrent_kernels: i32,
    pub ecc_enabled: i32,
    pub pci_bus_id: i32,
    pub pci_device_id: i32,
    pub pci_domain_id: i32,
    pub tcc_driver: i32,
    pub async_engine_count: i32,
    pub unified_addressing: i32,
    pub memory_bus_width: i32,
    pub l2_cache_size: i32,
    pub persisting_l2_cache_max_size: i32,
    pub max_threads_per_multi_processor: i32,
    pub stream_priorities_supported: i32,
    pub global_l1_cache_supported: i32,
    pub local_l1_cache_supported: i32,
    pub shared_mem_per_multiprocessor: usize,
    pub regs_per_multiprocessor: i32,
    pub managed_memory: i32,
    pub is_multi_gpu_board: i32,
    pub multi_gpu_board_group_id: i32,
    pub host_native_atomic_supported: i32,
    pub pageable_memory_access: i32,
    pub concurrent_managed_access: i32,
    pub compute_preemption_supported: i32,
    pub can_use_host_pointer_for_registered_mem: i32,
    pub cooperative_launch: i32,
    pub shared_mem_per_block_optin: usize,
    pub pageable_memory_access_uses_host_page_tables: i32,
    pub direct_managed_mem_access_from_host: i32,
    pub max_blocks_per_multi_processor: i32,
    pub access_policy_max_window_size: i32,
    pub reserved_shared_mem_per_block: usize,
    pub host_register_supported: i32,
    pub sparse_cuda_array_supported: i32,
    pub host_register_read_only_supported: i32,
    pub timeline_semaphore_interop_supported: i32,
    pub memory_pools_supported: i32,
    pub gpu_direct_rdma_supported: i32,
    pub gpu_direct_rdma_flush_writes_options: u32,
    pub gpu_direct_rdma_writes_ordering: i32,
    pub memory_pool_supported_handle_types: u32,
    pub deferred_mapping_cuda_array_supported: i32,
    pub ipc_event_supported: i32,
    pub cluster_launch: i32,
    pub unified_function_pointers: i32,
    pub device_numa_config: i32,
    pub device_numa_id: i32,
    pub mps_enabled: i32,
    pub host_numa_id: i32,
    pub gpu_pci_device_id: u32,
    pub gpu_pci_subsystem_id: u32,
    pub host_numa_multinode_ipc_supported: i32,
    pub reserved: [i32; 56],
}

/// Attribute numbers of [`DeviceProp::textures`], in the header's order; 44 is the unused number.
const TEXTURES: [i32; 39] = [
    21, 77, 22, 23, 73, 74, 70, 71, 72, 45, 46, 24, 25, 26, 47, 48, 49, 52, 42, 43, 27, 28, 29, 53, 54, 55, 56, 57, 58,
    59, 60, 61, 62, 63, 64, 65, 66, 67, 68,
];

/// The properties of a device.
pub fn properties(profile: &Profile, device: u32) -> DeviceProp {
    let get = |attribute| value(profile, device, attribute).unwrap_or(0);
    let mut name = [0; 256];
    let kept = profile.name.len().min(255);
    name[..kept].copy_from_slice(&profile.name.as_bytes()[..kept]);
    DeviceProp {
        name,
        uuid: context::uuid(device),
        luid: [0; 8],
        luid_device_node_mask: 0,
        total_global_mem: profile.total_bytes as usize,
        shared_mem_per_block: profile.shared_memory_per_block_bytes as usize,
        regs_per_block: get(12),
        warp_size: get(10),
        mem_pitch: get(11) as usize,
        max_threads_per_block: get(1),
        max_threads_dim: [get(2), get(3), get(4)],
        max_grid_size: [get(5), get(6), get(7)],
        total_const_mem: get(9) as usize,
        major: get(75),
        minor: get(76),
        texture_alignment: get(14) as usize,
        texture_pitch_alignment: get(51) as usize,
        multi_processor_count: get(16),
        integrated: get(18),
        can_map_host_memory: get(19),
        textures: TEXTURES.map(get),
        surface_alignment: get(30) as usize,
        concurrent_kernels: get(31),
        ecc_enabled: get(32),
        pci_bus_id: get(33),
        pci_device_id: get(34),
        pci_domain_id: get(50),
        tcc_driver: get(35),
        async_engine_count: get(40),
        unified_addressing: get(41),
        memory_bus_width: get(37),
        l2_cache_size: get(38),
        persisting_l2_cache_max_size: get(108),
        max_threads_per_multi_processor: get(39),
        stream_priorities_supported: get(78),
        global_l1_cache_supported: get(79),
        local_l1_cache_supported: get(80),
        shared_mem_per_multiprocessor: get(81) as usize,
        regs_per_multiprocessor: get(82),
        managed_memory: get(83),
        is_multi_gpu_board: get(84),
        multi_gpu_board_group_id: get(85),
        host_native_atomic_supported: get(86),
        pageable_memory_access: get(88),
        concurrent_managed_access: get(89),
        compute_preemption_supported: get(90),
        can_use_host_pointer_for_registered_mem: get(91),
        cooperative_launch: get(95),
        shared_mem_per_block_optin: get(97) as usize,
        pageable_memory_access_uses_host_page_tables: get(100),
        direct_managed_mem_access_from_host: get(101),
        max_blocks_per_multi_processor: get(106),
        access_policy_max_window_size: get(109),
        reserved_shared_mem_per_block: get(111) as usize,
        host_register_supported: get(99),
        sparse_cuda_array_supported: get(112),
        host_register_read_only_supported: get(113),
        timeline_semaphore_interop_supported: get(114),
        memory_pools_supported: get(115),
        gpu_direct_rdma_supported: get(116),
        gpu_direct_rdma_flush_writes_options: get(117) as u32,
        gpu_direct_rdma_writes_ordering: get(118),
        memory_pool_supported_handle_types: get(119) as u32,
        deferred_mapping_cuda_array_supported: get(121),
        ipc_event_supported: get(125),
        cluster_launch: get(120),
        unified_function_pointers: get(129),
        device_numa_config: get(130),
        device_numa_id: get(131),
        mps_enabled: get(133),
        host_numa_id: get(134),
        gpu_pci_device_id: get(139) as u32,
        gpu_pci_subsystem_id: get(140) as u32,
        host_numa_multinode_ipc_supported: get(143),
        reserved: [0; 56],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `sizeof` and `offsetof` as gcc prints them for CUDA 13.0's `driver_types.h`.
    #[test]
    fn the_layout_is_that_of_the_header() {
        use std::mem::offset_of;
        let cases = [
            (size_of::<DeviceProp>(), 1008),
            (offset_of!(DeviceProp, total_global_mem), 288),
            (offset_of!(DeviceProp, multi_processor_count), 384),
            (offset_of!(DeviceProp, surface_alignment), 552),
            (offset_of!(DeviceProp, l2_cache_size), 596),
            (offset_of!(DeviceProp, shared_mem_per_multiprocessor), 624),
            (offset_of!(DeviceProp, shared_mem_per_block_optin), 672),
            (offset_of!(DeviceProp, reserved_shared_mem_per_block), 696),
            (offset_of!(DeviceProp, cluster_launch), 748),
            (offset_of!(DeviceProp, reserved), 784),
        ];
        for (found, expected) in cases {
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn attributes_come_from_the_profile_and_unknown_ones_are_refused() {
        let profile = Profile::default();
        assert_eq!(value(&profile, 0, 16), Some(128));
        assert_eq!((value(&profile, 0, 75), value(&profile, 0, 76)), (Some(8), Some(9)));
        assert_eq!(value(&profile, 2, 33), Some(3));
        assert_eq!(value(&profile, 0, 4711), None);
    }
}
