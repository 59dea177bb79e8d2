//! Tensor, filter and activation descriptors: they return their settings.

use super::shape::{Tensor, element_bytes};
use super::{Answer, CudnnStatus, count, create, destroy, known};
use crate::boundary::{In, Out, Status, export};
use crate::handle::{Handle, Table};

/// `CUDNN_TENSOR_NHWC`; the other formats keep channels outside.
const NHWC: i32 = 1;

/// A filter: a packed tensor in one of the formats.
#[derive(Clone, Default)]
struct Filter {
    format: i32,
    tensor: Tensor,
}

static TENSORS: Table<Tensor> = Table::new();
static FILTERS: Table<Filter> = Table::new();
/// Activations have no stored settings: no size depends on the function.
static ACTIVATIONS: Table<()> = Table::new();

/// The settings of the tensor behind `handle`.
pub(crate) fn get(handle: Handle) -> Answer<Tensor> {
    known(&TENSORS, handle, |tensor| tensor.clone())
}

/// Sets the tensor behind `handle`, for calls that fill a descriptor of the caller's.
pub(crate) fn set(handle: Handle, value: Tensor) -> Answer {
    known(&TENSORS, handle, |tensor| *tensor = value)
}

/// The settings of the filter behind `handle`.
pub(crate) fn filter(handle: Handle) -> Answer<Tensor> {
    known(&FILTERS, handle, |filter| filter.tensor.clone())
}

fn extents(array: In<i32>, length: i32) -> Answer<Vec<i64>> {
    Ok(array.array(count(length)?).to_vec()?.into_iter().map(i64::from).collect())
}

fn write(array: Out<i32>, values: &[i64], room: usize) -> Answer {
    array.array(room).write(values.iter().take(room).map(|&value| value as i32))
}

fn check_data_type(data_type: i32) -> Answer {
    element_bytes(data_type).map(drop).ok_or(CudnnStatus::INVALID)
}

export! { CudnnStatus;
    fn cudnnCreateTensorDescriptor(out: Out<Handle>) {
        create(&TENSORS, Tensor::default(), out)
    }

    fn cudnnDestroyTensorDescriptor(handle: Handle) {
        destroy(&TENSORS, handle)
    }

    fn cudnnSetTensorNdDescriptor(handle: Handle, data_type: i32, length: i32, dims: In<i32>, strides: In<i32>) {
        check_data_type(data_type)?;
        set(handle, Tensor { data_type, dims: extents(dims, length)?, strides: extents(strides, length)? })
    }

    fn cudnnGetTensorNdDescriptor(
        handle: Handle, requested: i32, data_type: Out<i32>, length: Out<i32>, dims: Out<i32>, strides: Out<i32>,
    ) {
        let tensor = get(handle)?;
        let room = count(requested)?;
        write(dims, &tensor.dims, room)?;
        write(strides, &tensor.strides, room)?;
        data_type.set(tensor.data_type)?;
        length.set(tensor.dims.len() as i32)
    }

    fn cudnnCreateFilterDescriptor(out: Out<Handle>) {
        create(&FILTERS, Filter::default(), out)
    }

    fn cudnnDestroyFilterDescriptor(handle: Handle) {
        destroy(&FILTERS, handle)
    }

    fn cudnnSetFilterNdDescriptor(handle: Handle, data_type: i32, format: i32, length: i32, dims: In<i32>) {
        check_data_type(data_type)?;
        let dims = extents(dims, length)?;
        let tensor =
            if format == NHWC { Tensor::channels_last(data_type, dims) } else { Tensor::packed(data_type, dims) };
        known(&FILTERS, handle, |filter| *filter = Filter { format, tensor })
    }

    fn cudnnGetFilterNdDescriptor(
        handle: Handle, requested: i32, data_type: Out<i32>, format: Out<i32>, length: Out<i32>, dims: Out<i32>,
    ) {
        let filter = known(&FILTERS, handle, |filter| filter.clone())?;
        write(dims, &filter.tensor.dims, count(requested)?)?;
        data_type.set(filter.tensor.data_type)?;
        format.set(filter.format)?;
        length.set(filter.tensor.dims.len() as i32)
    }

    fn cudnnCreateActivationDescriptor(out: Out<Handle>) {
        create(&ACTIVATIONS, (), out)
    }

    fn cudnnDestroyActivationDescriptor(handle: Handle) {
        destroy(&ACTIVATIONS, handle)
    }

    fn cudnnSetActivationDescriptor(handle: Handle, _mode: i32, _nan_propagation: i32, _coefficient: f64) {
        known(&ACTIVATIONS, handle, |()| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tensor_descriptor_gives_back_what_was_set() {
        let (dims, strides) = ([2, 3, 4, 5], [60, 20, 5, 1]);
        let mut handle = std::ptr::null_mut();
        assert_eq!(cudnnCreateTensorDescriptor(Out::to(&mut handle)), CudnnStatus::SUCCESS);
        let set = cudnnSetTensorNdDescriptor(handle, 2, 4, In::to(&dims).cast(), In::to(&strides).cast());
        assert_eq!(set, CudnnStatus::SUCCESS);
        let (mut data_type, mut length, mut got) = (-1, -1, ([-1; 3], [-1; 3]));
        let (dims_out, strides_out) = (Out::to(&mut got.0).cast(), Out::to(&mut got.1).cast());
        let status =
            cudnnGetTensorNdDescriptor(handle, 3, Out::to(&mut data_type), Out::to(&mut length), dims_out, strides_out);
        assert_eq!((status, data_type, length), (CudnnStatus::SUCCESS, 2, 4));
        assert_eq!(got, ([2, 3, 4], [60, 20, 5]), "no more is written than was asked for");
    }

    #[test]
    fn a_filter_descriptor_gives_back_what_was_set() {
        let mut handle = std::ptr::null_mut();
        assert_eq!(cudnnCreateFilterDescriptor(Out::to(&mut handle)), CudnnStatus::SUCCESS);
        let set = cudnnSetFilterNdDescriptor(handle, 0, 1, 4, In::to(&[64, 3, 7, 7]).cast());
        assert_eq!(set, CudnnStatus::SUCCESS);
        let (mut data_type, mut format, mut length, mut dims) = (-1, -1, -1, [-1; 4]);
        let status = cudnnGetFilterNdDescriptor(
            handle,
            4,
            Out::to(&mut data_type),
            Out::to(&mut format),
            Out::to(&mut length),
            Out::to(&mut dims).cast(),
        );
        assert_eq!((status, data_type, format, length), (CudnnStatus::SUCCESS, 0, 1, 4));
        assert_eq!(dims, [64, 3, 7, 7]);
        assert_eq!(filter(handle).map(|tensor| tensor.is_channels_last()), Ok(true));
    }

    #[test]
    fn wrong_parameters_are_refused() {
        let mut handle = std::ptr::null_mut();
        assert_eq!(cudnnCreateTensorDescriptor(Out::to(&mut handle)), CudnnStatus::SUCCESS);
        let dims = [1, 1];
        for (data_type, length) in [(99, 2), (0, -1)] {
            let set = cudnnSetTensorNdDescriptor(handle, data_type, length, In::to(&dims).cast(), In::to(&dims).cast());
            assert_eq!(set, CudnnStatus::INVALID);
        }
        assert_eq!(cudnnDestroyTensorDescriptor(handle), CudnnStatus::SUCCESS);
        assert_eq!(cudnnDestroyTensorDescriptor(handle), CudnnStatus::INVALID);
    }
}
