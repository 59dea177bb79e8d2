//! The model of each GPU: figures worked out by hand, the evidence, bounds, and that more never takes less.
#![expect(clippy::unwrap_used, reason = "test")]

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
        (Direction::BackwardFilter, HALF, false, (8, 9), 2 * (x + w + y) + 4 * 16 * w),
        (Direction::BackwardFilter, FLOAT, true, (10, 0), 4 * 16 * w),
    ];
    for (direction, data_type, channels_last, capability, expected) in cases {
        let bytes = convolution(&gpu(capability), &layer(direction, data_type, channels_last));
        assert_eq!(bytes, expected, "{direction:?} {data_type} {channels_last} {capability:?}");
    }
}

/// `conv-plain-no-tf32` in `tests/validation/truth/nvidia-h200` reserves 580 MiB for a backward.
#[test]
fn fp32_without_tf32_is_backward_by_transformed_squares() {
    let of = |direction, kernel| Convolution {
        direction,
        x: Tensor::packed(FLOAT, vec![16, 128, 128, 128]),
        w: Tensor::packed(FLOAT, vec![128, 128, kernel, kernel]),
        y: Tensor::packed(FLOAT, vec![16, 128, 128, 128]),
    };
    let squares = 2 * (16 * 128 * 32 * 32 * 36 * 4) + 128 * 128 * 36 * 4;
    let cases = [(Direction::Forward, 3, 0), (Direction::BackwardData, 3, squares), (Direction::BackwardData, 5, 0)];
    for (direction, kernel, expected) in cases {
        assert_eq!(convolution_in_fp32(&gpu((9, 0)), &of(direction, kernel)), expected, "{direction:?} {kernel}");
    }
    assert_eq!(u64::div_ceil(squares, 2 << 20) * 2, 580);
}

#[test]
fn only_fp32_on_hopper_has_a_choice_of_precision() {
    for (data_type, capability, expected) in [(FLOAT, (9, 0), true), (HALF, (9, 0), false), (FLOAT, (8, 0), false)] {
        let layer = layer(Direction::Forward, data_type, false);
        assert_eq!(has_choice_of_precision(&gpu(capability), &layer), expected, "{data_type} {capability:?}");
    }
}

#[test]
fn partial_sums_are_bounded_by_the_device() {
    let [x, w, y] = [(); 3].map(|()| Tensor::channels_last(HALF, vec![4096, 4096, 3, 3]));
    let huge = Convolution { direction: Direction::BackwardFilter, x, w, y };
    assert_eq!(convolution(&gpu((8, 0)), &huge), 100 * 128 * 128 * 4);
}

/// The numbers of a convolution of the evidence, its place there, and the measured bytes of each direction.
struct Measurement {
    index: usize,
    sizes: Vec<Vec<i64>>,
    mode: &'static str,
    output: Vec<i64>,
    requests: [Vec<u64>; 3],
}

const EVIDENCE: &str = include_str!("../../../../../evidence/convolutions_h200.json");
const H200: u32 = 132;

/// The rows: a mode, six columns of sizes, and the requests of each direction.
fn read_evidence() -> Vec<Measurement> {
    let mut seen = std::collections::HashMap::new();
    let rows = EVIDENCE.lines().filter_map(|line| line.strip_prefix("[\"")?.split_once("\","));
    rows.map(|(mode, numbers)| {
        let (sizes, requests) = split_columns(numbers);
        let count = seen.len();
        let index = *seen.entry(sizes.clone()).or_insert(count);
        Measurement { index, mode, requests, ..Measurement::of(sizes) }
    })
    .collect()
}

/// The five lists of sizes, and the three lists of requests. The number of groups follows from the sizes.
fn split_columns(numbers: &str) -> (Vec<Vec<i64>>, [Vec<u64>; 3]) {
    let lists = numbers.split('[').skip(1).map(|list| list.split(']').next().unwrap());
    let lists: Vec<Vec<i64>> = lists.map(read_list).collect();
    let requests = [5, 6, 7].map(|index| lists[index].iter().map(|&bytes| bytes as u64).collect());
    (lists[..5].to_vec(), requests)
}

fn read_list(list: &str) -> Vec<i64> {
    list.split(',').filter(|number| !number.is_empty()).map(|number| number.parse().unwrap()).collect()
}

impl Measurement {
    fn of(sizes: Vec<Vec<i64>>) -> Measurement {
        let [input, filter, stride, padding, dilation] = [0, 1, 2, 3, 4].map(|index| &sizes[index]);
        let side = |axis: usize| {
            let reach = input[axis + 2] + 2 * padding[axis] - dilation[axis] * (filter[axis + 2] - 1) - 1;
            reach / stride[axis] + 1
        };
        let output = vec![input[0], filter[0], side(0), side(1)];
        Measurement { index: 0, mode: "", output, requests: [const { Vec::new() }; 3], sizes }
    }
}

