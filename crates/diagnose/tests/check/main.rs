//! `check` on programs made by hand.
#![expect(clippy::unwrap_used, reason = "test")]

mod causes;
mod drawn;
mod passes;
mod program;
mod verdict;
mod whole_life;

use diagnose::{CheckCase, RecordedRun, part_of_shared};
use program::{Program, SCRIPT, Tensor, block, case, launch};
use proptest::prelude::*;
use report::{CheckReport, Contents, Finding, Location, Need, Severity, Verdict};
use trace::run::{
    CheckpointUnreadRecord, EndReason, Ended, InitializersSkippedRecord, Job, LongestTextRecord, ModelledFigure,
    StandInRecord, ValueReadRecord, ValueShapeRecord,
};
use trace::{Bytes, Category, Phase, Run};

const MIB: u64 = 1 << 20;

fn line(line: u32) -> Location {
    Location { file: SCRIPT.to_owned(), line, column: None }
}

/// The verdict of a program that leaves `mib` MiB of the device, and looks for no size.
fn fits(mib: u64) -> Verdict {
    Verdict::Fits { spare_bytes: Bytes::from_mib(mib), search: None }
}

/// A run without a limit whose program ended with status 0.
fn ended(run: Run) -> RecordedRun {
    RecordedRun { launch: launch(), run }
}

fn check(case: &CheckCase) -> CheckReport {
    diagnose::check(case).report(Vec::new())
}

fn texts(report: &CheckReport) -> Vec<String> {
    report.notes.iter().map(|remark| remark.text.clone()).collect()
}

fn caveats_of(report: &CheckReport) -> Vec<String> {
    report.notes.iter().filter(|remark| remark.is_caveat()).map(|remark| remark.text.clone()).collect()
}

fn parts(report: &CheckReport) -> Vec<(Contents, u64)> {
    report.breakdown.parts().iter().map(|part| (part.category, part.bytes.0 / MIB)).collect()
}

fn finding<'a>(report: &'a CheckReport, rule: &str) -> Option<&'a Finding> {
    report.findings.iter().find(|finding| finding.rule.name() == rule)
}

/// The memory that a training step passes to the next.
struct Model {
    parameter: Tensor,
    state: Option<Tensor>,
    gradient: Option<Tensor>,
}

impl Model {
    fn new(program: &mut Program) -> Model {
        Model { parameter: program.alloc(10, 64 * MIB), state: None, gradient: None }
    }

    /// A step as in PyTorch: data, forward, backward, optimizer.
    fn step(&mut self, program: &mut Program) {
        let input = program.alloc(20, 8 * MIB);
        program.enter(Phase::Forward);
        let activations = [program.alloc(41, 200 * MIB), program.alloc(42, 100 * MIB)];
        let scratch = program.alloc(43, 4 * MIB);
        program.free(scratch);
        program.enter(Phase::Backward);
        let gradient = *self.gradient.get_or_insert_with(|| program.alloc(0, 64 * MIB));
        for tensor in activations {
            program.free(tensor);
        }
        program.free(input);
        program.enter(Phase::Optimizer);
        let state = *self.state.get_or_insert_with(|| program.alloc(60, 128 * MIB));
        program.census(&[
            (Category::Parameter, self.parameter),
            (Category::Gradient, gradient),
            (Category::OptimizerState, state),
        ]);
        program.end_step();
    }

    fn zero_grad(&mut self, program: &mut Program) {
        if let Some(gradient) = self.gradient.take() {
            program.free(gradient);
        }
    }
}

fn training(steps: u32, zero_grad: bool) -> Run {
    let mut program = Program::new();
    let mut model = Model::new(&mut program);
    for _ in 0..steps {
        model.step(&mut program);
        if zero_grad {
            model.zero_grad(&mut program);
        }
    }
    program.end(EndReason::Steps)
}

