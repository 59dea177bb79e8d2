//! `explain` on histories and texts made by hand: each rule where it must fire, and where it must not.
#![expect(clippy::unwrap_used, reason = "test")]

mod crash;
mod loops;
mod messages;

use crash::{At, Crash, MIB, SCRIPT, Tensor};
use diagnose::{ExplainCase, ExplainInput, InputContents, explain};
use proptest::prelude::*;
use report::explain::{ExplainReport, Holder};
use report::{Contents, Finding, Location};
use trace::text::{Artifact, OomKind, OtherProcess, StatedBytes, StatedOom};
use trace::{Bytes, Frame, SnapshotSettings};

fn of(inputs: Vec<(Option<u32>, InputContents)>) -> ExplainReport {
    let input = |(rank, contents)| ExplainInput { path: "an input".to_owned(), rank, contents };
    let inputs = inputs.into_iter().map(input).collect();
    let case = ExplainCase { inputs, version: "0.1.0".to_owned(), folder: "/home/ann/gpt".to_owned() };
    explain(&case).report(Vec::new())
}

fn of_crash(crash: Crash) -> ExplainReport {
    of(vec![(None, InputContents::Snapshot(Box::new(crash.dump(0))))])
}

fn of_texts(ooms: Vec<StatedOom>) -> ExplainReport {
    of(vec![(None, InputContents::Text(ooms.into_iter().map(Artifact::Oom).collect()))])
}

fn rules(report: &ExplainReport) -> Vec<&str> {
    report.findings.iter().map(|finding| finding.rule.name()).collect()
}

fn line(finding: &Finding) -> Option<u32> {
    finding.location.as_ref().map(|location| location.line)
}

/// The first finding is `rule`, at `expected` of the script.
fn check_first(report: &ExplainReport, rule: &str, expected: Option<u32>) {
    assert_eq!(rules(report).first(), Some(&rule), "{:#?}", report.findings);
    assert_eq!(line(&report.findings[0]), expected, "{:#?}", report.findings[0]);
}

fn check_absent(report: &ExplainReport, rule: &str) {
    assert!(!rules(report).contains(&rule), "{:#?}", report.findings);
}

/// Lines of the script that trains.
const PLACE: u32 = 5;
const LOAD: u32 = 20;
const MODEL: u32 = 21;
const LOSS: u32 = 22;
const STEP: u32 = 25;

/// A model in training.
struct Training {
    crash: Crash,
    gradients: Vec<Tensor>,
    state: Vec<Tensor>,
    /// The tensor that the step before left in the script's variables.
    loaded: Option<Tensor>,
}

impl Training {
    fn new() -> Training {
        Training::of(Crash::new())
    }

    fn of(mut crash: Crash) -> Training {
        for _ in 0..4 {
            crash.alloc(At::Placed(PLACE), 16);
        }
        Training { crash, gradients: Vec::new(), state: Vec::new(), loaded: None }
    }

    fn load(&mut self) {
        let fresh = self.crash.alloc(At::Script(LOAD), 8);
        if let Some(before) = self.loaded.replace(fresh) {
            self.crash.free(before, At::Script(LOAD));
        }
    }

    fn forward(&mut self) -> Vec<Tensor> {
        let mut saved = Vec::new();
        for _ in 0..4 {
            saved.push(self.crash.alloc(At::Linear(MODEL), 32));
            saved.push(self.crash.alloc(At::Relu(MODEL), 32));
        }
        saved.push(self.crash.alloc(At::Loss(LOSS), 1));
        saved
    }

    fn backward(&mut self, saved: Vec<Tensor>) {
        let scratch = self.crash.alloc(At::Backward, 4);
        self.crash.free(scratch, At::Backward);
        if self.gradients.is_empty() {
            self.gradients = (0..4).map(|_| self.crash.alloc(At::Backward, 16)).collect();
        }
        self.crash.free_all(saved, At::Backward);
    }

    fn step(&mut self) {
        if self.state.is_empty() {
            self.state = (0..8).map(|_| self.crash.alloc(At::State(STEP), 16)).collect();
        }
        let temporary = self.crash.alloc(At::Step(STEP), 16);
        self.crash.free(temporary, At::Step(STEP));
    }

