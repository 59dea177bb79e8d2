//! The architectures that a program's kernels were compiled for, read from the registered fat binaries.
//!
//! Libraries ask for the architecture of a kernel (`cudaFuncGetAttributes`) and choose their algorithm by the answer;
//! CUB refuses an architecture without compiled code. A GPU runs the newest code of its generation up to its own
//! version: an RTX 4090 (8.9) runs code for 8.6. The answer must therefore come from the binary.
//!
//! # Note [Fat binary]
//!
//! ```text
//! wrapper   u32 magic 0x466243b1 · u32 version · pointer to the header · pointer
//! header    u32 magic 0xba55ed50 · u16 version · u16 header bytes · u64 bytes of all entries
//! entry     u16 kind (1 = PTX, 2 = machine code) · u16 · u32 header bytes · u64 payload bytes · … · u32 arch at 28
//! ```
//! `fatbinary_section.h` of the CUDA toolkit names the wrapper; the rest is as `cuobjdump` reads the file.

use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

const WRAPPER_MAGIC: u32 = 0x4662_43b1;
const HEADER_MAGIC: u32 = 0xba55_ed50;
const ENTRY_ARCH_OFFSET: usize = 28;

/// An architecture as code is named for it: 86 is `sm_86`.
pub(crate) type Arch = u32;

/// Modules and the kernels registered from them; a kernel is the address of its host stub.
#[derive(Default)]
struct Registry {
    modules: Vec<Vec<Arch>>,
    kernels: Vec<(usize, u32)>,
    is_sorted: bool,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry { modules: Vec::new(), kernels: Vec::new(), is_sorted: false });

/// Registers a fat binary and returns its number.
pub(crate) fn register(wrapper: *const c_void) -> u32 {
    let archs = archs_of(wrapper);
    let mut registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    registry.modules.push(archs);
    registry.modules.len() as u32 - 1
}

/// Notes that a kernel belongs to a fat binary.
pub(crate) fn register_kernel(module: u32, stub: usize) {
    let mut registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    registry.kernels.push((stub, module));
    registry.is_sorted = false;
}

/// The architecture of the code that a device of this capability would run for a kernel.
pub(crate) fn arch_of(stub: usize, capability: (u32, u32)) -> Arch {
    let mut registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    if !registry.is_sorted {
        registry.kernels.sort_unstable();
        registry.is_sorted = true;
    }
    let found = registry.kernels.binary_search_by_key(&stub, |(stub, _)| *stub);
    let module = found.ok().map(|index| registry.kernels[index].1 as usize);
    let archs = module.and_then(|module| registry.modules.get(module)).map_or(&[][..], Vec::as_slice);
    choose(archs, capability)
}

/// The newest code of the device's own generation up to its version; without such code, the device's own architecture
/// (PTX is compiled at load time for the device).
fn choose(archs: &[Arch], (major, minor): (u32, u32)) -> Arch {
    let own = major * 10 + minor;
    archs.iter().copied().filter(|arch| arch / 10 == major && *arch <= own).max().unwrap_or(own)
}

fn archs_of(wrapper: *const c_void) -> Vec<Arch> {
    if wrapper.is_null() {
        return Vec::new();
    }
    // SAFETY: nvcc's registration code passes the wrapper of Note [Fat binary], 24 bytes in the program's data.
    let (magic, header) =
        unsafe { (wrapper.cast::<u32>().read_unaligned(), wrapper.cast::<*const u8>().add(1).read_unaligned()) };
    if magic != WRAPPER_MAGIC || header.is_null() {
        return Vec::new();
    }
    // SAFETY: the wrapper points to a header of 16 bytes, which states how many bytes of entries follow it.
    let entries = unsafe {
        let head = std::slice::from_raw_parts(header, 16);
        let (Some(HEADER_MAGIC), Some(bytes)) = (word(head, 0), word64(head, 8)) else { return Vec::new() };
        std::slice::from_raw_parts(header.add(16), bytes as usize)
    };
    archs_in(entries)
}

/// The architectures of the machine code among entries; stops at the first that does not fit.
fn archs_in(mut entries: &[u8]) -> Vec<Arch> {
    const MACHINE_CODE: u32 = 2;
    let mut archs = Vec::new();
    while let (Some(kind), Some(head_bytes), Some(payload_bytes), Some(arch)) =
        (word(entries, 0), word(entries, 4), word64(entries, 8), word(entries, ENTRY_ARCH_OFFSET))
    {
        if kind & 0xffff == MACHINE_CODE {
            archs.push(arch);
        }
        let Some(bytes) = (head_bytes as usize).checked_add(payload_bytes as usize).filter(|bytes| *bytes > 0) else {
            break;
        };
        let Some(rest) = entries.get(bytes..) else { break };
        entries = rest;
    }
    archs.sort_unstable();
    archs.dedup();
    archs
}

fn word(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(offset..offset + 4)?.try_into().ok()?))
}

fn word64(bytes: &[u8], offset: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(offset..offset + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(kind: u16, arch: u32, payload: usize) -> Vec<u8> {
        let mut bytes = vec![0; 64 + payload];
        bytes[..2].copy_from_slice(&kind.to_le_bytes());
        bytes[4..8].copy_from_slice(&64u32.to_le_bytes());
        bytes[8..16].copy_from_slice(&(payload as u64).to_le_bytes());
        bytes[28..32].copy_from_slice(&arch.to_le_bytes());
        bytes
    }

    #[test]
    fn machine_code_is_listed_and_ptx_is_not() {
        let entries = [entry(2, 86, 40), entry(1, 120, 8), entry(2, 75, 0)].concat();
        assert_eq!(archs_in(&entries), [75, 86]);
        assert_eq!(archs_in(&entries[..100]), [86], "a cut list is a valid prefix");
    }

    #[test]
    fn a_device_runs_the_newest_code_of_its_generation() {
        let torch = [75, 80, 86, 90, 100, 120];
        let cases = [((8, 9), 86), ((8, 0), 80), ((7, 5), 75), ((9, 0), 90), ((12, 0), 120), ((10, 3), 100)];
        for (capability, arch) in cases {
            assert_eq!(choose(&torch, capability), arch);
        }
        assert_eq!(choose(&torch, (6, 1)), 61, "no code for it: left to the driver");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            archs_in(&bytes);
        }
    }
}
