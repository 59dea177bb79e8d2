//! The models: figures worked out by hand, and bounds.

use proptest::prelude::*;

use super::super::shape::HALF;
use super::*;

fn gpu(compute_capability: (u32, u32)) -> Profile {
    Profile { compute_capability, multiprocessors: 100, ..Profile::default() }
}

#[test]
fn scores_are_rounded_up_to_whole_tiles() {
    assert_eq!(score_gradients(&[2, 3, 65, 64]), 2 * 3 * 128 * 64 * 2);
}

#[test]
fn only_channels_last_batch_norm_needs_partial_sums() {
    let dims = vec![4, 64, 7, 7];
    assert_eq!(batch_norm(&gpu((8, 0)), &Tensor::packed(HALF, dims.clone())), 0);
    assert_eq!(batch_norm(&gpu((8, 0)), &Tensor::channels_last(HALF, dims)), 64 * 2 * 4 * 100);
}

proptest! {
    #[test]
    fn no_shape_overflows(extents in proptest::collection::vec(any::<i64>(), 0..6)) {
        let tensor = Tensor::packed(HALF, extents);
        batch_norm(&gpu((8, 0)), &tensor);
        ctc(&tensor, u64::MAX);
        score_gradients(&tensor.dims);
    }
}
