//! The attribute lists of cublasLt's descriptors: any attribute can be set, and reads back as set or as its default.

use super::super::cublas::CublasStatus;
use crate::boundary::{In, Out, Status};

/// No attribute of `cublasLt.h` is larger; what is, is a mistake of the caller.
const LARGEST_BYTES: usize = 64;
/// Room for as many settings as PyTorch makes on any descriptor of a linear layer's product.
const USUAL_SETTINGS: usize = 8;

/// A kind of descriptor: the sizes of its attributes, and the attributes with another start value than zero.
pub(crate) struct DescriptorKind {
    /// Attributes that `cublasLt.h` (CUDA 13.0) numbers from zero to here.
    pub(crate) last: i32,
    /// Attributes of eight bytes; all others but `narrow` take four.
    pub(crate) wide: &'static [i32],
    /// Attributes with a size of 1 byte.
    pub(crate) narrow: &'static [i32],
    /// Non-zero defaults, by attribute.
    pub(crate) defaults: &'static [(i32, i64)],
}

/// `cublasLtMatmulDescAttributes_t`. Defaults: fill mode "full" = 2, epilogue "default" = 1, data types -1.
pub(crate) static MATMUL: DescriptorKind = DescriptorKind {
    last: 38,
    wide: &[8, 10, 11, 12, 13, 14, 17, 18, 19, 20, 21, 23, 24, 36, 38],
    narrow: &[25],
    defaults: &[(6, 2), (7, 1), (22, -1), (26, -1)],
};

/// `cublasLtMatrixLayoutAttribute_t`. Defaults: one matrix in the batch.
pub(crate) static LAYOUT: DescriptorKind =
    DescriptorKind { last: 8, wide: &[2, 3, 4, 6, 7], narrow: &[], defaults: &[(5, 1)] };

/// `cublasLtMatmulPreferenceAttributes_t`. Defaults: every reduction scheme, 256-byte alignment, every implementation.
pub(crate) static PREFERENCE: DescriptorKind = DescriptorKind {
    last: 12,
    wide: &[1, 12],
    narrow: &[],
    defaults: &[(3, 0x7), (5, 256), (6, 256), (7, 256), (8, 256), (12, -1)],
};

/// `cublasLtMatrixTransformDescAttributes_t`.
pub(crate) static TRANSFORM: DescriptorKind = DescriptorKind { last: 3, wide: &[], narrow: &[], defaults: &[] };

/// `cublasLtEmulationDescAttributes_t`. Defaults: special values as the library thinks best.
pub(crate) static EMULATION: DescriptorKind =
    DescriptorKind { last: 5, wide: &[5], narrow: &[], defaults: &[(1, 0xFFFF)] };

impl DescriptorKind {
    fn default_bytes(&self, attribute: i32) -> Option<Vec<u8>> {
        if !(0..=self.last).contains(&attribute) {
            return None;
        }
        let set = self.defaults.iter().find(|(known, _)| *known == attribute);
        let value = set.map_or(0, |(_, value)| *value).to_le_bytes();
        Some(value[..self.size(attribute)].to_vec())
    }

    fn size(&self, attribute: i32) -> usize {
        match attribute {
            wide if self.wide.contains(&wide) => 8,
            narrow if self.narrow.contains(&narrow) => 1,
            _ => 4,
        }
    }
}

/// The value of an attribute. Bytes are stored inline: PyTorch makes four descriptors for every product, and a heap block per value
/// would cost more than the rest of the call.
struct Setting {
    attribute: i32,
    bytes: [u8; LARGEST_BYTES],
    length: usize,
}