    fn zero_grad(&mut self) {
        self.crash.free_all(std::mem::take(&mut self.gradients), At::ZeroGrad(STEP + 1));
    }

    /// A whole step, gradients given back after it.
    fn train(&mut self) {
        self.load();
        let saved = self.forward();
        self.backward(saved);
        self.step();
        self.zero_grad();
    }
}

#[test]
fn a_step_is_taken_apart_to_the_byte_without_any_mark() {
    let mut training = Training::new();
    for _ in 0..3 {
        training.train();
    }
    let report = of_crash(training.crash);
    let parts: Vec<_> =
        report.breakdown.clone().unwrap().parts().iter().map(|part| (part.category, part.bytes.0 / MIB)).collect();
    let expected = [
        (Contents::Activations, 257),
        (Contents::OptimizerState, 128),
        (Contents::Parameters, 64),
        (Contents::Gradients, 64),
        (Contents::Inputs, 8),
    ];
    assert_eq!(parts, expected);
    let peak = report.peak.unwrap();
    assert_eq!(peak.allocated_bytes, Bytes::from_mib(521));
    assert!(peak.whole);
    assert_eq!((peak.place.step, peak.place.phase), (Some(2), Some(trace::Phase::Backward)));
    assert_eq!(report.devices[0].steps, 3);
    assert_eq!(report.findings, []);
}

/// `stacks="all"`, the default of `_record_memory_history()`.
#[test]
fn frames_of_cpp_between_pythons_change_nothing() {
    let report = |crash: Crash| {
        let mut training = Training::of(crash);
        let mut kept = Vec::new();
        for _ in 0..4 {
            training.load();
            let saved = training.forward();
            kept.push(training.crash.alloc(At::Script(LOSS), 24));
            training.backward(saved);
            training.step();
            training.zero_grad();
        }
        training.forward();
        training.crash.oom(At::Linear(MODEL), 32, 4);
        of_crash(training.crash)
    };
    let (plain, mixed) = (report(Crash::new()), report(Crash::with_native_frames()));
    assert_eq!(mixed.findings, plain.findings);
    assert_eq!(line(&mixed.findings[0]), Some(LOSS), "{:#?}", mixed.findings);
    assert_eq!((&mixed.breakdown, &mixed.sites), (&plain.breakdown, &plain.sites));
    assert!(mixed.sites.iter().any(|site| site.location.is_some()));
    assert_eq!(mixed.devices[0].growth, plain.devices[0].growth);
}

#[test]
fn what_survives_step_after_step_is_named_by_why() {
    // The tensors that a step keeps, the expected rule, and the line.
    type Keep = fn(&mut Training) -> Vec<Tensor>;
    let graph: Keep = |training| training.forward();
    let collection: Keep = |training| vec![training.crash.alloc(At::Script(40), 16)];
    let hook: Keep = |training| vec![training.crash.alloc(At::Hook(50), 16)];
    let cases: [(Keep, &str, u32); 3] =
        [(graph, "retained-graph", MODEL), (collection, "growing-collection", 40), (hook, "saved-intermediates", 50)];
    for (keep, rule, at) in cases {
        for keeps in [true, false] {
            let mut training = Training::new();
            for _ in 0..8 {
                training.train();
                let kept = keep(&mut training);
                if !keeps {
                    training.crash.free_all(kept, At::Script(41));
                }
            }
            training.load();
            training.crash.oom(At::Linear(MODEL), 32, 4);
            let report = of_crash(training.crash);
            if keeps {
                check_first(&report, rule, Some(at));
                assert!(report.devices[0].growth.is_some());
            } else {
                check_absent(&report, rule);
                assert_eq!(report.devices[0].growth, None);
            }
        }
    }
}

#[test]
fn a_loop_without_any_backward_has_steps_too() {
    for keeps in [true, false] {
        let mut crash = Crash::new();
        crash.alloc(At::Placed(PLACE), 16);
        for _ in 0..12 {
            let input = crash.alloc(At::Script(LOAD), 4);
            let hidden = crash.alloc(At::Linear(MODEL), 32);
            let output = crash.alloc(At::Relu(MODEL), 16);
            crash.free(hidden, At::Script(MODEL));
            crash.free(input, At::Script(LOAD));
            if !keeps {
                crash.free(output, At::Script(MODEL));
            }
        }
        crash.oom(At::Linear(MODEL), 32, 4);
        let report = of_crash(crash);
        if keeps {
            check_first(&report, "growing-collection", Some(MODEL));
        } else {
            check_absent(&report, "growing-collection");
        }
    }
}