#[test]
fn a_training_loop_fits_and_its_peak_is_taken_apart_to_the_byte() {
    let report = check(&case(training(3, true)));
    assert_eq!(report.verdict, fits(1024 - 588));
    assert_eq!(report.steps, 3);
    let place = &report.peak.place;
    assert_eq!((place.step, place.phase), (Some(2), Some(Phase::Backward)));
    let expected = [
        (Contents::Activations, 300),
        (Contents::OptimizerState, 128),
        (Contents::Parameters, 64),
        (Contents::Gradients, 64),
        (Contents::Inputs, 8),
    ];
    assert_eq!(parts(&report), expected);
    assert_eq!(report.peak.usage.allocated_bytes, Bytes::from_mib(564));
    assert_eq!(report.peak.usage.device_bytes, Bytes::from_mib(564 + 24));
    assert_eq!(report.need, Need { usage: report.peak.usage, ..Need::default() });
    assert!(report.findings.is_empty() && report.notes.is_empty(), "{:?} {:?}", report.findings, report.notes);
    assert_eq!(report.growth, None);
}

#[test]
fn what_is_older_than_the_history_is_said() {
    let mut run = training(3, true);
    let events = &mut run.processes[0].snapshot.as_mut().unwrap().traces[0];
    let is_second_step = |event: &trace::Event| event.mark.is_some_and(|mark| mark >= 4);
    let kept = events.split_off(events.iter().position(is_second_step).unwrap());
    let count = kept.len();
    *events = kept;
    let report = check(&case(run));
    let expected = format!("PyTorch's history kept the last {count} events: what ");
    assert!(texts(&report).iter().any(|note| note.starts_with(&expected)), "{:?}", report.notes);
}

#[test]
fn sites_are_the_users_lines_largest_first() {
    let report = check(&case(training(3, true)));
    let sites: Vec<_> = report.sites.iter().map(|site| (site.bytes.0 / MIB, site.location.clone())).collect();
    let expected = [
        (200, Some(line(41))),
        (128, Some(line(60))),
        (100, Some(line(42))),
        (64, Some(line(10))),
        (64, None),
        (8, Some(line(20))),
    ];
    assert_eq!(sites, expected);
    let first = &report.sites[0];
    assert_eq!((first.count, first.category), (1, Contents::Activations));
    let own: Vec<bool> = first.frames.iter().map(|frame| frame.own).collect();
    assert_eq!(own, [false, true]);
    assert_eq!(report.sites[4].place.phase, Some(Phase::Backward));
}

#[test]
fn the_ledger_of_the_phantom_decides_what_the_device_held() {
    let mut program = Program::new();
    program.alloc(1, MIB);
    program.ledger(700 * MIB);
    program.ledger(600 * MIB);
    let report = check(&case(program.end(EndReason::Exit)));
    assert_eq!(report.peak.usage.device_bytes, Bytes::from_mib(700));
}

fn out_of_memory(requested: u64, cached: u64) -> Run {
    let mut program = Program::new();
    let mut model = Model::new(&mut program);
    model.step(&mut program);
    model.zero_grad(&mut program);
    program.enter(Phase::Forward);
    let saved = program.alloc(41, 600 * MIB);
    program.oom(42, requested, cached);
    program.free(saved); // Unwinding, while the mark still says forward.
    program.raise("torch.OutOfMemoryError", "CUDA out of memory.", true)
}

#[test]
fn running_out_says_where_and_takes_what_was_saved_for_activations() {
    let mut case = case(out_of_memory(400 * MIB, 0));
    let mut unlimited = Program::new();
    unlimited.alloc(1, 1500 * MIB);
    case.runs.unlimited = Some(ended(unlimited.end(EndReason::Steps)));
    let report = check(&case);
    assert_eq!(report.verdict, Verdict::Oom { spare_bytes: -i64::try_from(500 * MIB).unwrap(), assumed: Vec::new() });
    let oom = report.oom.clone().unwrap();
    assert_eq!(oom.requested_bytes, Some(Bytes::from_mib(400)));
    assert_eq!((oom.place.step, oom.place.phase), (Some(2), Some(Phase::Forward)));
    assert_eq!((oom.location, oom.message.as_str()), (Some(line(42)), "CUDA out of memory."));
    assert_eq!(report.breakdown.bytes_of(Contents::Activations), Bytes::from_mib(600));
    assert_eq!(report.need.usage.device_bytes, Bytes::from_mib(1524));
    assert_eq!(report.need.at_least, None);
    let finding = finding(&report, "need-exceeds-device").unwrap();
    assert_eq!(finding.message, "the program needs 1.49 GiB and GPU has 1.00 GiB: 500.00 MiB too little");
    assert!(finding.remedies.is_empty(), "the need is no activations: {:?}", finding.remedies);
}

