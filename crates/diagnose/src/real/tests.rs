//! The judged ends of recorded runs.

use trace::run::{DeviceStats, EndRecord, Ended, ErrorRecord, GpuRecord, HostRecord, OomRecord};

use super::*;

fn process() -> Process {
    let stats = DeviceStats { allocated_peak_bytes: 2 << 30, reserved_peak_bytes: 3 << 30, ..DeviceStats::default() };
    let gpu = GpuRecord {
        name: "NVIDIA T4".to_owned(),
        total_bytes: 15 << 30,
        free_bytes: Some(14 << 30),
        ..GpuRecord::default()
    };
    let end = EndRecord { steps: 4, devices: vec![stats], ..EndRecord::default() };
    Process { gpus: vec![gpu], end: Some(end), ..Process::default() }
}

fn with_error(type_name: &str, oom: bool) -> Process {
    let (file, line) = (Some("/work/train.py".to_owned()), Some(9));
    let error = ErrorRecord { type_name: type_name.to_owned(), oom, file, line, ..ErrorRecord::default() };
    Process { errors: vec![error], ..process() }
}

fn with_caught_error() -> Process {
    let frames = vec![("f".to_owned(), "/work/train.py".to_owned(), 3)];
    Process { ooms: vec![OomRecord { frames, step: 2, ..OomRecord::default() }], ..process() }
}

fn at(line: u32) -> Location {
    locate(("/work/train.py".to_owned(), line))
}

fn judge(processes: Vec<Process>, ended: Option<Ended>, host: Option<HostRecord>) -> Real {
    let launch = Launch { ended, host: host.map(Box::new), ..crate::testing::launch() };
    Real::of(&Run { processes }, &launch, &[], "/work")
}

fn status(code: i32) -> Ended {
    Ended { exit_code: Some(code), ..Ended::default() }
}

fn signal(number: i32) -> Ended {
    Ended { signal: Some(number), ..Ended::default() }
}

#[test]
fn a_workers_error_is_found_in_its_parents() {
    let message = "\n\n-- Process 1 terminated with the following error:\nTraceback (most recent call last):\n  \
                   File \"/py/site-packages/torch/multiprocessing/spawn.py\", line 95, in _wrap\n    fn(i, *args)\n  \
                   File \"/work/train.py\", line 31, in work\n    raise ValueError(text)\nValueError: label 9: too large\n";
    let mut parent = with_error("torch.multiprocessing.spawn.ProcessRaisedException", false);
    parent.errors[0].message = message.to_owned();
    let report = judge(vec![process(), parent], Some(status(1)), None).report(None);
    let error = RaisedError { rank: Some(1), type_name: "ValueError".to_owned(), location: Some(at(31)) };
    assert_eq!((report.end, report.steps), (End::Status { status: 1, error: Some(error) }, 4));
}

#[test]
fn every_end_has_its_kind() {
    let error = |name: &str| Some(RaisedError { rank: None, type_name: name.to_owned(), location: Some(at(9)) });
    let (value, oom) = ("ValueError", "torch.OutOfMemoryError");
    // The expected end; true if memory ended it, if it is good, and the steps.
    let cases = [
        (vec![process()], Some(status(0)), End::Good, (false, true, 4)),
        (vec![with_caught_error()], Some(status(0)), End::Good, (false, false, 4)),
        (
            vec![with_error(value, false)],
            Some(status(1)),
            End::Status { status: 1, error: error(value) },
            (false, false, 4),
        ),
        (vec![with_error(oom, true)], Some(status(1)), End::Status { status: 1, error: error(oom) }, (true, false, 4)),
        (vec![process()], Some(signal(11)), End::Signal { signal: 11 }, (false, false, 4)),
        (vec![process()], Some(status(143)), End::Status { status: 143, error: None }, (false, false, 4)),
        (vec![], Some(status(5)), End::Status { status: 5, error: None }, (false, false, 0)),
        (vec![process()], None, End::Good, (false, true, 4)),
        (vec![Process { end: None, ..process() }], None, End::Open, (false, false, 0)),
        (vec![], None, End::Open, (false, false, 0)),
    ];
    for (processes, ended, end, (ran_out, is_good, steps)) in cases {
        let is_recorded = !processes.is_empty();
        let real = judge(processes, ended, None);
        assert_eq!(real.is_explained(), ran_out, "{end:?}");
        let report = real.report(None);
        assert_eq!((report.is_good(), report.is_recorded, report.steps), (is_good, is_recorded, steps), "{end:?}");
        assert_eq!(report.end, end);
    }
}

#[test]
fn a_caught_error_is_counted_and_a_fatal_one_is_not() {
    let caught = |processes, ended| judge(processes, ended, None).report(None).caught;
    assert_eq!(
        caught(vec![with_caught_error()], Some(status(0))),
        Some(CaughtErrors { errors: 1, location: Some(at(3)) })
    );
    let fatal = Process { errors: with_error("torch.OutOfMemoryError", true).errors, ..with_caught_error() };
    assert_eq!(caught(vec![fatal], Some(status(1))), None);
    assert_eq!(caught(vec![process()], Some(status(0))), None);
}

#[test]
fn a_context_is_no_other_process() {
    let memory = |free: u64| {
        let gpu = GpuRecord { free_bytes: Some(free << 30), ..process().gpus[0].clone() };
        judge(vec![Process { gpus: vec![gpu], ..process() }], Some(status(0)), None).report(None).memory
    };
    // 15 GiB in all, of which 3 GiB are reserved at most.
    let expected = |spare: u64, others: Option<u64>| {
        Some(UsedMemory {
            rank: None,
            gpu: "NVIDIA T4".to_owned(),
            total_bytes: Some(Bytes(15 << 30)),
            allocated_peak_bytes: Bytes(2 << 30),
            reserved_peak_bytes: Bytes(3 << 30),
            spare_bytes: Some(Bytes(spare << 30)),
            others_bytes: others.map(|gib| Bytes(gib << 30)),
        })
    };
    assert_eq!(memory(14), expected(11, None));
    assert_eq!(memory(13), expected(10, Some(2)));
    assert_eq!(memory(2), expected(0, Some(13)));
}

#[test]
fn a_limit_is_that_of_the_programs_group() {
    let host = |killed_processes, is_of_group| HostRecord {
        killed_processes,
        is_of_group,
        limit_bytes: Some(1 << 30),
        largest_process_bytes: 900 << 20,
        ended_micros: 0,
    };
    let kill = |processes, is_of_group: bool| HostKill {
        processes,
        is_of_group,
        limit_bytes: is_of_group.then_some(Bytes(1 << 30)),
        largest_process_bytes: Bytes(900 << 20),
    };
    let cases = [
        (host(None, true), None),
        (host(Some(0), false), Some(kill(0, false))),
        (host(Some(2), false), Some(kill(2, false))),
        (host(Some(1), true), Some(kill(1, true))),
    ];
    for (record, expected) in cases {
        assert_eq!(judge(vec![process()], Some(signal(9)), Some(record)).report(None).host, expected);
    }
}