#[test]
fn tensors_of_many_steps_freed_at_once_are_cycles() {
    for cycle in [true, false] {
        let mut crash = Crash::new();
        let mut held = Vec::new();
        for step in 0..30 {
            let state = crash.alloc(At::Script(12), 32);
            let other = crash.alloc(At::Script(13), 1);
            crash.free(other, At::Script(13));
            if cycle {
                held.push(state);
            } else {
                crash.free(state, At::Script(12));
            }
            if step == 9 || step == 19 {
                crash.free_all(held.drain(..), At::Script(14));
            }
        }
        crash.oom(At::Script(12), 32, 4);
        let report = of_crash(crash);
        if cycle { check_first(&report, "reference-cycle", Some(12)) } else { check_absent(&report, "reference-cycle") }
    }
}

#[test]
fn gradients_of_the_step_before_are_in_the_way_of_a_forward() {
    for early in [true, false] {
        let mut training = Training::new();
        training.load();
        let saved = training.forward();
        training.backward(saved);
        if early {
            training.zero_grad();
        }
        training.load();
        training.forward();
        training.crash.oom(At::Linear(MODEL), 32, 4);
        let report = of_crash(training.crash);
        if early {
            check_absent(&report, "gradients-alive-in-forward");
        } else {
            check_first(&report, "gradients-alive-in-forward", Some(MODEL));
            let without = report.findings[0].without.unwrap();
            assert_eq!((without.freed_bytes, without.served), (Bytes::from_mib(64), Some(true)));
        }
    }
}

#[test]
fn a_forward_that_saves_for_no_backward_is_found_once_a_pass_is_through() {
    for saves in [true, false] {
        let mut training = Training::new();
        training.train();
        for _ in 0..2 {
            let input = training.crash.alloc(At::Script(LOAD), 8);
            let mut saved: Vec<Tensor> = Vec::new();
            for _ in 0..8 {
                let made = training.crash.alloc(At::Linear(60), 64);
                if !saves {
                    training.crash.free_all(saved.drain(..), At::Script(60));
                }
                saved.push(made);
            }
            training.crash.free_all(saved, At::Script(61));
            training.crash.free(input, At::Script(LOAD));
        }
        training.train();
        let report = of_crash(training.crash);
        if saves {
            check_first(&report, "grad-recorded-in-eval", Some(60));
        } else {
            check_absent(&report, "grad-recorded-in-eval");
        }
    }
}

#[test]
fn a_second_try_pays_for_the_first_while_the_exception_lives() {
    for held in [true, false] {
        let mut training = Training::new();
        training.train();
        training.load();
        let first = training.forward();
        training.crash.oom(At::Linear(MODEL), 64, 4);
        if !held {
            training.crash.free_all(first, At::Script(30));
        }
        training.forward();
        training.crash.oom(At::Linear(MODEL), 32, 4);
        let report = of_crash(training.crash);
        if held {
            check_first(&report, "exception-holds-frames", Some(MODEL));
        } else {
            check_absent(&report, "exception-holds-frames");
        }
    }
}

#[test]
fn results_of_the_step_before_are_alive_in_the_next_forward() {
    for stale in [true, false] {
        let mut training = Training::new();
        training.load();
        let mut saved = training.forward();
        let output = saved.pop().unwrap();
        let logits = training.crash.alloc(At::Linear(MODEL), 64);
        training.backward(saved);
        training.crash.free(output, At::Backward);
        if !stale {
            training.crash.free(logits, At::Script(28));
        }
        training.zero_grad();
        training.load();
        training.forward();
        training.crash.oom(At::Linear(MODEL), 32, 4);
        let report = of_crash(training.crash);
        assert_eq!(rules(&report).contains(&"saved-intermediates"), stale, "{:#?}", report.findings);
    }
}

#[test]
fn the_optimizers_own_request_fails() {
    let mut training = Training::new();
    training.load();
    let saved = training.forward();
    training.backward(saved);
    training.state = (0..4).map(|_| training.crash.alloc(At::State(STEP), 16)).collect();
    training.crash.oom(At::State(STEP), 16, 4);
    check_first(&of_crash(training.crash), "optimizer-state", Some(STEP));
}