#[test]
fn an_error_names_its_cause() {
    let usable = 1000;
    let persistent = 64 + 128 + 64;
    let cases = [
        (usable - persistent, 0, vec![]),
        (usable - persistent + 1, 0, vec!["one-huge-request", "need-exceeds-device"]),
        (300, 299, vec![]),
        (300, 300, vec!["fragmentation"]),
    ];
    for (requested, cached, expected) in cases {
        let mut program = Program::new();
        let mut model = Model::new(&mut program);
        model.step(&mut program);
        program.oom(42, requested * MIB, cached * MIB);
        let report = check(&case(program.raise("torch.OutOfMemoryError", "", true)));
        let rules: Vec<&str> = report.findings.iter().map(|finding| finding.rule.name()).collect();
        assert_eq!(rules, expected, "requested {requested}, cached {cached}");
    }
}

fn leaking(steps: u32, kept: u64) -> Run {
    let mut program = Program::new();
    let mut model = Model::new(&mut program);
    for _ in 0..steps {
        program.enter(Phase::Forward);
        program.alloc(55, kept);
        program.enter(Phase::Data);
        model.step(&mut program);
        model.zero_grad(&mut program);
    }
    program.end(EndReason::Steps)
}

#[test]
fn a_leak_shows_its_rate_its_line_and_when_the_device_is_full() {
    let room = (1024 - 24 - 564) * MIB;
    for (steps, kept) in [(3, 512), (30, 512), (30, 4), (10, MIB)] {
        let report = check(&case(leaking(steps, kept)));
        let growth = report.growth.clone().unwrap();
        assert_eq!(growth.bytes_per_iteration, Bytes(block(kept)));
        assert_eq!(growth.location, Some(line(55)), "{steps} steps of {kept}");
        // After the peak of step n, n kept tensors are in it: the first n with more than the room.
        let full = room / block(kept) + 1;
        assert_eq!(growth.full_at.map(u64::from), Some(full), "{steps} steps of {kept}");
        let finding = finding(&report, "growing-collection").unwrap();
        assert_eq!(finding.location, Some(line(55)));
        assert_eq!(finding.severity == Severity::Warning, full <= 100_000, "{steps} steps of {kept}");
    }
}

#[test]
fn letting_go_of_what_leaks_is_reckoned_from_lifetimes() {
    let report = check(&case(leaking(10, 20 * MIB)));
    let remedy = &finding(&report, "growing-collection").unwrap().remedies[0];
    assert_eq!(remedy.before_bytes, Some(Bytes::from_mib(564 + 200)));
    assert_eq!(remedy.after_bytes, Some(Bytes::from_mib(564 + 20)));
    // 9 of 574 MiB are less than 1/50: no figures.
    let report = check(&case(leaking(10, MIB)));
    let remedy = &finding(&report, "growing-collection").unwrap().remedies[0];
    assert_eq!((remedy.before_bytes, remedy.after_bytes), (None, None));
}

#[test]
fn gradients_that_outlive_their_step_are_found() {
    let report = check(&case(training(3, false)));
    let evidence = &finding(&report, "gradients-alive-in-forward").unwrap().evidence[0];
    assert_eq!(evidence.value, report::Value::Bytes(Bytes::from_mib(64)));
}

