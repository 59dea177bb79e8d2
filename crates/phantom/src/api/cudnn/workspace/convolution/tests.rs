//! The model of each GPU: figures worked out by hand, the evidence, bounds, and that more never takes less.

use proptest::prelude::*;

use super::*;

fn gpu(compute_capability: (u32, u32)) -> Profile {
    Profile { compute_capability, multiprocessors: 100, ..Profile::default() }
}

fn layer(direction: Direction, data_type: i32, channels_last: bool) -> Convolution {
    let tensor = if channels_last { Tensor::channels_last } else { Tensor::packed };
    Convolution {
        direction,
        x: tensor(data_type, vec![8, 16, 32, 32]),
        w: tensor(data_type, vec![32, 16, 3, 3]),
        y: tensor(data_type, vec![8, 32, 30, 30]),
    }
}

#[test]
fn tensors_are_copied_where_tensor_cores_need_channels_last() {
    let (x, w, y) = (8 * 16 * 32 * 32, 32 * 16 * 9, 8 * 32 * 30 * 30);
    let cases = [
        (Direction::Forward, HALF, false, (8, 0), 2 * (x + w + y)),
        (Direction::Forward, HALF, true, (8, 0), 0),
        (Direction::Forward, FLOAT, false, (8, 0), 4 * (x + w + y)),
        (Direction::Forward, FLOAT, false, (7, 5), 0),
        (Direction::BackwardData, HALF, false, (7, 5), 2 * (x + w + y)),
        (Direction::BackwardData, BFLOAT16, false, (7, 5), 0),
        (Direction::BackwardFilter, HALF, false, (9, 0), 2 * (x + w + y) + 4 * 16 * w),
        (Direction::BackwardFilter, FLOAT, true, (9, 0), 4 * 16 * w),
    ];
    for (direction, data_type, channels_last, capability, expected) in cases {
        let bytes = convolution(&gpu(capability), &layer(direction, data_type, channels_last));
        assert_eq!(bytes, expected, "{direction:?} {data_type} {channels_last} {capability:?}");
    }
}

#[test]
fn partial_sums_are_bounded_by_the_device() {
    let huge = Tensor::packed(HALF, vec![4096, 4096, 3, 3]);
    assert_eq!(copies_of_all(&gpu((8, 0)), &huge), 100 * 128 * 128 * 4);
}

fn extent() -> impl Strategy<Value = i64> {
    1..512_i64
}

fn extents() -> impl Strategy<Value = Vec<i64>> {
    proptest::collection::vec(any::<i64>(), 0..6)
}

proptest! {
    #[test]
    fn more_channels_or_pixels_never_take_less(
        batch in extent(), inputs in extent(), outputs in extent(), side in 3..64_i64,
    ) {
        let of = |batch, inputs, outputs, side: i64| Convolution {
            direction: Direction::BackwardFilter,
            x: Tensor::packed(HALF, vec![batch, inputs, side, side]),
            w: Tensor::packed(HALF, vec![outputs, inputs, 3, 3]),
            y: Tensor::packed(HALF, vec![batch, outputs, side - 2, side - 2]),
        };
        let gpu = gpu((8, 0));
        let small = convolution(&gpu, &of(batch, inputs, outputs, side));
        let cases = [(2 * batch, inputs, outputs, side), (batch, inputs + 1, outputs, side),
            (batch, inputs, outputs + 1, side), (batch, inputs, outputs, side + 1)];
        for (batch, inputs, outputs, side) in cases {
            prop_assert!(convolution(&gpu, &of(batch, inputs, outputs, side)) >= small);
        }
    }

    #[test]
    fn no_shape_overflows(
        x in extents(), w in extents(), y in extents(), data_type in prop_oneof![Just(HALF), Just(FLOAT)], last in any::<bool>(),
    ) {
        let tensor = if last { Tensor::channels_last } else { Tensor::packed };
        let [x, w, y] = [x, w, y].map(|extents| tensor(data_type, extents));
        for direction in [Direction::Forward, Direction::BackwardData, Direction::BackwardFilter] {
            let layer = Convolution { direction, x: x.clone(), w: w.clone(), y: y.clone() };
            convolution(&gpu((8, 0)), &layer);
            convolution(&gpu((9, 0)), &layer);
        }
    }
}