impl Setting {
    fn value(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// A descriptor: the kind, and the values set so far.
pub(crate) struct Attributes {
    kind: &'static DescriptorKind,
    settings: Vec<Setting>,
}

impl Attributes {
    /// A descriptor on which nothing was set.
    pub(crate) fn new(kind: &'static DescriptorKind) -> Attributes {
        Attributes { kind, settings: Vec::with_capacity(USUAL_SETTINGS) }
    }

    /// Sets an attribute to a value of ours, which is no longer than the longest attribute.
    #[must_use]
    pub(crate) fn with(mut self, attribute: i32, value: &[u8]) -> Attributes {
        let mut bytes = [0; LARGEST_BYTES];
        bytes[..value.len()].copy_from_slice(value);
        self.keep(Setting { attribute, bytes, length: value.len() });
        self
    }

    /// Sets an attribute from the caller's buffer.
    pub(crate) fn set(&mut self, attribute: i32, buffer: In<u8>, length: usize) -> Result<(), CublasStatus> {
        if length == 0 || length > LARGEST_BYTES {
            return Err(CublasStatus::INVALID);
        }
        let mut bytes = [0; LARGEST_BYTES];
        buffer.array(length).read::<CublasStatus>(&mut bytes[..length])?;
        self.keep(Setting { attribute, bytes, length });
        Ok(())
    }

    fn keep(&mut self, setting: Setting) {
        match self.settings.iter_mut().find(|known| known.attribute == setting.attribute) {
            Some(known) => *known = setting,
            None => self.settings.push(setting),
        }
    }

    /// Writes an attribute into the caller's buffer. A buffer of zero bytes asks for the size only.
    pub(crate) fn get(
        &self,
        attribute: i32,
        buffer: Out<u8>,
        bytes: usize,
        written: Out<usize>,
    ) -> Result<(), CublasStatus> {
        let value = self.value(attribute).ok_or(CublasStatus::INVALID)?;
        if bytes == 0 {
            return written.set(value.len());
        }
        if buffer.is_null() || bytes < value.len() {
            return Err(CublasStatus::INVALID);
        }
        buffer.array(bytes).write::<CublasStatus>(value.iter().copied())?;
        written.set_if_wanted(value.len());
        Ok(())
    }

    fn value(&self, attribute: i32) -> Option<Vec<u8>> {
        let set = self.settings.iter().find(|known| known.attribute == attribute);
        set.map(|known| known.value().to_vec()).or_else(|| self.kind.default_bytes(attribute))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(attributes: &Attributes, attribute: i32, bytes: usize) -> Result<(Vec<u8>, usize), CublasStatus> {
        let (mut room, mut written) = ([0xAAu8; 16], 0);
        attributes.get(attribute, Out::to(&mut room).cast(), bytes, Out::to(&mut written))?;
        Ok((room[..written].to_vec(), written))
    }

    #[test]
    fn attributes_start_as_the_header_says() {
        let cases: [(&'static DescriptorKind, i32, &[u8]); 6] = [
            (&MATMUL, 7, &[1, 0, 0, 0]),
            (&MATMUL, 26, &[0xFF; 4]),
            (&MATMUL, 8, &[0; 8]),
            (&MATMUL, 25, &[0]),
            (&LAYOUT, 5, &[1, 0, 0, 0]),
            (&PREFERENCE, 1, &[0; 8]),
        ];
        for (kind, attribute, expected) in cases {
            assert_eq!(read(&Attributes::new(kind), attribute, 16).map(|(bytes, _)| bytes), Ok(expected.to_vec()));
        }
    }

    #[test]
    fn what_was_set_reads_back() {
        let mut attributes = Attributes::new(&PREFERENCE);
        assert_eq!(attributes.set(1, In::to(&[1u8, 2, 3, 4, 5, 6, 7, 8]).cast(), 8), Ok(()));
        assert_eq!(read(&attributes, 1, 8), Ok((vec![1, 2, 3, 4, 5, 6, 7, 8], 8)));
        assert_eq!(attributes.set(1, In::to(&[9u8; 8]).cast(), 8), Ok(()));
        assert_eq!(read(&attributes, 1, 8), Ok((vec![9; 8], 8)), "what is set again replaces what was set");
        assert_eq!(read(&attributes, 1, 4), Err(CublasStatus::INVALID), "a buffer too small is refused");
        assert_eq!(read(&attributes, 99, 8), Err(CublasStatus::INVALID), "so is an unknown attribute");
        assert_eq!(attributes.set(1, In::to(&0u8), 0), Err(CublasStatus::INVALID));
    }
}
