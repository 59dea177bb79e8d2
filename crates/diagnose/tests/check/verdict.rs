//! Verdicts: caught errors, programs that ended early, searches for a size.

use diagnose::CheckCase;
use report::{Condition, Recovery, Severity, SizeSearch, Verdict};
use trace::run::{AheadRecord, AttemptRecord, CourseRecord, EndReason, MemoryChange, ValueReadRecord};
use trace::{AheadReason, Bytes, Category, PhantomRecord, Phase, Process, Run};

use crate::program::{Program, SCRIPT, case};
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
        assert_eq!(
            report.verdict,
            Verdict::Oom { spare_bytes: -i64::try_from((2049 + 24 - 1024) * MIB).unwrap(), assumed: Vec::new() }
        );
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

/// The peak before the error is larger than after it: 600 MiB and 101 MiB.
#[test]
fn a_search_shows_the_attempt_that_goes_on() {
    let mut program = Program::new();
    program.alloc(1, MIB);
    let failed = program.alloc(42, 599 * MIB);
    program.caught_oom(42, 600 * MIB, 50, None);
    program.free(failed);
    program.alloc(42, 100 * MIB);
    program.end_step();
    let attempt = |is_set| AttemptRecord {
        file: SCRIPT.to_owned(),
        line: 50,
        name: "self.batch".to_owned(),
        tried: vec![16, 12],
        now: 2,
        is_set,
    };
    program.process.attempts.push(attempt(true));
    let run = program.end(EndReason::Exit);
    let report = check(&case(run.clone()));
    let search = report.verdict.search().unwrap();
    assert_eq!(
        (search.lowers.as_deref(), search.settled, search.tried.clone()),
        (Some("self.batch"), Some(2), vec![16, 12])
    );
    assert_eq!(report.peak.usage.allocated_bytes, Bytes::from_mib(101));
    assert_eq!(report.breakdown.total(), Bytes::from_mib(101));
    assert_eq!(report.need.usage, report.peak.usage);
    // A number of which the handler is not the cause proves nothing.
    let mut skipping = run;
    skipping.processes[0].attempts = vec![attempt(false)];
    assert!(check(&case(skipping)).verdict.is_oom());
}