/// The measured and the modelled bytes of each direction.
fn compare(row: &Measurement) -> [(u64, u64); 3] {
    let (data_type, make): (_, fn(i32, Vec<i64>) -> Tensor) = match row.mode {
        "fp32" => (FLOAT, Tensor::packed),
        "bf16" => (BFLOAT16, Tensor::packed),
        _ => (HALF, Tensor::channels_last),
    };
    let [x, w, y] = [&row.sizes[0], &row.sizes[1], &row.output].map(|sizes| make(data_type, sizes.clone()));
    let h200 = Profile { compute_capability: (9, 0), multiprocessors: H200, ..Profile::default() };
    let results =
        [(Direction::Forward, y.bytes()), (Direction::BackwardData, x.bytes()), (Direction::BackwardFilter, w.bytes())];
    let mut found = results.into_iter().zip(&row.requests).map(|((direction, result), requests)| {
        let modelled = convolution(&h200, &Convolution { direction, x: x.clone(), w: w.clone(), y: y.clone() });
        (requests.iter().sum::<u64>() - result, modelled)
    });
    std::array::from_fn(|_| found.next().unwrap())
}

/// Rows of each kind: mode, batch, channels and side of the input; channels and side of the filter; stride; groups; the
/// measured bytes of forward, the gradient of the input and that of the filter.
#[test]
fn kinds_of_convolutions_take_the_measured_bytes() {
    let cases = [
        ("fp32", [64, 64, 56], [64, 3], 1, 1, [102_908_051, 102_908_051, 104_972_967]),
        ("fp32", [64, 256, 56], [512, 1], 2, 1, [206_045_200, 308_281_491, 316_670_607]),
        ("fp32", [48, 192, 56], [128, 1], 1, 1, [400, 400, 4_718_992]),
        ("fp32", [128, 64, 112], [64, 3], 2, 64, [0, 0, 0]),
        ("fp32", [64, 3, 224], [96, 4], 4, 1, [0, 0, 0]),
        ("fp32", [64, 72, 56], [216, 1], 2, 1, [0, 0, 0]),
        ("bf16", [64, 512, 28], [1024, 1], 2, 1, [77_070_483, 77_070_483, 77_070_352]),
        ("bf16", [96, 1152, 7], [320, 1], 1, 1, [13_848_592, 13_848_723, 13_848_592]),
        ("bf16", [64, 1512, 14], [1512, 3], 2, 63, [64_382_992, 64_382_992, 64_383_123]),
        ("fp16-cl", [64, 512, 14], [512, 3], 2, 1, [0, 131, 131]),
        ("fp16-cl", [128, 480, 14], [480, 3], 1, 480, [0, 8_846, 17_694_720]),
    ];
    for (mode, [batch, inputs, side], [outputs, kernel], stride, groups, measured) in cases {
        let padding = if kernel % 2 == 1 { kernel / 2 } else { 0 };
        let filter = vec![outputs, inputs / groups, kernel, kernel];
        let sizes = [vec![batch, inputs, side, side], filter, vec![stride; 2], vec![padding; 2], vec![1; 2]];
        let row = read_evidence().into_iter().find(|row| row.mode == mode && row.sizes == sizes).unwrap();
        for (case, expected) in compare(&row).into_iter().zip(measured) {
            assert_eq!(case.0, expected, "{mode} {sizes:?}");
            assert!(case.0.abs_diff(case.1) < 16 << 10, "{mode} {sizes:?}: {case:?}");
        }
    }
}

/// Of the rows that the rules were found on, and of the others: the share that is a KiB apart at most, and the sum of the
/// errors as a share of the measured bytes.
#[test]
fn the_evidence_is_explained() {
    for half in [0, 1] {
        let rows = read_evidence().into_iter().filter(|row| row.index % 2 == half);
        let pairs: Vec<(u64, u64)> = rows.flat_map(|row| compare(&row)).collect();
        let close = pairs.iter().filter(|(measured, modelled)| measured.abs_diff(*modelled) < 1024).count();
        let errors: u64 = pairs.iter().map(|(measured, modelled)| measured.abs_diff(*modelled)).sum();
        let measured: u64 = pairs.iter().map(|(measured, _)| measured).sum();
        println!("half {half}: {close} of {}, {} of {} MiB", pairs.len(), errors >> 20, measured >> 20);
        assert!(pairs.len() > 1600, "{} pairs", pairs.len());
        assert!(close * 5 > pairs.len() * 4, "half {half}: {close} of {}", pairs.len());
        assert!(errors * 6 < measured, "half {half}: {errors} of {measured} bytes");
    }
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
