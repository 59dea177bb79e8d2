//! Spatial transformers (`affine_grid`, `grid_sample`): no sizes are asked for, nothing is computed.

use super::{CudnnStatus, count, create, destroy, known, library};
use crate::api::captured::inert_on_stream;
use crate::boundary::{In, Out, export};
use crate::handle::{Handle, Table};

static TRANSFORMERS: Table<()> = Table::new();

export! { CudnnStatus;
    fn cudnnCreateSpatialTransformerDescriptor(out: Out<Handle>) {
        create(&TRANSFORMERS, (), out)
    }

    fn cudnnDestroySpatialTransformerDescriptor(handle: Handle) {
        destroy(&TRANSFORMERS, handle)
    }

    fn cudnnSetSpatialTransformerNdDescriptor(
        handle: Handle, _sampler: i32, _data_type: i32, length: i32, _dims: In<i32>,
    ) {
        count(length)?;
        known(&TRANSFORMERS, handle, |()| ())
    }
}

inert_on_stream! { CudnnStatus, library::stream_of;
    cudnnSpatialTfGridGeneratorBackward
    cudnnSpatialTfGridGeneratorForward
    cudnnSpatialTfSamplerBackward
    cudnnSpatialTfSamplerForward
}
