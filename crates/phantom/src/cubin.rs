//! The parameters of kernels, read from the machine code that a program loads at run time.
//!
//! # Note [Parameters in a cubin]
//!
//! A cubin is an ELF file of 64 bits. The section `.nv.info.NAME` has attributes of the kernel `NAME`:
//!
//! ```text
//! attribute   u8 format · u8 kind · u16 length, or a value where the format is not 4 · bytes where it is
//! parameter   (kind 0x17) u32 index · u16 ordinal · u16 offset · u32 of which the upper 14 bits are the size in bytes
//! ```
//! As printed by `cuobjdump -elf` (`EIATTR_KPARAM_INFO`), seen in the output of CUDA 13.0's ptxas for Triton.

use std::collections::BTreeMap;
use std::ffi::c_void;

const MAGIC: &[u8; 4] = b"\x7fELF";
const HEADER_BYTES: usize = 64;
const SECTION_BYTES: usize = 64;
/// No cubin is larger.
const MOST_BYTES: usize = 1 << 30;
const SECTION_PREFIX: &[u8] = b".nv.info.";
const HAS_BYTES: u8 = 4;
const PARAMETER: u8 = 0x17;

/// The sizes of a kernel's parameters, in their order.
pub(crate) type Parameters = Vec<usize>;

/// The parameters of each kernel of an image; nothing for an image that is no cubin (PTX, a fat binary).
pub(crate) fn parameters_of(image: *const c_void) -> BTreeMap<Vec<u8>, Parameters> {
    if image.is_null() {
        return BTreeMap::new();
    }
    // SAFETY: `cuModuleLoadData`'s contract is that the image is a cubin, a fat binary or a text that ends with 0:
    // reading stops at the first byte that differs from an ELF file's.
    let is_elf = MAGIC.iter().enumerate().all(|(at, byte)| unsafe { *image.cast::<u8>().add(at) } == *byte);
    if !is_elf {
        return BTreeMap::new();
    }
    // SAFETY: an ELF file has a header of 64 bytes, which says where its table of sections ends.
    let header = unsafe { std::slice::from_raw_parts(image.cast::<u8>(), HEADER_BYTES) };
    let Some(length) = table_end(header).filter(|length| *length <= MOST_BYTES) else { return BTreeMap::new() };
    // SAFETY: the file reaches to the end of the table stated in its header.
    let table = unsafe { std::slice::from_raw_parts(image.cast::<u8>(), length) };
    let length = sections(table).map(|section| section.end).fold(length, usize::max);
    if length > MOST_BYTES {
        return BTreeMap::new();
    }
    // SAFETY: the file reaches to the end of the sections stated in its table.
    parse(unsafe { std::slice::from_raw_parts(image.cast::<u8>(), length) })
}

/// The offsets of a section in the file and of its name among the names.
struct Section {
    name: usize,
    start: usize,
    end: usize,
}

fn table_end(header: &[u8]) -> Option<usize> {
    let (start, count) = (number(header, 40, 8)?, number(header, 60, 2)?);
    start.checked_add(count.checked_mul(SECTION_BYTES)?)
}

fn sections(file: &[u8]) -> impl Iterator<Item = Section> + '_ {
    let (start, count) = (number(file, 40, 8).unwrap_or(0), number(file, 60, 2).unwrap_or(0));
    (0..count).filter_map(move |index| {
        let at = start + index * SECTION_BYTES;
        // A section of kind 8 (`SHT_NOBITS`) has no bytes in the file.
        let size = if number(file, at + 4, 4)? == 8 { 0 } else { number(file, at + 32, 8)? };
        let begin = number(file, at + 24, 8)?;
        Some(Section { name: number(file, at, 4)?, start: begin, end: begin.checked_add(size)? })
    })
}

fn parse(file: &[u8]) -> BTreeMap<Vec<u8>, Parameters> {
    let names =
        number(file, 62, 2).and_then(|index| sections(file).nth(index)).and_then(|it| file.get(it.start..it.end));
    let Some(names) = names else { return BTreeMap::new() };
    let kernels = sections(file).filter_map(|section| {
        let name = names.get(section.name..)?.split(|byte| *byte == 0).next()?;
        let kernel = name.strip_prefix(SECTION_PREFIX)?;
        Some((kernel.to_vec(), parameters_in(file.get(section.start..section.end)?)))
    });
    kernels.collect()
}

/// The parameters among a kernel's attributes; stops at what cannot be read.
fn parameters_in(mut attributes: &[u8]) -> Parameters {
    let mut sizes = BTreeMap::new();
    while let [format, kind, low, high, rest @ ..] = attributes {
        let length = if *format == HAS_BYTES { usize::from(u16::from_le_bytes([*low, *high])) } else { 0 };
        let Some(bytes) = rest.get(..length) else { break };
        if let (PARAMETER, Some(ordinal), Some(flags)) = (*kind, number(bytes, 4, 2), number(bytes, 8, 4)) {
            sizes.insert(ordinal, flags >> 18);
        }
        attributes = &rest[length..];
    }
    sizes.into_values().collect()
}

/// A little-endian number of so many bytes.
fn number(bytes: &[u8], at: usize, length: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(length)?)?;
    Some(bytes.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parameter(ordinal: u16, size: u32) -> Vec<u8> {
        let mut bytes = vec![HAS_BYTES, PARAMETER, 12, 0, 0, 0, 0, 0];
        bytes.extend(ordinal.to_le_bytes());
        bytes.extend([0, 0]);
        bytes.extend((size << 18).to_le_bytes());
        bytes
    }

    #[test]
    fn parameters_come_in_their_order_among_other_attributes() {
        let other = [3, 0x1b, 0xff, 0];
        let attributes = [parameter(1, 4), other.to_vec(), parameter(0, 8), vec![HAS_BYTES, 9, 200, 0]].concat();
        assert_eq!(parameters_in(&attributes), [8, 4]);
    }

    #[test]
    fn an_image_that_is_no_cubin_has_none() {
        assert!(parameters_of(c".version 8.0".as_ptr().cast()).is_empty());
        assert!(parameters_of(std::ptr::null()).is_empty());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            parse(&bytes);
            parameters_in(&bytes);
        }
    }
}