#[test]
fn activations_fill_the_device_or_parameters_do() {
    let mut training = Training::new();
    training.load();
    training.forward();
    training.crash.oom(At::Linear(MODEL), 32, 4);
    let report = of_crash(training.crash);
    check_first(&report, "batch-too-large", Some(MODEL));
    assert_eq!(rules(&report), ["batch-too-large", "need-exceeds-device"]);

    let mut crash = Crash::new();
    for _ in 0..8 {
        crash.alloc(At::Placed(PLACE), 64);
    }
    crash.oom(At::Placed(PLACE), 64, 4);
    let report = of_crash(crash);
    assert_eq!(rules(&report), ["need-exceeds-device"]);
    assert_eq!(line(&report.findings[0]), Some(PLACE));
}

#[test]
fn one_request_is_too_large_for_the_device() {
    for (mib, huge) in [(4096, true), (64, false)] {
        let mut crash = Crash::new();
        for _ in 0..8 {
            crash.alloc(At::Placed(PLACE), 128);
        }
        crash.oom(At::Script(9), mib, 8);
        let report = of_crash(crash);
        assert_eq!(rules(&report).contains(&"one-huge-request"), huge, "{:#?}", report.findings);
        assert_eq!(line(&report.findings[0]), Some(9));
    }
}

#[test]
fn free_memory_in_pieces_does_not_serve() {
    for (pieces, fragmented) in [(8, true), (2, false)] {
        let mut crash = Crash::new();
        let tensors: Vec<[Tensor; 2]> = (0..16).map(|_| crash.pair(At::Script(7), 16)).collect();
        for [first, _] in tensors.into_iter().take(pieces) {
            crash.free_part(first, At::Script(8));
        }
        crash.oom(At::Script(9), 96, 4);
        let report = of_crash(crash);
        assert_eq!(rules(&report).contains(&"fragmentation"), fragmented, "{:#?}", report.findings);
    }
}

#[test]
fn a_refusal_with_room_on_the_device_is_a_fraction() {
    for (free, fraction) in [(2000, true), (4, false)] {
        let mut training = Training::new();
        training.load();
        training.forward();
        training.crash.oom(At::Linear(MODEL), 32, free);
        let report = of_crash(training.crash);
        assert_eq!(rules(&report).first() == Some(&"small-gpu-fraction"), fraction, "{:#?}", report.findings);
    }
}

#[test]
fn blocks_that_are_never_split_waste_what_is_not_asked_for() {
    for capped in [true, false] {
        let max_split_size = capped.then_some(Bytes::from_mib(21));
        let conf = if capped { "max_split_size_mb:21" } else { "" };
        let mut crash =
            Crash::with(SnapshotSettings { conf: conf.to_owned(), max_split_size, ..SnapshotSettings::default() });
        for _ in 0..12 {
            crash.alloc_in(At::Script(7), 24, 40);
        }
        crash.oom(At::Script(7), 24, 4);
        let report = of_crash(crash);
        if capped {
            check_first(&report, "allocator-setting-harmful", Some(7));
        } else {
            check_absent(&report, "allocator-setting-harmful");
        }
    }
}

#[test]
fn a_cache_emptied_in_every_step_is_taken_anew() {
    for empties in [true, false] {
        let mut training = Training::new();
        for _ in 0..6 {
            training.train();
            if empties {
                training.crash.empty_cache(27);
            }
        }
        let report = of_crash(training.crash);
        if empties {
            check_first(&report, "allocator-setting-harmful", Some(27));
        } else {
            check_absent(&report, "allocator-setting-harmful");
        }
    }
}

fn rank(device: u32, extra: u64) -> InputContents {
    let mut training = Training::new();
    training.train();
    if extra > 0 {
        training.crash.alloc(At::Script(70), extra);
    }
    InputContents::Snapshot(Box::new(training.crash.dump(device)))
}

