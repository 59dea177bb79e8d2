//! Tensors as cuDNN describes them: element type, dimensions, strides.

/// Bytes of one element of a `cudnnDataType_t`; 4-bit types round up to one. `None` for a number the header lacks.
pub(crate) fn element_bytes(data_type: i32) -> Option<u64> {
    Some(match data_type {
        // CUDNN_DATA_INT8, UINT8, BOOLEAN, the FP8 formats, and FP4, INT4 and UINT4.
        3 | 6 | 11..=13 | 15..=18 => 1,
        // HALF, BFLOAT16.
        2 | 9 => 2,
        // FLOAT, INT32, INT8x4, UINT8x4, FAST_FLOAT_FOR_FP8, UINT32.
        0 | 4 | 5 | 7 | 14 | 19 => 4,
        // DOUBLE, INT64, COMPLEX_FP32.
        1 | 10 | 20 => 8,
        // COMPLEX_FP64.
        21 => 16,
        // INT8x32.
        8 => 32,
        _ => return None,
    })
}

/// `CUDNN_DATA_FLOAT`.
pub(crate) const FLOAT: i32 = 0;
/// `CUDNN_DATA_HALF`.
pub(crate) const HALF: i32 = 2;
/// `CUDNN_DATA_BFLOAT16`.
pub(crate) const BFLOAT16: i32 = 9;

/// One tensor: `dims[0]` is the batch (or the outputs of a filter), `dims[1]` the channels.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tensor {
    /// `cudnnDataType_t`.
    pub(crate) data_type: i32,
    /// Extents, outermost first.
    pub(crate) dims: Vec<i64>,
    /// Strides in elements, as many as `dims`.
    pub(crate) strides: Vec<i64>,
}

impl Tensor {
    /// A tensor without gaps, with the last dimension innermost.
    pub(crate) fn packed(data_type: i32, dims: Vec<i64>) -> Tensor {
        let mut strides = vec![1; dims.len()];
        for index in (1..dims.len()).rev() {
            strides[index - 1] = dims[index].max(1).saturating_mul(strides[index]);
        }
        Tensor { data_type, dims, strides }
    }

    /// A tensor without gaps, with the channels innermost.
    pub(crate) fn channels_last(data_type: i32, dims: Vec<i64>) -> Tensor {
        let mut strides = vec![1; dims.len()];
        let mut stride = dims.get(1).copied().unwrap_or(1).max(1);
        for index in (0..dims.len()).rev().filter(|&index| index != 1) {
            strides[index] = stride;
            stride = dims[index].max(1).saturating_mul(stride);
        }
        Tensor { data_type, dims, strides }
    }

    /// Number of elements.
    pub(crate) fn elements(&self) -> u64 {
        self.dims.iter().fold(1, |product, &extent| product.saturating_mul(u64::try_from(extent).unwrap_or(0)))
    }

    /// Bytes of the elements without gaps. An unknown type counts as four bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.elements().saturating_mul(element_bytes(self.data_type).unwrap_or(4))
    }

    /// True if channels lie innermost, as tensor-core kernels read them: also if both orders are the same.
    pub(crate) fn is_channels_last(&self) -> bool {
        let one_channel = self.dims.get(1).is_none_or(|&channels| channels == 1);
        let one_pixel = self.dims.iter().skip(2).all(|&extent| extent == 1);
        one_channel || one_pixel || self.strides.get(1) == Some(&1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_told_apart() {
        let cases = [
            (Tensor::packed(FLOAT, vec![8, 3, 32, 32]), vec![3072, 1024, 32, 1], false),
            (Tensor::channels_last(FLOAT, vec![8, 3, 32, 32]), vec![3072, 1, 96, 3], true),
            (Tensor::packed(FLOAT, vec![8, 64, 1, 1]), vec![64, 1, 1, 1], true),
            (Tensor::packed(FLOAT, vec![8, 1, 28, 28]), vec![784, 784, 28, 1], true),
        ];
        for (tensor, strides, channels_last) in cases {
            assert_eq!(tensor.strides, strides);
            assert_eq!(tensor.is_channels_last(), channels_last, "{tensor:?}");
        }
    }

    #[test]
    fn bytes_follow_the_element_type() {
        for (data_type, bytes) in [(FLOAT, 24), (HALF, 12), (BFLOAT16, 12), (1, 48), (3, 6)] {
            assert_eq!(Tensor::packed(data_type, vec![2, 3]).bytes(), bytes);
        }
    }
}
