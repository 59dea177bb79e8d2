//! The sentences about two runs.

use trace::DeviceIndex;

use super::*;
use crate::against::ComparedRun;
use crate::finding::Location;

fn line(number: u32) -> ComparedLine {
    let location = Location { file: "/work/train.py".to_owned(), line: number, column: None };
    ComparedLine { location: Some(location), ..ComparedLine::default() }
}

fn request(number: u32, mib: u64) -> ComparedRequest {
    ComparedRequest { line: line(number), bytes: Bytes::from_mib(mib), is_failed: false }
}

fn failed(number: u32, mib: u64) -> ComparedRequest {
    ComparedRequest { is_failed: true, ..request(number, mib) }
}

fn parted(requests: [Option<ComparedRequest>; 2], peaks: [u64; 2]) -> ComparedDevice {
    let parting = Parting { step: Some(2), requests, ..Parting::default() };
    ComparedDevice { parting: Some(parting), ..equal(peaks) }
}

fn equal(peaks: [u64; 2]) -> ComparedDevice {
    let peak = |mib| ComparedPeak { allocated_bytes: Bytes::from_mib(mib), ..ComparedPeak::default() };
    ComparedDevice { equal_requests: 3412, steps: 3, peaks: peaks.map(peak), ..ComparedDevice::default() }
}

fn kept(peaks: [u64; 2]) -> ComparedDevice {
    let bytes = peaks.map(Bytes::from_mib);
    let lines = vec![LineDifference { line: line(7), bytes, counts: [1, 1] }];
    ComparedDevice { lines, keeping: Some(Keeping::default()), ..equal(peaks) }
}

fn report(devices: Vec<ComparedDevice>) -> AgainstReport {
    AgainstReport { focus: Some(0), devices, folder: "/work".to_owned(), ..AgainstReport::default() }
}

fn ended(runs: [Option<&str>; 2]) -> AgainstReport {
    let run = |failed: Option<&str>| ComparedRun { failed: failed.map(str::to_owned), ..ComparedRun::default() };
    AgainstReport { runs: runs.map(run), ..report(vec![equal([5, 5])]) }
}

fn check(report: &AgainstReport, expected: &str) {
    assert_eq!(headline(report), expected);
}

#[test]
fn a_difference_is_one_sentence() {
    let both = |a, b| report(vec![parted([Some(a), Some(b)], [8, 9])]);
    check(
        &both(request(4, 64), request(4, 128)),
        "the runs part at step 2, train.py:4: 64.00 MiB in A, 128.00 MiB in B; the peak is 1.00 MiB higher in B",
    );
    check(
        &both(request(4, 64), request(5, 1)),
        "the runs part at step 2, 64.00 MiB for train.py:4 in A, 1.00 MiB for train.py:5 in B; \
         the peak is 1.00 MiB higher in B",
    );
    check(
        &both(failed(4, 64), request(4, 64)),
        "the runs part at step 2, train.py:4: 64.00 MiB in A, where memory ran out, 64.00 MiB in B; \
         the peak is 1.00 MiB higher in B",
    );
    check(
        &report(vec![parted([None, Some(request(4, 64))], [9, 8])]),
        "the runs part at step 2, train.py:4: 64.00 MiB only in B; the peak is 1.00 MiB higher in A",
    );
    check(
        &report(vec![kept([8, 9])]),
        "the requests are equal, and B keeps more: train.py:7 has 1.00 MiB more at the peak; \
         the peak is 1.00 MiB higher in B",
    );
}

#[test]
fn requests_of_libraries_and_another_order_are_named() {
    let of = |is_of_libraries, is_reordered| {
        let mut device = parted([Some(request(4, 8)), Some(request(5, 8))], [8, 8]);
        let parting = device.parting.take().unwrap_or_default();
        device.parting = Some(Parting { is_of_libraries, is_reordered, step: None, ..parting });
        report(vec![device])
    };
    check(
        &of(true, false),
        "the program's requests are equal, those inside libraries part, 8.00 MiB for train.py:4 in A, \
         8.00 MiB for train.py:5 in B; peak 8.00 MiB in both",
    );
    check(
        &of(false, true),
        "the runs part, train.py:4: the same requests come in another order; peak 8.00 MiB in both",
    );
}

#[test]
fn equal_runs_are_one_sentence() {
    check(&report(vec![equal([5, 5])]), "no difference: 3,412 requests of 3 steps are equal; peak 5.00 MiB in both");
    check(
        &ended([None, Some("ended by SIGKILL")]),
        "no difference up to the end of B: 3,412 requests are equal; B ended by SIGKILL",
    );
    check(&ended([Some("ended"), Some("ended")]), "no difference: 3,412 requests are equal; both runs ended");
    check(&ended([Some("x"), Some("y")]), "no difference: 3,412 requests are equal; A x, B y");
    check(
        &report(vec![equal([5, 5]), equal([5, 5])]),
        "no difference: 6,824 requests of 3 steps are equal; peak 5.00 MiB in both",
    );
}

#[test]
fn ranks_are_named_where_they_differ() {
    let first = parted([None, Some(request(4, 64))], [9, 9]);
    check(
        &report(vec![ComparedDevice { rank: 3, ..first }, equal([5, 5])]),
        "rank 3: the runs part at step 2, train.py:4: 64.00 MiB only in B; peak 9.00 MiB in both",
    );
    let alone = |run| AloneDevice { run, rank: 1, device: DeviceIndex(0), allocated_bytes: Bytes::from_mib(4) };
    let without = |alone| AgainstReport { alone, ..AgainstReport::default() };
    check(&without(vec![]), "neither run used a GPU through PyTorch");
    check(&without(vec![alone(1)]), "only B used a GPU through PyTorch");
    check(&without(vec![alone(0), alone(1)]), "the runs used different ranks or devices");
    assert_eq!(words_of_alone(&alone(1)), "rank 1, cuda:0 is only in B: 4.00 MiB at its peak");
}

#[test]
fn longer_blocks_and_longer_runs_are_told_in_words() {
    let keeping = |freed| Keeping { request: request(4, 1), step: 1, freed };
    let cases = [
        ([Some(2), None], "kept from step 1 on in B: train.py:4, which A frees in step 2"),
        ([None, Some(2)], "kept from step 1 on in A: train.py:4, which B frees in step 2"),
        ([Some(2), Some(4)], "kept from step 1 to step 4 in B: train.py:4, which A frees in step 2"),
        ([Some(4), Some(1)], "kept from step 1 to step 4 in A: train.py:4, which B frees in step 1"),
    ];
    for (freed, expected) in cases {
        assert_eq!(words_of_keeping(&keeping(freed), "/work"), expected);
    }
    let cases = [(1, 1, 12, "B goes on for 1 step (12 requests)"), (0, 0, 1, "A goes on with 1 request")];
    for (run, steps, requests, expected) in cases {
        assert_eq!(words_of_surplus(&Surplus { run, steps, requests }), expected);
    }
}
