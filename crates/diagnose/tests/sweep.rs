//! Lines of a sweep without recordings, by table: every point runs once, and failures are answers. Replays are held to runs by
//! `tests/system/sweep.py`.

use diagnose::{Ending, LinePoint, SweepGpu, SweepLine, Trial};
use report::Usage;
use report::sweep::{HowKnown, PointVerdict, SweepPoint};
use trace::Bytes;

const MIB: u64 = 1 << 20;

/// A device of 1,000 MiB. The contexts take whole pages of 2 MiB: 100 MiB here, 60 on the runs' device.
fn judge(line: &mut SweepLine) -> Vec<SweepPoint> {
    let gpu = SweepGpu { name: "toy".to_owned(), capacity: Bytes(1000 * MIB), context: Bytes(100 * MIB - 5) };
    let answers = line.take_answers();
    answers
        .iter()
        .map(|(point, answer)| SweepPoint { number: point.number, ..answer.judge(&gpu, Bytes(60 * MIB - 5)) })
        .collect()
}

/// 100 MiB for each of `size`, and 60 of the context; `None` for a program that raises.
fn trial(bytes: Option<u64>) -> Trial {
    let Some(mib) = bytes else {
        return Trial { ending: Ending::Failed { message: "ValueError: five".to_owned() }, ..Trial::default() };
    };
    let (live, device) = (Bytes(mib * MIB), Bytes((mib + 60) * MIB));
    Trial { usage: Usage { allocated_bytes: live, reserved_bytes: live, device_bytes: device }, ..Trial::default() }
}

/// Runs a line; returns its points by number, and the number of runs.
fn run(sizes: &[Option<u64>], need: impl Fn(u64) -> Option<u64>) -> (Vec<SweepPoint>, usize) {
    let points = (0_u64..).zip(sizes).map(|(number, size)| LinePoint { number, size: *size, changes: Vec::new() });
    let mut line = SweepLine::new(points.collect());
    let (mut answers, mut runs) = (Vec::new(), 0);
    loop {
        let wanted = line.next();
        if wanted.is_empty() {
            break;
        }
        for index in wanted {
            runs += 1;
            let point = line.points()[index].clone();
            line.learn(index, &trial(need(point.size.unwrap_or(point.number))));
            answers.extend(judge(&mut line));
        }
    }
    answers.extend(judge(&mut line));
    answers.sort_by_key(|point| point.number);
    (answers, runs)
}

#[test]
fn without_recordings_every_point_runs_once() {
    let check = |sizes: &[Option<u64>]| {
        let (points, runs) = run(sizes, |size| Some(100 * size));
        let numbers: Vec<u64> = points.iter().map(|point| point.number).collect();
        assert_eq!(numbers, (0..sizes.len() as u64).collect::<Vec<u64>>(), "{sizes:?}");
        assert_eq!(runs, sizes.len(), "{sizes:?}");
        assert!(points.iter().all(|point| point.how == HowKnown::Run), "{sizes:?}");
    };
    check(&[Some(1)]);
    check(&[Some(1), Some(2)]);
    check(&[Some(1), Some(2), Some(3)]);
    check(&(1..=9).map(Some).collect::<Vec<_>>());
    check(&[Some(5), Some(1), Some(3), Some(2)]);
    check(&[None, None, None, None]);
}

#[test]
fn a_point_is_judged_with_the_context_of_its_gpu() {
    let (points, _) = run(&[Some(8), Some(9), Some(10)], |size| Some(100 * size));
    let found: Vec<_> = points.iter().map(|point| (point.verdict, point.need_bytes, point.spare_bytes)).collect();
    let expected = |verdict, need: u64, spare: i64| (verdict, Some(Bytes(need * MIB)), Some(spare * (1 << 20)));
    assert_eq!(
        found,
        [
            expected(PointVerdict::Fits, 900, 100),
            expected(PointVerdict::Fits, 1000, 0),
            expected(PointVerdict::Oom, 1100, -100),
        ]
    );
}

#[test]
fn a_program_that_raises_is_an_answer_and_the_others_go_on() {
    let sizes: Vec<Option<u64>> = (1..=7).map(Some).collect();
    for failing in 1..=7 {
        let (points, runs) = run(&sizes, |size| (size != failing).then_some(100 * size));
        let failed: Vec<_> = points.iter().filter(|point| point.verdict == PointVerdict::Failed).collect();
        assert_eq!((points.len(), runs, failed.len()), (7, 7, 1), "{failing}");
        assert_eq!((failed[0].number, failed[0].error.as_deref()), (failing - 1, Some("ValueError: five")));
    }
}