/// Activations of a third of `temporaries`, which are alive in the optimizer's step.
fn stepping(temporaries: u64) -> Run {
    let mut program = Program::new();
    program.enter(Phase::Forward);
    let activation = program.alloc(41, temporaries / 3);
    program.enter(Phase::Backward);
    program.free(activation);
    program.enter(Phase::Optimizer);
    let temporary = program.alloc(60, temporaries);
    program.free(temporary);
    program.end_step();
    program.end(EndReason::Steps)
}

#[test]
fn temporaries_of_the_optimizer_are_found_with_the_peak_without_them() {
    let report = check(&case(stepping(300 * MIB)));
    let finding = finding(&report, "optimizer-state").unwrap();
    assert_eq!(finding.remedies[0].before_bytes, Some(Bytes::from_mib(300)));
    assert_eq!(finding.remedies[0].after_bytes, Some(Bytes::from_mib(100)));
}

/// The device has 1 GiB.
#[test]
fn temporaries_that_hardly_take_of_the_device_are_not_told() {
    assert!(finding(&check(&case(stepping(3 * MIB))), "optimizer-state").is_some());
    assert!(finding(&check(&case(stepping(MIB))), "optimizer-state").is_none());
}

#[test]
fn a_workspace_is_known_by_address_and_size() {
    let mut program = Program::new();
    program.enter(Phase::Forward);
    let workspace = program.alloc(41, 8 * MIB);
    program.workspace(workspace);
    program.workspace(Tensor(workspace.0 + (1 << 32), MIB));
    program.alloc(42, 2 * MIB);
    let report = check(&case(program.end(EndReason::Exit)));
    assert_eq!(parts(&report), [(Contents::Workspaces, 8), (Contents::Activations, 2)]);
}

#[test]
fn fitting_by_emptying_the_cache_is_said() {
    let mut program = Program::new();
    program.alloc(1, MIB);
    program.empty_cache_and_retry();
    program.empty_cache_and_retry();
    let report = check(&case(program.end(EndReason::Exit)));
    let finding = finding(&report, "cache-flushed").unwrap();
    assert_eq!(finding.evidence[0].value, report::Value::Count(2));
}

#[test]
fn a_program_that_went_on_is_not_said_to_need_more_than_there_is() {
    let mut program = Program::new();
    program.alloc(1, MIB);
    program.empty_cache_and_retry();
    let mut case = case(program.end(EndReason::Exit));
    let mut unlimited = Program::new();
    unlimited.alloc(1, 1500 * MIB);
    case.runs.unlimited = Some(ended(unlimited.end(EndReason::Exit)));
    let report = check(&case);
    assert_eq!(report.verdict, fits(1024 - 24 - 1));
    let rules: Vec<&str> = report.findings.iter().map(|finding| finding.rule.name()).collect();
    assert_eq!(rules, ["cache-flushed"]);
    assert_eq!(report.findings[0].evidence[2].value, report::Value::Bytes(Bytes::from_mib(1524)));
}

#[test]
fn without_a_second_run_the_need_is_a_lower_bound() {
    let report = check(&case(out_of_memory(400 * MIB, 0)));
    let live = 64 + 128 + 600;
    assert_eq!(report.need.usage.allocated_bytes, Bytes::from_mib(live + 400));
    assert_eq!(report.need.usage.device_bytes, Bytes::from_mib(live + 400 + 24));
    assert_eq!(report.need.at_least.as_deref(), Some("the program was not run without a limit"));
    // A part of a lower bound is no answer.
    assert_eq!(finding(&report, "need-exceeds-device").unwrap().remedies, []);
}

#[test]
fn fragments_are_no_cause_where_the_tensors_alone_are_too_large() {
    for (mib, is_cause) in [(900, true), (1100, false)] {
        let mut case = case(out_of_memory(8 * MIB, 64 * MIB));
        let mut unlimited = Program::new();
        unlimited.alloc(1, mib * MIB);
        case.runs.unlimited = Some(ended(unlimited.end(EndReason::Exit)));
        assert_eq!(finding(&check(&case), "fragmentation").is_some(), is_cause, "{mib} MiB");
    }
}

