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

#[test]
fn partial_sums_are_bounded_by_the_device() {
    let [x, w, y] = [(); 3].map(|()| Tensor::channels_last(HALF, vec![4096, 4096, 3, 3]));
    let huge = Convolution { direction: Direction::BackwardFilter, x, w, y };
    assert_eq!(convolution(&gpu((8, 0)), &huge), 100 * 128 * 128 * 4);
}

/// The numbers of a convolution of the evidence, its place there, and the measured bytes of each direction.
struct Row {
    index: usize,
    mode: &'static str,
    input: Vec<i64>,
    filter: Vec<i64>,
    output: Vec<i64>,
    requests: [Vec<u64>; 3],
}

const EVIDENCE: &str = include_str!("../../../../../evidence/convolutions_h200.json");
const H200: u32 = 132;

/// The rows: a mode, six columns of sizes, and the requests of each direction.
fn read_evidence() -> Vec<Row> {
    let mut seen = std::collections::HashMap::new();
    let rows = EVIDENCE.lines().filter_map(|line| line.strip_prefix("[\"")?.split_once("\","));
    rows.map(|(mode, numbers)| {
        let (sizes, requests) = split_columns(numbers);
        let count = seen.len();
        let index = *seen.entry(sizes.clone()).or_insert(count);
        Row { index, mode, requests, ..read_sizes(&sizes) }
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

fn read_sizes(sizes: &[Vec<i64>]) -> Row {
    let [input, filter, stride, padding, dilation] = sizes else { panic!("five lists of sizes, not {}", sizes.len()) };
    let side = |axis: usize| {
        let reach = input[axis + 2] + 2 * padding[axis] - dilation[axis] * (filter[axis + 2] - 1) - 1;
        reach / stride[axis] + 1
    };
    let output = vec![input[0], filter[0], side(0), side(1)];
    Row {
        index: 0,
        mode: "",
        input: input.clone(),
        filter: filter.clone(),
        output,
        requests: [const { Vec::new() }; 3],
    }
}

/// The measured and the modelled bytes of each direction.
fn compare(row: &Row) -> [(u64, u64); 3] {
    let (data_type, make): (_, fn(i32, Vec<i64>) -> Tensor) = match row.mode {
        "fp32" => (FLOAT, Tensor::packed),
        "bf16" => (BFLOAT16, Tensor::packed),
        _ => (HALF, Tensor::channels_last),
    };
    let [x, w, y] = [&row.input, &row.filter, &row.output].map(|sizes| make(data_type, sizes.clone()));
    let h200 = Profile { compute_capability: (9, 0), multiprocessors: H200, ..Profile::default() };
    let results =
        [(Direction::Forward, y.bytes()), (Direction::BackwardData, x.bytes()), (Direction::BackwardFilter, w.bytes())];
    let mut found = results.into_iter().zip(&row.requests).map(|((direction, result), requests)| {
        let modelled = convolution(&h200, &Convolution { direction, x: x.clone(), w: w.clone(), y: y.clone() });
        (requests.iter().sum::<u64>() - result, modelled)
    });
    std::array::from_fn(|_| found.next().unwrap())
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