#[test]
fn ranks_share_a_device_or_one_holds_more() {
    let report = of(vec![(Some(0), rank(0, 0)), (Some(1), rank(0, 0))]);
    assert_eq!(rules(&report), ["wrong-device"]);
    let report = of(vec![(Some(0), rank(0, 600)), (Some(1), rank(1, 0))]);
    assert_eq!(rules(&report), ["rank-imbalance"]);
    assert_eq!(line(&report.findings[0]), Some(70));
    let comparison = report.comparison.unwrap();
    assert_eq!(comparison.sides, ["rank 0", "rank 1"]);
    assert_eq!(comparison.sites[0].bytes, [Bytes::from_mib(600), Bytes::ZERO]);
    let report = of(vec![(Some(0), rank(0, 0)), (Some(1), rank(1, 0))]);
    assert_eq!(report.findings, []);
}

/// `gib` as a message prints it, to two decimals.
#[expect(clippy::unnecessary_wraps, reason = "what a text states is optional")]
fn gib(gib: f64) -> Option<StatedBytes> {
    let bytes = |gib: f64| Bytes(format!("{:.0}", gib * 1024.0 * 1024.0).parse::<u64>().unwrap() << 10);
    Some(StatedBytes { nearest: bytes(gib), lowest: bytes((gib - 0.005).max(0.0)), highest: bytes(gib + 0.005) })
}

/// An error of torch 2.x with all possible statements.
fn stated(requested: f64, free: f64, process: f64, allocated: f64, cached: f64) -> StatedOom {
    StatedOom {
        requested_bytes: gib(requested),
        total_bytes: gib(23.64),
        free_bytes: gib(free),
        process_bytes: gib(process),
        allocated_bytes: gib(allocated),
        reserved_unallocated_bytes: gib(cached),
        device_index: Some(0),
        traceback: vec![Frame { function: "main".to_owned(), file: SCRIPT.to_owned(), line: 9 }],
        message: "CUDA out of memory.".to_owned(),
        ..StatedOom::default()
    }
}

fn with_others(oom: StatedOom, others: &[(u32, f64)]) -> StatedOom {
    let other_processes = others.iter().map(|&(pid, held)| OtherProcess { pid, bytes: gib(held) }).collect();
    StatedOom { other_processes, ..oom }
}

#[test]
fn what_the_text_alone_decides() {
    let full = stated(0.7, 0.2, 23.3, 22.4, 0.3);
    let of_kind = |kind| StatedOom { kind, message: "it".to_owned(), ..StatedOom::default() };
    let allowed = StatedOom { allowed_bytes: gib(6.0), ..stated(0.5, 17.1, 6.3, 5.8, 0.1) };
    let mounted = vec![Frame { function: "f".to_owned(), file: "/mnt/c/Users/ann/train.py".to_owned(), line: 3 }];
    let windows = StatedOom { traceback: mounted, ..full.clone() };
    let slice = StatedOom { total_bytes: gib(4.75), ..stated(0.5, 0.2, 4.5, 4.0, 0.1) };
    let ranked = |rank| StatedOom {
        rank: Some(rank),
        ..with_others(stated(0.1, 0.06, 7.9, 7.3, 0.1), &[(7001, 7.8), (7002, 7.8)])
    };
    let twice = vec![StatedOom { line: 3, ..full.clone() }, StatedOom { line: 30, ..full.clone() }];
    let chained = vec![twice[0].clone(), StatedOom { while_handling: true, ..twice[1].clone() }];
    let cases: [(Vec<StatedOom>, &str); 16] = [
        (vec![with_others(stated(0.5, 0.2, 3.9, 3.3, 0.1), &[(48_213, 19.5)])], "other-process-memory"),
        (vec![stated(0.5, 0.2, 3.9, 3.3, 0.1)], "other-process-memory"),
        (vec![stated(128.0, 20.0, 3.0, 2.0, 0.1)], "one-huge-request"),
        (vec![stated(1.0, 0.2, 23.3, 18.0, 4.7)], "fragmentation"),
        (vec![full.clone()], "need-exceeds-device"),
        (vec![stated(1.0, 0.2, 23.3, 16.0, 0.1)], "non-pytorch-memory"),
        (vec![of_kind(OomKind::Nccl)], "unclear"),
        (vec![of_kind(OomKind::Cublas)], "unclear"),
        (vec![of_kind(OomKind::HostAllocation)], "host-memory"),
        (vec![of_kind(OomKind::Killed)], "host-memory"),
        (vec![of_kind(OomKind::SharedMemory)], "shm"),
        (vec![allowed], "small-gpu-fraction"),
        (vec![ranked(1), ranked(2)], "wrong-device"),
        (chained, "exception-holds-frames"),
        (twice, "need-exceeds-device"),
        (vec![StatedOom { message: "CUDA out of memory.".to_owned(), ..StatedOom::default() }], "unclear"),
    ];
    for (ooms, rule) in cases {
        let report = of_texts(ooms.clone());
        assert_eq!(rules(&report).first(), Some(&rule), "{ooms:#?} {:#?}", report.findings);
    }
    assert_eq!(rules(&of_texts(vec![slice]))[0], "mig");
    assert_eq!(rules(&of_texts(vec![windows])), ["need-exceeds-device", "wsl"]);
}