/// The run without a limit has to come to the program's end: what it did before is a lower bound.
#[test]
fn a_run_without_a_limit_that_ends_early_gives_a_lower_bound() {
    let live = 64 + 128 + 600;
    let least = |unlimited: RecordedRun| {
        let mut case = case(out_of_memory(400 * MIB, 0));
        case.runs.unlimited = Some(unlimited);
        let need = check(&case).need;
        (need.usage.allocated_bytes.0 / MIB, need.at_least)
    };
    let raising = |mib: u64| {
        let mut program = Program::new();
        program.alloc(1, mib * MIB);
        ended(program.raise("FileNotFoundError", "no such file", false))
    };
    let raised = "in the run without a limit the program raised FileNotFoundError at train.py:7: no such file";
    // The program died before, and after, it had taken as much as the limited run had requested.
    assert_eq!(least(raising(10)), (live + 400, Some(raised.to_owned())));
    assert_eq!(least(raising(1500)), (1500, Some(raised.to_owned())));
    let mut case = case(out_of_memory(400 * MIB, 0));
    case.runs.unlimited = Some(raising(1500));
    let message = "the program needs at least 1.49 GiB and GPU has 1.00 GiB: at least 500.00 MiB too little";
    assert_eq!(finding(&check(&case), "need-exceeds-device").unwrap().message, message);
    let mut late = ended(Program::new().end(EndReason::Terminated));
    late.launch.ended = Some(Ended { timed_out: true, seconds: 60.0, ..Ended::default() });
    let stopped = "in the run without a limit the program was stopped by --timeout after 60 s";
    assert_eq!(least(late).1.as_deref(), Some(stopped));
}

#[test]
fn what_was_assumed_is_passed_on() {
    let mut program = Program::new();
    program.alloc(1, MIB);
    let file = || SCRIPT.to_owned();
    let figure = |bytes| ModelledFigure { id: "cudnn-workspace".to_owned(), text: "a model".to_owned(), bytes };
    let process = &mut program.process;
    process.value_shapes =
        vec![ValueShapeRecord { op: "aten::nonzero".to_owned(), file: file(), line: 33, count: 4, fraction: 0.5 }];
    process.value_reads = vec![
        ValueReadRecord { file: file(), line: 34, count: 2, bytes: 8, sizes: 0 },
        ValueReadRecord { file: file(), line: 35, count: 2, bytes: 8192, sizes: 0 },
    ];
    process.initializers_skipped = Some(InitializersSkippedRecord { count: 3, bytes: MIB });
    process.checkpoint_unread = Some(CheckpointUnreadRecord { count: 1, bytes: 2 * MIB });
    let stand_in = |what: &str, source: &str, fetched_bytes| StandInRecord {
        what: what.to_owned(),
        name: "org/name".to_owned(),
        source: source.to_owned(),
        tensors: 2,
        bytes: 3 * MIB,
        fetched_bytes,
    };
    process.longest_text = Some(LongestTextRecord { tokens: 448, allowed: Some(2048) });
    process.stand_ins = vec![
        stand_in("weights", "configuration", 0),
        stand_in("weights", "headers", 2048),
        stand_in("tokenizer", "configuration", 0),
        stand_in("data", "shapes", 0),
    ];
    process.ledger.figures = [MIB, 3 * MIB, 2 * MIB].map(figure).to_vec();
    let report = check(&case(program.end(EndReason::Steps)));
    let finding = finding(&report, "value-dependent-shape").unwrap();
    assert_eq!(finding.location, Some(line(33)));
    assert_eq!(
        finding.message,
        "the result of aten::nonzero depends on values: 50 % of the elements were assumed to be selected"
    );
    assert_eq!(report.value_shapes[0].count, 4);
    assert_eq!(report.assumptions.iter().map(|assumed| assumed.bytes).collect::<Vec<_>>(), [Bytes::from_mib(3)]);
    let notes = [
        "train.py:34 read values that a GPU would have computed (2x); the program saw assumed ones",
        "train.py:35 read values that a GPU would have computed (2x, 8.00 KiB); the program saw assumed ones",
        "large host tensors were not initialised (3 calls, 1.00 MiB), which changes no GPU memory",
        "weights in checkpoints were not read (1 tensor, 2.00 MiB); they count as zeros",
        "the data of org/name is made up, of the right shapes",
        "the tokenizer or processor of org/name is not on this machine: a stand-in has its sizes, and makes no text",
        "the weights of org/name (2 tensors, 3.00 MiB) are not on this machine: their shapes are those of the configuration, and the values count as zeros",
        "the weights of org/name (2 tensors, 3.00 MiB) are not on this machine: their headers were fetched (2.00 KiB), and the values count as zeros",
        "weights (3.00 MiB) and tokenizer of name are stand-ins",
        "no torch.optim optimizer made a step, so --steps did not stop the program: it ran to its end",
        "texts have up to 448 of 2,048 tokens: a guess, as the tokenizer is not here",
    ];
    assert_eq!(texts(&report), notes);
    assert_eq!(report.made_up_data, ["org/name"]);
}

