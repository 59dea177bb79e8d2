//! Loops that only the stacks of a snapshot show, and workspaces that a convolution does without.

use report::explain::ExplainReport;
use trace::Bytes;

use super::crash::{At, Crash, MIB, Tensor};
use super::{check_absent, of_crash, rules};

/// Lines of the script's loop.
const LOAD: u32 = 20;
const MODEL: u32 = 21;
/// A line of a function that the loop calls.
const HELPER: u32 = 13;
const PASSES: u32 = 20;

/// Loads a batch and calls the model in each pass; `end` decides about the outputs so far. The batch of the pass that fails is loaded.
fn check(mut end: impl FnMut(&mut Crash, &mut Vec<Tensor>)) -> ExplainReport {
    let mut crash = Crash::new();
    crash.alloc(At::Placed(5), 16);
    let (mut outputs, mut loaded) = (Vec::new(), None);
    for _ in 0..PASSES {
        let batch = crash.alloc(At::Script(LOAD), 8);
        if let Some(before) = loaded.replace(batch) {
            crash.free(before, At::Script(LOAD));
        }
        let hidden = crash.alloc(At::Linear(MODEL), 64);
        outputs.push(crash.alloc(At::Relu(MODEL), 32));
        crash.free(hidden, At::Relu(MODEL));
        end(&mut crash, &mut outputs);
    }
    crash.alloc(At::Script(LOAD), 8);
    crash.oom(At::Linear(MODEL), 64, 4);
    of_crash(crash)
}

#[test]
fn outputs_of_all_passes_are_growth() {
    let report = check(|_, _| ());
    let growth = report.devices[0].growth.as_ref().unwrap();
    assert_eq!(growth.bytes_per_iteration, Bytes(32 * MIB), "{growth:?}");
    assert_eq!(growth.loop_at.as_ref().unwrap().line, LOAD);
    assert_eq!(growth.full_at, Some(PASSES + 1));
    assert_eq!(rules(&report).first(), Some(&"growing-collection"), "{:#?}", report.findings);
    let without = report.findings[0].without.unwrap();
    assert_eq!(without.served, Some(true), "{without:?}");
}

#[test]
fn outputs_of_the_last_passes_are_no_growth() {
    let report = check(|crash, outputs| {
        if outputs.len() > 4 {
            crash.free(outputs.remove(0), At::Script(MODEL));
        }
    });
    assert_eq!(report.devices[0].growth, None);
}

#[test]
fn layers_of_one_pass_are_no_growth() {
    let mut crash = Crash::new();
    for _ in 0..PASSES {
        crash.alloc(At::Placed(5), 16);
    }
    crash.alloc(At::Script(LOAD), 8);
    for _ in 0..PASSES {
        crash.alloc(At::Linear(MODEL), 32);
    }
    crash.oom(At::Linear(MODEL), 64, 4);
    assert_eq!(of_crash(crash).devices[0].growth, None);
}

#[test]
fn a_loop_is_where_the_program_returned_to() {
    for (refused_by, is_growth) in [(MODEL, true), (MODEL + 2, false)] {
        let mut crash = Crash::new();
        for _ in 0..PASSES {
            crash.alloc(At::Called(HELPER, MODEL), 32);
        }
        crash.oom(At::Called(HELPER, refused_by), 64, 4);
        let growth = of_crash(crash).devices[0].growth.clone();
        let at = growth.and_then(|growth| growth.loop_at).map(|at| at.line);
        // Nothing shows how often a line of `main` calls the helper in a pass.
        assert_eq!(at, is_growth.then_some(HELPER), "{refused_by}");
    }
}

#[test]
fn a_refused_workspace_is_no_failed_try() {
    let cases = [
        (At::Conv(MODEL), At::Conv(MODEL), false),
        (At::Conv(MODEL), At::Script(LOAD), true),
        (At::Backward, At::Backward, false),
        (At::Backward, At::Script(LOAD), true),
    ];
    for (refused, after, is_try) in cases {
        let mut crash = Crash::new();
        crash.alloc(At::Placed(5), 16);
        for _ in 0..4 {
            crash.alloc(At::Conv(MODEL), 32);
        }
        crash.oom(refused, 512, 4);
        crash.alloc(after, 32);
        crash.oom(At::Linear(MODEL), 64, 4);
        let report = of_crash(crash);
        if is_try {
            assert!(rules(&report).contains(&"exception-holds-frames"), "{:#?}", report.findings);
        } else {
            check_absent(&report, "exception-holds-frames");
        }
    }
}