#[test]
fn in_a_container_the_only_other_process_is_this_one() {
    let hidden = StatedOom { process_bytes: None, ..with_others(stated(0.7, 0.2, 0.0, 22.4, 0.3), &[(12, 23.3)]) };
    let report = of_texts(vec![hidden]);
    check_first(&report, "need-exceeds-device", Some(9));
    check_absent(&report, "other-process-memory");
}

#[test]
fn a_text_without_an_error_finds_nothing() {
    let report = of_texts(Vec::new());
    assert_eq!(report.findings, []);
    assert_eq!(report.memory, None);
}

/// 2.97 GiB may be 5 MiB less; the 34 MiB that are free may not.
#[test]
fn rounded_numbers_give_way_to_finer_ones() {
    let mib = |mib: u64| Some(StatedBytes::exact(mib * MIB));
    let said = StatedOom { total_bytes: mib(3072), free_bytes: mib(34), ..stated(0.25, 0.03, 2.97, 2.5, 0.0) };
    let memory = of_texts(vec![said]).memory.unwrap();
    let parts: Vec<_> = memory.parts().iter().map(|part| (part.holder, part.bytes.0 / MIB)).collect();
    assert_eq!(
        parts,
        [(Holder::Allocated(None), 2560), (Holder::OutsidePytorch, 3072 - 2560 - 34), (Holder::Free, 34),]
    );
}

#[test]
fn a_log_and_a_snapshot_of_one_error_are_one_error() {
    let mut training = Training::new();
    training.load();
    training.forward();
    training.crash.oom(At::Linear(MODEL), 32, 4);
    let mib = |mib: u64| Some(StatedBytes::exact(mib * MIB));
    let said = StatedOom {
        requested_bytes: mib(32),
        total_bytes: mib(1024),
        free_bytes: mib(4),
        process_bytes: mib(329 + 100),
        allocated_bytes: mib(329),
        reserved_unallocated_bytes: mib(0),
        device_index: Some(0),
        ..with_others(StatedOom::default(), &[(7, 0.5)])
    };
    let snapshot = InputContents::Snapshot(Box::new(training.crash.dump(0)));
    let report = of(vec![(None, InputContents::Text(vec![Artifact::Oom(said)])), (None, snapshot)]);
    check_first(&report, "other-process-memory", None);
    assert_eq!(rules(&report)[1], "batch-too-large");
    let memory = report.memory.unwrap();
    assert_eq!(memory.total(), Bytes::from_mib(1024));
    assert_eq!(memory.parts().iter().map(|part| part.bytes).sum::<Bytes>(), memory.total());
}

#[test]
fn the_reason_for_the_order_is_in_the_evidence() {
    let report = of_texts(vec![with_others(stated(0.5, 0.2, 3.9, 3.3, 0.1), &[(48_213, 19.5)])]);
    let reason = report.findings[0].evidence.iter().find(|evidence| evidence.what == "accounts for").unwrap();
    assert!(reason.value.to_string().contains("all of the"), "{}", reason.value);
}

#[test]
fn locations_are_the_scripts_own() {
    let mut training = Training::new();
    training.load();
    training.forward();
    training.crash.oom(At::Linear(MODEL), 32, 4);
    let report = of_crash(training.crash);
    let location = Location { file: SCRIPT.to_owned(), line: MODEL, column: None };
    assert_eq!(report.findings[0].location, Some(location));
}