/// Ranks run the same lines: reads common to all ranks are reported once, other reads stay.
#[test]
fn what_ranks_say_alike_stands_once() {
    let rank = |rank: u32, lines: &[u32]| {
        let mut program = Program::of_rank(rank);
        program.alloc(1, MIB);
        let read = |line: &u32| ValueReadRecord { file: SCRIPT.to_owned(), line: *line, count: 1, bytes: 4, sizes: 0 };
        program.process.value_reads.extend(lines.iter().map(read));
        program.end(EndReason::Steps).processes.remove(0)
    };
    let ranks = Run { processes: vec![rank(0, &[3, 4]), rank(1, &[3, 9])] };
    let lines: Vec<String> =
        texts(&check(&case(ranks))).iter().filter_map(|note| Some(note.split_once(" read ")?.0.to_owned())).collect();
    assert_eq!(lines, ["train.py:3", "train.py:4", "train.py:9"]);
}

#[test]
fn fewer_steps_than_were_asked_for() {
    let cases = [
        (3, false, None),
        (3, true, None),
        (2, false, Some("the program ended after 2 of 3 optimizer steps")),
        (2, true, Some("the program made 2 of 3 optimizer steps")),
        (
            0,
            false,
            Some("no torch.optim optimizer made a step, so --steps did not stop the program: it ran to its end"),
        ),
        (
            0,
            true,
            Some(
                "no torch.optim optimizer made a step, so --steps did not stop the program: it ran until its time was up",
            ),
        ),
    ];
    for (done, timed_out, note) in cases {
        let mut case = case(training(done, true));
        case.runs.limited.launch.ended.as_mut().unwrap().timed_out = timed_out;
        assert_eq!(texts(&check(&case)), note.map(str::to_owned).into_iter().collect::<Vec<_>>(), "{done} steps");
    }
}

#[test]
fn the_python_of_a_launcher_is_named() {
    let note = "torchrun ran it with /venv/bin/python".to_owned();
    let cases = [("/venv/bin/torchrun", vec![note]), ("python", Vec::new()), ("/usr/bin/python3.11", Vec::new())];
    for (first, caveats) in cases {
        let mut case = case(training(3, true));
        case.runs.limited.launch.command[0] = first.to_owned();
        assert_eq!(caveats_of(&check(&case)), caveats, "{first}");
    }
}

#[test]
fn of_several_ranks_the_fullest_is_reported_and_all_are_listed() {
    let run = |rank: u32, mib: u64| {
        let mut program = Program::of_rank(rank);
        program.alloc(1, mib * MIB);
        program.end(EndReason::Steps).processes.remove(0)
    };
    let report = check(&case(Run { processes: vec![run(1, 30), run(0, 20)] }));
    assert_eq!(report.peak.usage.allocated_bytes, Bytes::from_mib(30));
    let ranks: Vec<_> = report.ranks.iter().map(|rank| (rank.rank, rank.peak.allocated_bytes.0 / MIB)).collect();
    assert_eq!(ranks, [(0, 20), (1, 30)]);
}