#[test]
fn a_search_for_a_size_that_fits_fits() {
    let report = check(&catching(2, Some("batch")));
    let search = SizeSearch {
        lowers: Some("batch".to_owned()),
        tried: Vec::new(),
        settled: None,
        caught_at: line(50),
        errors: 1,
        recovery: Recovery::Smaller,
        refused_at: Some(line(42)),
    };
    let spare_bytes = Bytes::from_mib(1024 - 24 - 101);
    assert_eq!(report.verdict, Verdict::Fits { spare_bytes, search: Some(search) });
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
    let cases = vec![
        (case(used().end(EndReason::Steps)), Decided::Fits),
        (case(used().end(EndReason::Exit)), Decided::Fits),
        (case(used().raise("torch.OutOfMemoryError", "", true)), Decided::Oom),
        (case(silent), Decided::Oom),
        (
            case(used().raise("ValueError", "bad shape\nmore", false)),
            incomplete("the program raised ValueError at train.py:7: bad shape"),
        ),
        (late, incomplete("the program was stopped by --timeout after 60 s")),
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
    for (steps, more_mib) in [(1, 0), (2, 0), (3, 1)] {
        let Verdict::FitsSoFar { stopped, .. } = raising_after(steps, more_mib) else { panic!("{steps} steps fitted") };
        assert_eq!(stopped, Some(format!("after {steps} of 3 steps {reason}")));
    }
    assert_eq!(decided(raising_after(0, 0)), Decided::Incomplete(reason.to_owned()));
}

#[test]
fn the_state_of_the_optimizer_comes_on_top_of_the_first_step() {
    // The peak is in the forward; the step leaves `state_mib` behind, and the program raises in its second step.
    let verdict = |activations_mib: u64, state_mib: u64| {
        let mut program = Program::new();
        program.enter(Phase::Forward);
        let activations = program.alloc(41, activations_mib * MIB);
        program.free(activations);
        program.enter(Phase::Optimizer);
        let state = program.alloc(60, state_mib * MIB);
        program.census(&[(Category::OptimizerState, state)]);
        program.end_step();
        check(&case(program.raise("ValueError", "bad", false))).verdict
    };
    assert!(verdict(600, 300).is_fit());
    // 800 + 300 + 24 MiB of context are more than 1 GiB.
    assert_eq!(
        verdict(800, 300),
        Verdict::Oom { spare_bytes: -i64::try_from(100 * MIB).unwrap(), assumed: Vec::new() }
    );
}

#[test]
fn growth_that_was_not_seen_to_fill_the_device_is_a_condition() {
    // Each step keeps 100 MiB of 1,000: the eleventh is refused.
    let verdict = |total_steps: Option<u64>| {
        let mut program = Program::new();
        for _ in 0..4 {
            program.alloc(1, 100 * MIB);
            program.end_step();
        }
        let mut run = program.end(EndReason::Steps);
        run.processes[0].course = Some(CourseRecord { total_steps, ..CourseRecord::default() });
        check(&case(run))
    };
    let report = verdict(Some(20));
    let growth = report.growth.clone().unwrap();
    assert_eq!((growth.full_at, growth.of_iterations), (Some(11), Some(20)));
    for total_steps in [Some(20), None] {
        let Verdict::FitsSoFar { conditions, .. } = verdict(total_steps).verdict else { panic!("{total_steps:?}") };
        let grows = Condition::Growing {
            bytes_per_step: Bytes(100 * MIB),
            location: growth.location.clone(),
            full_at: Some(11),
        };
        assert_eq!(conditions, [grows], "{total_steps:?}");
    }
    let in_time = verdict(Some(6));
    assert!(matches!(in_time.verdict, Verdict::Fits { .. }));
    assert_eq!(in_time.growth.unwrap().full_at, None);
}

/// The conditions of a program that was stopped after steps with these peaks, with what the agent recorded as ahead.
fn conditions(peaks_mib: &[u64], total_steps: Option<u64>, ahead: Vec<AheadRecord>) -> Option<Vec<Condition>> {
    let mut program = Program::new();
    for mib in peaks_mib {
        let tensor = program.alloc(1, mib * MIB);
        program.free(tensor);
        program.end_step();
    }
    let mut run = program.end(EndReason::Steps);
    run.processes[0].course = Some(CourseRecord { total_steps, ..CourseRecord::default() });
    run.processes[0].ahead = ahead;
    match check(&case(run)).verdict {
        Verdict::Fits { .. } => None,
        Verdict::FitsSoFar { conditions, .. } => Some(conditions),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_stopped_program_fits_if_its_rest_is_known_to_repeat() {
    let unrun = AheadRecord {
        reason: AheadReason::Unrun,
        what: "evaluate".to_owned(),
        file: SCRIPT.to_owned(),
        line: 88,
        shares_line: false,
    };
    let not_run = Condition::NotRun { what: "evaluate".to_owned(), location: Some(line(88)) };
    // Line 1 allocated in the run, which shows that its call was made, unless the line has a condition.
    let run = AheadRecord { line: 1, ..unrun.clone() };
    let shared = AheadRecord { shares_line: true, ..run.clone() };
    let not_shown = Condition::NotRun { what: "evaluate".to_owned(), location: Some(line(1)) };
    let cases = [
        (vec![100, 100], Some(1000), vec![], None),
        (vec![100, 100], Some(1000), vec![unrun], Some(vec![not_run])),
        (vec![100, 100], Some(1000), vec![run], None),
        (vec![100, 100], Some(1000), vec![shared], Some(vec![not_shown])),
        // 1 MiB more in each of 1,000 steps is more than the device has; in each of 5 it is not.
        (vec![100, 101], Some(1000), vec![], Some(vec![Condition::Rising])),
        (vec![100, 101], None, vec![], Some(vec![Condition::Rising])),
        (vec![100, 101], Some(5), vec![], None),
        (vec![101, 100], None, vec![], None),
    ];
    for (peaks, total, ahead, expected) in cases {
        assert_eq!(conditions(&peaks, total, ahead.clone()), expected, "{peaks:?} {total:?} {ahead:?}");
    }
}

#[test]
fn ranks_with_one_gpu_cannot_use_nccl() {
    let rank = |rank, owner: &str| {
        let mut program = Program::of_job(rank, 2);
        program.alloc(1, MIB);
        let change = MemoryChange { device: 0, owner: owner.to_owned(), delta: 1 << 20, used_bytes: 2 << 20 };
        program.process.ledger.take(PhantomRecord::Memory(change));
        program.end(EndReason::Exit).processes.remove(0)
    };
    let verdict = |owner| decided(check(&case(Run { processes: vec![rank(0, owner), rank(1, owner)] })).verdict);
    let Decided::Incomplete(reason) = verdict("nccl") else { panic!("NCCL refuses") };
    assert!(reason.starts_with("2 ranks use GPU 0 for NCCL, which refuses two ranks on one GPU"), "{reason}");
    assert_eq!(verdict("libfoo"), Decided::Fits);
}

#[test]
fn a_read_number_of_which_a_size_may_be_made_is_a_condition() {
    let verdict = |sizes| {
        let mut run = Program::new().end(EndReason::Exit);
        run.processes[0].value_reads =
            vec![ValueReadRecord { file: SCRIPT.to_owned(), line: 9, count: 3, bytes: 24, sizes }];
        check(&case(run)).verdict
    };
    assert!(matches!(verdict(0), Verdict::Fits { .. }));
    let Verdict::FitsSoFar { conditions, .. } = verdict(3) else { panic!("the size is assumed") };
    assert_eq!(conditions, [Condition::Read { location: Some(line(9)) }]);
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
        Verdict::Fits { .. } | Verdict::FitsSoFar { .. } => Decided::Fits,
        Verdict::Oom { .. } => Decided::Oom,
        Verdict::Incomplete { reason, .. } => Decided::Incomplete(reason),
    }
}
