//! Verdicts: caught errors, programs that ended early, searches for a size.

use diagnose::CheckCase;
use report::{Severity, SizeSearch, Verdict};
use trace::run::EndReason;
use trace::{Bytes, Process, Run};

use crate::program::{Program, case};
use crate::{MIB, check, ended, finding, line};

/// The program asks for 2 GiB of 1 GiB, catches the error, and takes `steps` optimizer steps with 100 MiB.
fn catching(steps: u32, lowers: Option<&str>) -> CheckCase {
    let mut program = Program::new();
    program.alloc(1, MIB);
    program.caught_oom(42, 2048 * MIB, 50, lowers);
    program.alloc(2, 100 * MIB);
    for _ in 0..steps {
        program.end_step();
    }
    let mut case = case(program.end(EndReason::Exit));
    let mut unlimited = Program::new();
    unlimited.alloc(1, 2049 * MIB);
    case.runs.unlimited = Some(ended(unlimited.end(EndReason::Exit)));
    case
}

#[test]
fn a_caught_error_is_an_error() {
    let cases = [
        (0, "the out-of-memory error was caught at train.py:50; the program ended with status 0"),
        (2, "the out-of-memory error was caught at train.py:50; the program went on and made 2 optimizer steps"),
    ];
    for (steps, message) in cases {
        let report = check(&catching(steps, None));
        assert_eq!(report.verdict, Verdict::Oom { spare_bytes: -i64::try_from((2049 + 24 - 1024) * MIB).unwrap() });
        let oom = report.oom.as_ref().unwrap();
        assert_eq!((oom.location.clone(), oom.requested_bytes), (Some(line(42)), Some(Bytes::from_mib(2048))));
        assert_eq!(oom.caught.as_ref().unwrap().location, Some(line(50)));
        assert_eq!(finding(&report, "caught-oom").unwrap().message, message);
        assert!(finding(&report, "need-exceeds-device").is_some());
    }
}

#[test]
fn a_workspace_that_pytorch_does_without_is_no_error() {
    let verdict = |function: &str| {
        let mut program = Program::new();
        program.alloc(1, MIB);
        program.oom(42, 2048 * MIB, 0);
        function.clone_into(&mut program.process.ooms[0].frames[0].0);
        check(&case(program.end(EndReason::Exit))).verdict
    };
    assert!(verdict("_conv_forward").is_fit());
    assert!(verdict("forward").is_oom());
}

#[test]
fn a_search_for_a_size_that_fits_fits() {
    let report = check(&catching(2, Some("batch")));
    let search = SizeSearch { lowers: "batch".to_owned(), caught_at: line(50), errors: 1 };
    let spare_bytes = Bytes::from_mib(1024 - 24 - 101);
    assert_eq!(report.verdict, Verdict::Fits { spare_bytes, search: Some(search), stopped: None });
    assert_eq!((report.need.usage, report.oom.clone()), (report.peak.usage, None));
    assert!(finding(&report, "need-exceeds-device").is_none());
    assert_eq!(finding(&report, "caught-oom").unwrap().severity, Severity::Info);
    // Without a step after the last error, nothing has shown that the size fits.
    assert!(check(&catching(0, Some("batch"))).verdict.is_oom());
}

#[test]
fn verdicts() {
    let used = || {
        let mut program = Program::new();
        program.alloc(1, MIB);
        program
    };
    let mut silent = used();
    silent.oom(3, MIB, 0);
    let silent = Run { processes: vec![silent.process] };
    let status = |run: Run, code: Option<i32>| {
        let mut case = case(run);
        case.runs.limited.launch.ended.as_mut().unwrap().exit_code = code;
        case
    };
    let lost = || Run { processes: vec![used().process] };
    let idle = || Program::new().end(EndReason::Exit).processes.remove(0);
    let idle = Run { processes: vec![Process { snapshot: None, end: None, ..idle() }] };
    let mut late = case(used().end(EndReason::Terminated));
    late.runs.limited.launch.ended.as_mut().unwrap().timed_out = true;
    late.runs.limited.launch.ended.as_mut().unwrap().seconds = 60.0;
    let mut killed = case(used().end(EndReason::Terminated));
    killed.runs.limited.launch.ended.as_mut().unwrap().signal = Some(9);
    let incomplete = |reason: &str| Decided::Incomplete(reason.to_owned());
    let cases = [
        (case(used().end(EndReason::Steps)), Decided::Fits),
        (case(used().end(EndReason::Exit)), Decided::Fits),
        (case(used().raise("torch.OutOfMemoryError", "", true)), Decided::Oom),
        (case(silent), Decided::Oom),
        (
            case(used().raise("ValueError", "bad shape\nmore", false)),
            incomplete("the program raised ValueError at train.py:7: bad shape"),
        ),
        (late, incomplete("the program was stopped after 60 s, when its time was up")),
        (killed, incomplete("signal 9 ended the program")),
        (status(lost(), Some(3)), incomplete("the program ended with exit status 3")),
        (status(lost(), None), incomplete("the end of the program was not recorded")),
        (status(used().end(EndReason::Exit), Some(1)), incomplete("the program ended with exit status 1")),
        (status(used().end(EndReason::Steps), Some(1)), Decided::Fits),
        (case(idle), incomplete("the program never used a GPU")),
        (case(Run::default()), incomplete("the program never used a GPU")),
    ];
    for (case, expected) in cases {
        assert_eq!(decided(check(&case).verdict), expected);
    }
}

/// The program raises after `steps` optimizer steps, of which each needs `mib` more than the one before.
fn raising_after(steps: u64, more_mib: u64) -> Verdict {
    let mut program = Program::new();
    for step in 0..steps {
        let tensor = program.alloc(1, (100 + step * more_mib) * MIB);
        program.free(tensor);
        program.end_step();
    }
    check(&case(program.raise("ValueError", "found 32 unique values", false))).verdict
}

#[test]
fn what_was_learnt_before_an_error_counts() {
    let reason = "the program raised ValueError at train.py:7: found 32 unique values";
    let Verdict::Fits { stopped, .. } = raising_after(2, 0) else { panic!("the peak repeated") };
    assert_eq!(stopped, Some(format!("after 2 of 3 steps {reason}")));
    // The peak of a single step has not repeated, nor has a growing peak.
    for verdict in [raising_after(0, 0), raising_after(1, 0), raising_after(3, 1)] {
        assert_eq!(decided(verdict), Decided::Incomplete(reason.to_owned()));
    }
}

/// A verdict without its figures.
#[derive(Debug, PartialEq)]
enum Decided {
    Fits,
    Oom,
    Incomplete(String),
}

fn decided(verdict: Verdict) -> Decided {
    match verdict {
        Verdict::Fits { .. } => Decided::Fits,
        Verdict::Oom { .. } => Decided::Oom,
        Verdict::Incomplete { reason, .. } => Decided::Incomplete(reason),
    }
}