#[test]
fn processes_that_share_a_device_are_added_up() {
    let process = |rank: u32, mib: u64| {
        let mut program = Program::of_rank(rank);
        program.alloc(1, mib * MIB);
        program.end(EndReason::Steps).processes.remove(0)
    };
    // MiB of each process on device 0, the total if reported, and the verdict.
    let total_mib = launch().device_total_bytes / MIB;
    let cases: [(&[u64], Option<Severity>, bool); 3] = [
        (&[30], None, true),
        (&[20, 30], Some(Severity::Warning), true),
        (&[total_mib / 3 * 2, total_mib / 3 * 2], Some(Severity::Error), false),
    ];
    for (sizes, severity, fits) in cases {
        let processes = (0..).zip(sizes).map(|(rank, mib)| process(rank, *mib)).collect();
        let report = check(&case(Run { processes }));
        assert_eq!(finding(&report, "wrong-device").map(|finding| finding.severity), severity, "{sizes:?}");
        assert_eq!(report.verdict.is_fit(), fits, "{sizes:?}: {:?}", report.verdict);
    }
}

#[test]
fn processes_that_never_ran_at_once_are_not_added_up() {
    let process = |rank: u32, (begin, end): (u64, u64)| {
        let mut program = Program::of_rank(rank);
        program.alloc(1, 600 * MIB);
        let mut process = program.end(EndReason::Exit).processes.remove(0);
        process.identity.started_ns = begin;
        process.end.as_mut().unwrap().monotonic_ns = end;
        process
    };
    // 1 GiB. When each of the processes began and ended, and whether they fit.
    let cases: [(&[(u64, u64)], bool); 5] = [
        (&[(1, 5), (6, 9)], true),
        (&[(1, 9), (5, 6)], false),
        (&[(5, 9), (1, 6)], false),
        (&[(1, 3), (4, 6), (7, 9)], true),
        // Unknown times.
        (&[(0, 0), (4, 6)], false),
    ];
    for (times, fits) in cases {
        let processes = (0..).zip(times).map(|(rank, times)| process(rank, *times)).collect();
        let report = check(&case(Run { processes }));
        assert_eq!(report.verdict.is_fit(), fits, "{times:?}: {:?}", report.verdict);
    }
}

#[test]
fn ranks_of_a_job_that_do_not_fit_together_get_a_part_each() {
    let process = |rank: u32, world_size: u32, mib: u64| {
        let mut program = Program::of_job(rank, world_size);
        program.alloc(1, mib * MIB);
        program.end(EndReason::Steps).processes.remove(0)
    };
    // 1 GiB, of which each context takes 24 MiB. World size, MiB of each rank, and MiB of the fullest rank.
    let cases: [(u32, &[u64], Option<u64>); 4] = [
        (2, &[300, 300], None),
        (2, &[1000, 1000], Some(512)),
        (4, &[1000, 1000, 1000, 1000], Some(256)),
        (1, &[1000, 1000], None),
    ];
    for (world_size, sizes, part_mib) in cases {
        let processes = (0..).zip(sizes).map(|(rank, mib)| process(rank, world_size, *mib)).collect();
        let case = case(Run { processes });
        assert_eq!(
            part_of_shared(&case.runs.limited.launch, &case.runs.limited.run),
            part_mib.map(Bytes::from_mib),
            "{sizes:?}"
        );
        let together: u64 = sizes.iter().map(|mib| (mib + 24) * MIB).sum();
        let need = check(&case).need.usage.device_bytes;
        assert_eq!(need == Bytes(together), world_size > 1, "{sizes:?} need {need}, {together} together");
    }
}

