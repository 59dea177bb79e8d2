//! `cudaDeviceProp`, in the layout of the program's CUDA (`driver_types.h` of CUDA 12.4, 12.8 and 13.0).
//!
//! CUDA 13 removed eight members and moved the following ones, so the two layouts are a single list, read twice.

use super::attribute;
use super::context;
use crate::device::Profile;

/// The layout that a caller has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Behind `cudaGetDeviceProperties_v2`.
    Cuda12,
    /// Behind `cudaGetDeviceProperties` in a program for CUDA 13.
    Cuda13,
}

/// `sizeof(cudaDeviceProp)` of CUDA 12.
pub(crate) const CUDA_12_BYTES: usize = 1032;
/// `sizeof(cudaDeviceProp)` of CUDA 13.
pub(crate) const CUDA_13_BYTES: usize = 1008;

/// The source of a member's value. Numbers are attributes.
#[derive(Clone, Copy)]
enum Member {
    /// `char[256]`.
    Name,
    /// `cudaUUID_t`.
    Uuid,
    /// `char[8]` and `unsigned`, which mean something on Windows alone.
    Luid,
    /// `size_t`: all memory of the device.
    TotalGlobalMem,
    /// `int`s and `unsigned`s, one for each attribute.
    Ints(&'static [i32]),
    /// The same, in CUDA 12 alone.
    Ints12(&'static [i32]),
    /// `size_t`.
    Size(i32),
}
use Member::{Ints, Ints12, Luid, Name, Size, TotalGlobalMem, Uuid};

/// All members in the header's order, except the reserved ones at the end.
const MEMBERS: &[Member] = &[
    Name,
    Uuid,
    Luid,
    TotalGlobalMem,
    Size(8),                      // sharedMemPerBlock
    Ints(&[12, 10]),              // regsPerBlock, warpSize
    Size(11),                     // memPitch
    Ints(&[1, 2, 3, 4, 5, 6, 7]), // maxThreadsPerBlock, maxThreadsDim, maxGridSize
    Ints12(&[13]),                // clockRate
    Size(9),                      // totalConstMem
    Ints(&[75, 76]),              // major, minor
    Size(14),                     // textureAlignment
    Size(51),                     // texturePitchAlignment
    Ints12(&[15]),                // deviceOverlap
    Ints(&[16]),                  // multiProcessorCount
    Ints12(&[17]),                // kernelExecTimeoutEnabled
    Ints(&[18, 19]),              // integrated, canMapHostMemory
    Ints12(&[20]),                // computeMode
    Ints(&[21, 77]),              // maxTexture1D, maxTexture1DMipmap
    Ints12(&[69]),                // maxTexture1DLinear
    // maxTexture2D … maxSurfaceCubemapLayered
    Ints(&[22, 23, 73, 74, 70, 71, 72, 45, 46, 24, 25, 26, 47, 48, 49, 52, 42, 43, 27, 28, 29, 53, 54]),
    Ints(&[55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68]),
    Size(30),                             // surfaceAlignment
    Ints(&[31, 32, 33, 34, 50, 35]), // concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver
    Ints(&[40, 41]),                 // asyncEngineCount, unifiedAddressing
    Ints12(&[36]),                   // memoryClockRate
    Ints(&[37, 38, 108, 39, 78, 79, 80]), // memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize … localL1CacheSupported
    Size(81),                             // sharedMemPerMultiprocessor
    Ints(&[82, 83, 84, 85, 86]),          // regsPerMultiprocessor, managedMemory … hostNativeAtomicSupported
    Ints12(&[87]),                        // singleToDoublePrecisionPerfRatio
    Ints(&[88, 89, 90, 91, 95]),          // pageableMemoryAccess … cooperativeLaunch
    Ints12(&[96]),                        // cooperativeMultiDeviceLaunch
    Size(97),                             // sharedMemPerBlockOptin
    Ints(&[100, 101, 106, 109]),          // pageableMemoryAccessUsesHostPageTables … accessPolicyMaxWindowSize
    Size(111),                            // reservedSharedMemPerBlock
    Ints(&[99, 112, 113, 114, 115]),      // hostRegisterSupported … memoryPoolsSupported
    Ints(&[116, 117, 118, 119, 121]),     // gpuDirectRDMASupported … deferredMappingCudaArraySupported
    Ints(&[125, 120, 129]),               // ipcEventSupported, clusterLaunch, unifiedFunctionPointers
];

/// Members of CUDA 13 in the space that CUDA 12 reserves: deviceNumaConfig … hostNumaMultinodeIpcSupported.
const AFTER_12: Member = Ints(&[130, 131, 133, 134, 139, 140, 143]);

/// The properties of a device, in a layout of `BYTES` bytes; reserved bytes are zero.
pub(crate) fn properties<const BYTES: usize>(layout: Layout, profile: &Profile, device: u32) -> [u8; BYTES] {
    let mut writer = Writer { bytes: [0; BYTES], end: 0 };
    let last = (layout == Layout::Cuda13).then_some(&AFTER_12);
    for member in MEMBERS.iter().chain(last) {
        writer.member(*member, layout, profile, device);
    }
    writer.bytes
}

/// Lays members out as a C compiler does: each at the next multiple of its own size.
struct Writer<const BYTES: usize> {
    bytes: [u8; BYTES],
    end: usize,
}

impl<const BYTES: usize> Writer<BYTES> {
    fn member(&mut self, member: Member, layout: Layout, profile: &Profile, device: u32) {
        let get = |number| attribute::value(profile, device, number).unwrap_or(0);
        match member {
            Name => self.name(&profile.name),
            Uuid => self.put(&context::uuid(crate::device::physical(device)), 1),
            Luid => self.put(&[0; 12], 1),
            TotalGlobalMem => self.put(&profile.total_bytes.to_ne_bytes(), 8),
            Size(number) => self.put(&i64::from(get(number)).to_ne_bytes(), 8),
            Ints12(_) if layout == Layout::Cuda13 => (),
            Ints(numbers) | Ints12(numbers) => {
                for number in numbers {
                    self.put(&get(*number).to_ne_bytes(), 4);
                }
            }
        }
    }

    /// Text that is cut to fit and ends in NUL.
    fn name(&mut self, name: &str) {
        let mut text = [0; 256];
        let kept = name.len().min(255);
        text[..kept].copy_from_slice(&name.as_bytes()[..kept]);
        self.put(&text, 1);
    }

    fn put(&mut self, value: &[u8], alignment: usize) {
        let start = self.end.next_multiple_of(alignment);
        self.end = start + value.len();
        self.bytes[start..self.end].copy_from_slice(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offsets as printed by gcc for each header, and the attribute at each offset.
    #[test]
    fn members_lie_where_the_headers_have_them() {
        let profile = Profile::default();
        let old: [u8; CUDA_12_BYTES] = properties(Layout::Cuda12, &profile, 3);
        let new: [u8; CUDA_13_BYTES] = properties(Layout::Cuda13, &profile, 3);
        // Attribute, offset in CUDA 12, offset in CUDA 13.
        let cases = [
            (12, 304, 304),  // regsPerBlock
            (75, 360, 360),  // major
            (16, 388, 384),  // multiProcessorCount
            (21, 408, 396),  // maxTexture1D
            (30, 568, 552),  // surfaceAlignment
            (38, 616, 596),  // l2CacheSize
            (39, 624, 604),  // maxThreadsPerMultiProcessor
            (81, 640, 624),  // sharedMemPerMultiprocessor
            (97, 696, 672),  // sharedMemPerBlockOptin
            (111, 720, 696), // reservedSharedMemPerBlock
            (99, 728, 704),  // hostRegisterSupported
            (120, 772, 748), // clusterLaunch
        ];
        for (number, in_12, in_13) in cases {
            let expected = attribute::value(&profile, 3, number);
            assert_eq!((int(&old, in_12), int(&new, in_13)), (expected, expected), "attribute {number}");
        }
    }

    fn int(bytes: &[u8], offset: usize) -> Option<i32> {
        Some(i32::from_ne_bytes(bytes.get(offset..offset + 4)?.try_into().ok()?))
    }

    #[test]
    fn a_long_name_is_cut_and_ends() {
        let profile = Profile { name: "x".repeat(400), ..Profile::default() };
        let bytes: [u8; CUDA_13_BYTES] = properties(Layout::Cuda13, &profile, 0);
        assert_eq!((bytes[254], bytes[255]), (b'x', 0));
    }

    #[test]
    fn what_is_reserved_is_zero() {
        let profile = Profile::default();
        let old: [u8; CUDA_12_BYTES] = properties(Layout::Cuda12, &profile, 0);
        let new: [u8; CUDA_13_BYTES] = properties(Layout::Cuda13, &profile, 0);
        assert!(old[780..].iter().chain(&new[784..]).all(|byte| *byte == 0));
    }
}
