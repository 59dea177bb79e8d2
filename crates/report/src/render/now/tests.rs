//! The lines about a device, by hand.

use super::*;

fn at(line: u32) -> Location {
    Location { file: "/work/train.py".to_owned(), line, column: None }
}

fn device(growth: Option<StepGrowth>, lines: Vec<HeldLine>) -> DeviceNow {
    let figures = DeviceMetrics {
        name: "NVIDIA T4".to_owned(),
        total_bytes: 16 << 30,
        allocated_bytes: 4 << 30,
        reserved_bytes: 5 << 30,
        allocated_peak_bytes: 6 << 30,
        reserved_peak_bytes: 7 << 30,
        growth,
        ..DeviceMetrics::default()
    };
    DeviceNow { steps: 1200, figures, grows_at: growth.map(|_| at(31)), lines, ..DeviceNow::default() }
}

fn growth(steps_to_error: u64) -> StepGrowth {
    StepGrowth { per_step_bytes: 3 << 19, steps_to_error }
}

#[test]
fn the_first_line_stands_alone() {
    let start = "step 1,200: 4.00 GiB of 16.00 GiB allocated";
    let grows = |steps| format!("{start}; 1.50 MiB stay of each step (train.py:31): full in {steps}");
    let cases = [
        (device(None, vec![]), start.to_owned()),
        (device(Some(growth(5400)), vec![]), grows("5,400 steps")),
        (device(Some(growth(1)), vec![]), grows("1 step")),
        (DeviceNow { rank: Some(2), ..device(None, vec![]) }, format!("rank 2, {start}")),
        (
            DeviceNow { steps: 0, ..device(None, vec![]) },
            "no optimizer step yet: 4.00 GiB of 16.00 GiB allocated".to_owned(),
        ),
    ];
    for (device, expected) in cases {
        let second = "  5.00 GiB reserved; at most 6.00 GiB allocated, 7.00 GiB reserved so far (NVIDIA T4)";
        assert_eq!(list_lines(&device, "/work"), [expected.as_str(), second]);
    }
}

#[test]
fn lines_stand_by_their_share_and_few_are_named() {
    let line = |number: u32| HeldLine { location: Some(at(number)), bytes: Bytes(256 << 20), blocks: 2 };
    let none = HeldLine { location: None, bytes: Bytes(1 << 30), blocks: 1 };
    let lines: Vec<HeldLine> = [none].into_iter().chain((1..=9).map(line)).collect();
    let rows = list_lines(&device(None, lines), "/work").split_off(2);
    assert_eq!(rows[0], "    1.00 GiB   25 %  no line of the program, as in a backward pass (1 block)");
    assert_eq!(rows[1], "  256.00 MiB    6 %  train.py:1 (2 blocks)");
    assert_eq!((rows.len(), rows[8].as_str()), (9, "  512.00 MiB   12 %  2 further lines (4 blocks)"));
}

#[test]
fn the_answer_is_about_the_device_that_is_full_first() {
    let rank = |rank, device| DeviceNow { rank: Some(rank), ..device };
    let fuller = |mut device: DeviceNow| {
        device.figures.allocated_bytes = 8 << 30;
        device
    };
    let cases = [
        (vec![], "no process of the program has used a GPU through PyTorch yet"),
        (vec![rank(0, device(None, vec![])), rank(1, fuller(device(None, vec![])))], "rank 1, "),
        (vec![rank(0, fuller(device(None, vec![]))), rank(1, device(Some(growth(5)), vec![]))], "rank 1, "),
        (vec![rank(0, device(Some(growth(9)), vec![])), rank(1, device(Some(growth(5)), vec![]))], "rank 1, "),
    ];
    for (devices, expected) in cases {
        let report = NowReport { devices, folder: "/work".to_owned(), ..NowReport::default() };
        assert!(headline(&report).starts_with(expected), "{}", headline(&report));
    }
}