#[test]
fn ranks_that_ran_alone_share_nothing() {
    let process = |rank: u32| {
        let mut program = Program::of_job(rank, 16);
        program.alloc(1, 1000 * MIB);
        program.end(EndReason::Steps).processes.remove(0)
    };
    let mut case = case(Run { processes: vec![process(0), process(8)] });
    case.runs.limited.launch.job = Some(Job { world_size: 16, local_world_size: 8, ranks: vec![0, 8] });
    let report = check(&case);
    assert!(finding(&report, "wrong-device").is_none() && report.verdict.is_fit(), "{:?}", report.verdict);
    assert_eq!(report.ranks.len(), 2);
}

#[test]
fn a_rank_that_holds_more_is_found() {
    let process = |rank: u32, mib: u64| {
        let mut program = Program::of_rank(rank);
        program.alloc(1, mib * MIB);
        program.end(EndReason::Steps).processes.remove(0)
    };
    for (first_mib, is_found) in [(30, false), (40, true)] {
        let run = Run { processes: vec![process(0, first_mib), process(1, 30), process(2, 30)] };
        let report = check(&case(run));
        assert_eq!(finding(&report, "rank-imbalance").is_some(), is_found, "{first_mib} MiB");
    }
}

/// The next act of a random program.
#[derive(Clone, Copy, Debug)]
enum Act {
    Alloc(u64),
    Free(usize),
    Enter(Phase),
    Census(usize),
    Step,
}

fn act() -> impl Strategy<Value = Act> {
    let phases = [Phase::Setup, Phase::Data, Phase::Forward, Phase::Backward, Phase::Optimizer, Phase::Other];
    prop_oneof![
        4 => (1u64..10_000_000).prop_map(Act::Alloc),
        3 => any::<usize>().prop_map(Act::Free),
        1 => proptest::sample::select(phases.to_vec()).prop_map(Act::Enter),
        1 => any::<usize>().prop_map(Act::Census),
        1 => Just(Act::Step),
    ]
}

fn play(acts: &[Act]) -> Program {
    let (mut program, mut live) = (Program::new(), Vec::new());
    for &act in acts {
        match act {
            Act::Alloc(bytes) => live.push(program.alloc(u32::try_from(bytes % 7).unwrap(), bytes)),
            Act::Free(at) if !live.is_empty() => program.free(live.swap_remove(at % live.len())),
            Act::Census(at) if !live.is_empty() => {
                program.census(&[(Category::Gradient, live[at % live.len()])]);
            }
            Act::Enter(phase) => program.enter(phase),
            Act::Step => program.end_step(),
            Act::Free(_) | Act::Census(_) => {}
        }
    }
    program
}

proptest! {
    #[test]
    fn every_breakdown_adds_up_to_what_the_allocator_counted(acts in proptest::collection::vec(act(), 0..120)) {
        let run = play(&acts).end(EndReason::Exit);
        let counted = acts.iter().any(|act| matches!(act, Act::Alloc(_)));
        let report = check(&case(run));
        let sum: Bytes = report.breakdown.parts().iter().map(|part| part.bytes).sum();
        prop_assert_eq!(sum, report.peak.usage.allocated_bytes);
        prop_assert_eq!(counted, sum > Bytes::ZERO);
        prop_assert_eq!(report.breakdown.bytes_of(Contents::Unattributed), Bytes::ZERO);
        let sites: Bytes = report.sites.iter().map(|site| site.bytes).sum();
        prop_assert!(sites <= sum);
    }

    #[test]
    fn a_history_that_lost_its_beginning_leaves_a_part_unattributed(
        acts in proptest::collection::vec(act(), 1..60), lost in 1usize..10,
    ) {
        let mut run = play(&acts).end(EndReason::Exit);
        let trace = &mut run.processes[0].snapshot.as_mut().unwrap().traces[0];
        trace.drain(..lost.min(trace.len()));
        let report = check(&case(run));
        let sum: Bytes = report.breakdown.parts().iter().map(|part| part.bytes).sum();
        prop_assert_eq!(sum, report.peak.usage.allocated_bytes);
        let exact = report.breakdown.bytes_of(Contents::Unattributed) == Bytes::ZERO;
        prop_assert_eq!(exact, !texts(&report).iter().any(|note| note.contains("not exact")));
    }
}
