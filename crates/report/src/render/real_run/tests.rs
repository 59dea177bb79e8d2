//! The sentences about ends, by hand.

use trace::Bytes;

use super::*;
use crate::real_run::{CaughtErrors, RaisedError, UnappliedRemedy};

const MEMORY: &str = "at most 2.00 GiB allocated, 3.00 GiB reserved (NVIDIA T4), 11.00 GiB to spare";
const NO_REQUEST: &str = "; no request for memory failed at the end";

fn at_line(line: u32) -> Location {
    Location { file: "/work/train.py".to_owned(), line, column: None }
}

fn report(end: End) -> RunReport {
    let memory = UsedMemory {
        gpu: "NVIDIA T4".to_owned(),
        total_bytes: Some(Bytes(15 << 30)),
        allocated_peak_bytes: Bytes(2 << 30),
        reserved_peak_bytes: Bytes(3 << 30),
        spare_bytes: Some(Bytes(11 << 30)),
        ..UsedMemory::default()
    };
    let folder = "/work".to_owned();
    RunReport { end, steps: 4, is_recorded: true, memory: Some(memory), folder, ..RunReport::default() }
}

fn status(status: i32) -> End {
    End::Status { status, error: None }
}

fn raised(rank: Option<u32>) -> End {
    let error = RaisedError { rank, type_name: "ValueError".to_owned(), location: Some(at_line(9)) };
    End::Status { status: 1, error: Some(error) }
}

fn host(processes: u64, is_of_group: bool) -> HostKill {
    let limit_bytes = is_of_group.then_some(Bytes(1 << 30));
    HostKill { processes, is_of_group, limit_bytes, largest_process_bytes: Bytes(900 << 20) }
}

#[test]
fn every_end_has_its_sentence() {
    let segv = "ended after step 4 by SIGSEGV (signal 11): a library has read or written a wrong address";
    let shell = "ended after step 4 with exit status 143, as a shell does after SIGTERM (signal 15), as by a scheduler or a launcher";
    let stopped = "rank 1 stopped first, after step 3, without a last record, as if killed; the program ended by SIGTERM (signal 15), as by a scheduler or a launcher";
    let open = "recorded up to step 5, without an end: it runs, or was killed";
    let unused = "no process that could be recorded used a GPU through PyTorch";
    let first = |steps| Some(StoppedRank { rank: 1, steps });
    let signal = |signal| report(End::Signal { signal });
    let unrecorded = |end| RunReport { is_recorded: false, steps: 0, memory: None, ..report(end) };
    let cases = vec![
        (report(End::Good), format!("4 steps; {MEMORY}")),
        (RunReport { steps: 0, ..report(End::Good) }, MEMORY.to_owned()),
        (RunReport { memory: None, ..report(End::Good) }, "4 steps; no memory was allocated".to_owned()),
        (report(raised(None)), format!("ended after step 4 with ValueError (train.py:9); {MEMORY}{NO_REQUEST}")),
        (
            report(raised(Some(1))),
            format!("rank 1 ended after step 4 with ValueError (train.py:9); {MEMORY}{NO_REQUEST}"),
        ),
        (signal(11), format!("{segv}; {MEMORY}{NO_REQUEST}")),
        (signal(64), format!("ended after step 4 by signal 64; {MEMORY}{NO_REQUEST}")),
        (report(status(143)), format!("{shell}; {MEMORY}{NO_REQUEST}")),
        (RunReport { stopped_first: first(3), ..signal(15) }, format!("{stopped}; {MEMORY}{NO_REQUEST}")),
        (report(End::Open), format!("{open}; {MEMORY}{NO_REQUEST}")),
        (unrecorded(status(5)), format!("ended with exit status 5; {unused}")),
        (unrecorded(End::Good), unused.to_owned()),
    ];
    for (report, expected) in cases {
        assert_eq!(headline(&report), expected);
    }
}

#[test]
fn the_memory_of_others_and_the_rank_are_said() {
    let mut report = report(End::Good);
    report.memory = report.memory.map(|memory| UsedMemory {
        rank: Some(3),
        others_bytes: Some(Bytes(2 << 30)),
        spare_bytes: None,
        ..memory
    });
    let expected = "4 steps; at most 2.00 GiB allocated, 3.00 GiB reserved (rank 3, NVIDIA T4); other processes and contexts used 2.00 GiB of its 15.00 GiB";
    assert_eq!(headline(&report), expected);
}

#[test]
fn the_kernel_names_its_kills() {
    let why = "as by the kernel for want of host memory, or by a scheduler";
    let nothing = "by a scheduler, a launcher or a user: the kernel killed nothing for want of host memory";
    let resident = "the largest process of the program had 900.00 MiB resident";
    let machine = format!("the kernel killed 2 processes of this machine for want of host memory; {resident}");
    let group = format!(
        "the kernel killed 1 process of this control group for want of host memory (limit 1.00 GiB); {resident}"
    );
    let cases = [
        (None, format!("SIGKILL (signal 9), {why}"), None),
        (Some(host(0, false)), format!("SIGKILL (signal 9), {nothing}"), None),
        (Some(host(2, false)), "SIGKILL (signal 9) for want of host memory".to_owned(), Some(machine)),
        (Some(host(1, true)), "SIGKILL (signal 9) for want of host memory".to_owned(), Some(group)),
    ];
    for (host, how, kills) in cases {
        let report = RunReport { host, ..report(End::Signal { signal: 9 }) };
        assert_eq!(headline(&report), format!("ended after step 4 by {how}; {MEMORY}{NO_REQUEST}"));
        assert_eq!(list_remarks(&report), Vec::from_iter(kills));
    }
}

#[test]
fn remarks_follow_in_one_order() {
    let last = |ranks: &[u32], step, location| LastAllocation { ranks: ranks.to_vec(), step, location };
    let remedy = UnappliedRemedy { remedy: "sdpa".to_owned(), reason: "no softmax is seen".to_owned() };
    let report = RunReport {
        silence: Some(Silence { seconds: 601, last: vec![last(&[1], 12, Some(at_line(7))), last(&[0, 2], 13, None)] }),
        caught: Some(CaughtErrors { errors: 2, location: Some(at_line(3)) }),
        unrecorded: vec!["Python 3.9".to_owned()],
        gaps: vec!["the last record".to_owned()],
        unapplied: vec![remedy],
        ..report(End::Signal { signal: 2 })
    };
    let expected = [
        "nothing was allocated in the last 601 s; last rank 1 at step 12 (train.py:7), ranks 0, 2 at step 13",
        "2 out-of-memory errors were caught (train.py:3)",
        "allocations were not recorded: Python 3.9",
        "not recorded: the last record",
        "sdpa was not applied: no softmax is seen",
    ];
    assert_eq!(list_remarks(&report), expected);
    let alone = Silence { seconds: 60, last: vec![last(&[0], 1, None)] };
    assert_eq!(words_of_silence(&alone, "/work"), "nothing was allocated in the last 60 s; last at step 1");
}
