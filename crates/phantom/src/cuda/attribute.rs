//! Device attributes by CUDA's numbers, which the runtime and the driver share (`cudaDeviceAttr`, `CUdevice_attribute`).

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
pub(crate) fn value(profile: &Profile, device: u32, attribute: i32) -> Option<i32> {
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
        // An eighth of the device's L2 may not persist; only GPUs since 8.0 have the feature.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_come_from_the_profile_and_unknown_ones_are_refused() {
        let profile = Profile::default();
        assert_eq!(value(&profile, 0, 16), Some(128));
        assert_eq!((value(&profile, 0, 75), value(&profile, 0, 76)), (Some(8), Some(9)));
        assert_eq!(value(&profile, 2, 33), Some(3));
        assert_eq!(value(&profile, 0, 4711), None);
    }
}