/// The next act of a random program.
#[derive(Clone, Copy, Debug)]
enum Act {
    Alloc(u8, u64),
    Free(usize),
    Oom(u64),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => (0u8..10, 1u64..64).prop_map(|(at, mib)| Act::Alloc(at, mib)),
        4 => any::<usize>().prop_map(Act::Free),
        1 => (1u64..512).prop_map(Act::Oom),
    ]
}

fn at(number: u8) -> At {
    let all = [
        At::Script(1),
        At::Placed(2),
        At::Linear(3),
        At::Relu(3),
        At::Hook(4),
        At::Loss(5),
        At::Backward,
        At::State(6),
        At::Step(6),
        At::ZeroGrad(7),
    ];
    all[usize::from(number) % all.len()]
}

fn play(acts: &[Act]) -> Crash {
    let (mut crash, mut live) = (Crash::new(), Vec::new());
    for &act in acts {
        match act {
            Act::Alloc(number, mib) => live.push(crash.alloc(at(number), mib)),
            Act::Free(index) if !live.is_empty() => {
                let tensor = live.swap_remove(index % live.len());
                crash.free(tensor, At::Script(8));
            }
            Act::Oom(mib) => crash.oom(At::Script(9), mib, 1),
            Act::Free(_) => {}
        }
    }
    crash
}

proptest! {
    #[test]
    fn whatever_a_history_holds_the_parts_add_up(acts in proptest::collection::vec(act(), 0..200), lost in 0usize..20) {
        let mut snapshot = play(&acts).dump(0);
        let trace = &mut snapshot.traces[0];
        trace.drain(..lost.min(trace.len()));
        let report = of(vec![(None, InputContents::Snapshot(Box::new(snapshot)))]);
        let peak = report.peak.clone().unwrap_or_default().allocated_bytes;
        let sum: Bytes = report.breakdown.clone().unwrap_or_default().parts().iter().map(|part| part.bytes).sum();
        prop_assert_eq!(sum, peak);
        let sites: Bytes = report.sites.iter().map(|site| site.bytes).sum();
        prop_assert!(sites <= peak);
        if let Some(memory) = &report.memory {
            let parts: Bytes = memory.parts().iter().map(|part| part.bytes).sum();
            prop_assert_eq!(parts, memory.total());
        }
        for finding in &report.findings {
            for remedy in &finding.remedies {
                prop_assert!(remedy.after_bytes <= remedy.before_bytes, "{:?}", finding);
            }
        }
    }
}

#[test]
fn events_of_unknown_kinds_are_left_out_and_said() {
    // The number of events of each kind, and the notes.
    let cases: [(&[u8], &[&str]); 3] = [
        (&[1], &["1 event of an unknown kind `a` was left out"]),
        (&[1, 3], &["3 events of an unknown kind `b` were left out", "1 event of an unknown kind `a` was left out"]),
        (
            &[5, 4, 3, 2, 1],
            &[
                "5 events of an unknown kind `a` were left out",
                "4 events of an unknown kind `b` were left out",
                "3 events of an unknown kind `c` were left out",
                "events of 2 more unknown kinds were left out",
            ],
        ),
    ];
    let expected = {
        let mut training = Training::new();
        training.train();
        of_crash(training.crash)
    };
    for (counts, notes) in cases {
        let mut training = Training::new();
        training.crash.names(&["a", "b", "c", "d", "e"]);
        training.train();
        (0..).zip(counts).for_each(|(name, &count)| (0..count).for_each(|_| training.crash.unknown(name)));
        let report = of_crash(training.crash);
        assert_eq!(report.notes, notes);
        assert_eq!(
            report.peak.map(|peak| peak.allocated_bytes),
            expected.peak.as_ref().map(|peak| peak.allocated_bytes)
        );
        assert_eq!(report.breakdown, expected.breakdown);
    }
}

#[test]
fn an_unknown_kind_of_event_that_moved_memory_shows_as_a_contradiction() {
    let mut crash = Crash::new();
    crash.names(&["segment_move"]);
    let tensor = crash.alloc(At::Script(LOAD), 8);
    crash.moved(tensor, 0);
    let report = of_crash(crash);
    let [.., unknown, contradiction] = &report.notes[..] else { panic!("{:#?}", report.notes) };
    assert_eq!(unknown, "1 event of an unknown kind `segment_move` was left out");
    assert!(contradiction.starts_with("the history contradicts itself"), "{contradiction}");
}
