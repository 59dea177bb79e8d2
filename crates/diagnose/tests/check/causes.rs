//! Causes of a failed request that a replay proves, with what the agent saw in the living program.

use causes::CauseId;
use report::CheckReport;
use trace::run::{EndReason, HeldRecord, LoopRecord, OperationRecord, RootRecord};
use trace::{Bytes, Category, Phase, Run};

use diagnose::RecordedRun;

use super::program::{Program, SCRIPT, Tensor, case, launch};
use super::{MIB, check};

/// The request that fails in every program, at line 9.
const REQUEST: u64 = 300 * MIB;

/// The part of a program before the request. Returns the tensors to free after the request.
type Part = fn(&mut Program) -> Vec<Tensor>;

/// The report on a program that runs out after `part`, and goes on without a limit.
fn report(part: Part, after: fn(&mut Program)) -> CheckReport {
    let mut limited = Program::new();
    part(&mut limited);
    limited.oom(9, REQUEST, 0);
    let limited = limited.raise("torch.OutOfMemoryError", "CUDA out of memory.", true);
    let mut later = Program::new();
    let freed = part(&mut later);
    later.alloc(9, REQUEST);
    for tensor in freed {
        later.free(tensor);
    }
    after(&mut later);
    check_both(limited, later.end(EndReason::Exit))
}

fn check_both(limited: Run, unlimited: Run) -> CheckReport {
    let mut asked = case(limited);
    asked.runs.unlimited = Some(RecordedRun { launch: launch(), run: unlimited });
    check(&asked)
}

fn nothing(_: &mut Program) {}

fn loops(program: &mut Program, line: u32, last_line: u32) {
    program.process.loops = vec![LoopRecord { depth: 0, file: SCRIPT.to_owned(), line, last_line }];
}

fn root(number: u32, last_call: u64, tensors: &[Tensor]) -> RootRecord {
    let addresses = tensors.iter().map(|Tensor(address, _)| *address).collect();
    RootRecord { number, name: "Net".to_owned(), last_call, addresses, ..RootRecord::default() }
}

/// An earlier model of 750 MiB, called in calls 1 and 2, and a new one.
fn two_models(program: &mut Program) -> Vec<Tensor> {
    program.enter(Phase::Forward);
    let earlier = program.alloc(2, 750 * MIB);
    let model = program.alloc(3, 10 * MIB);
    program.process.roots = vec![root(0, 2, &[earlier]), RootRecord { is_running: true, ..root(1, 3, &[model]) }];
    Vec::new()
}

/// Two passes of the loop of lines 7 to 9. The result of the first pass is alive in the second.
fn last_result(program: &mut Program) -> Vec<Tensor> {
    loops(program, 7, 9);
    program.enter(Phase::Forward);
    let mut results = Vec::new();
    for _ in 0..2 {
        let batch = program.alloc(8, 20 * MIB);
        if results.is_empty() {
            results.push(program.alloc(9, 720 * MIB));
        }
        program.free(batch);
    }
    results
}

/// As `last_result`, but the result is never freed, as before a common backward.
fn results_for_a_backward(program: &mut Program) -> Vec<Tensor> {
    last_result(program);
    Vec::new()
}

/// Data of 720 MiB before the loop of lines 7 to 9.
fn dataset(program: &mut Program) -> Vec<Tensor> {
    program.enter(Phase::Setup);
    program.is_plain = true;
    program.alloc(2, 720 * MIB);
    program.is_plain = false;
    loops(program, 7, 9);
    program.enter(Phase::Forward);
    vec![program.alloc(8, 20 * MIB)]
}

/// 720 MiB in the frames of an exception.
fn traceback(program: &mut Program) -> Vec<Tensor> {
    program.enter(Phase::Forward);
    let Tensor(address, _) = program.alloc(4, 720 * MIB);
    let addresses = vec![address];
    program.process.held = vec![HeldRecord {
        holder: "traceback".to_owned(),
        what: "ValueError".to_owned(),
        addresses,
        ..HeldRecord::default()
    }];
    vec![program.alloc(8, 20 * MIB)]
}

/// The same in a cycle.
fn cycle(program: &mut Program) -> Vec<Tensor> {
    let freed = traceback(program);
    "cycle".clone_into(&mut program.process.held[0].holder);
    freed
}

/// Five outputs of 150 MiB in the passes of the loop of lines 7 to 9, all of which stay.
fn few_passes(program: &mut Program) -> Vec<Tensor> {
    loops(program, 7, 9);
    program.enter(Phase::Forward);
    let mut outputs = Vec::new();
    for _ in 0..5 {
        let batch = program.alloc(8, 20 * MIB);
        outputs.push(program.alloc(9, 150 * MIB));
        program.free(batch);
    }
    program.alloc(8, 20 * MIB);
    outputs
}

/// Results of 64 MiB that each of five passes joins to the last ones, on a plain line 9: 128 to 384 MiB.
fn joins(program: &mut Program) -> Vec<Tensor> {
    loops(program, 7, 9);
    program.enter(Phase::Forward);
    program.is_plain = true;
    let model = program.alloc(2, 350 * MIB);
    let mut whole = program.alloc(8, 64 * MIB);
    for pass in 2..=6 {
        let result = program.alloc(8, 64 * MIB);
        let longer = program.alloc(9, pass * 64 * MIB);
        program.free(whole);
        program.free(result);
        whole = longer;
    }
    vec![model, whole]
}

/// A large tensor, and the operation of the next request, with operands of `shapes`.
fn operation(program: &mut Program, text: &str, shapes: &[&[u64]], result: &[u64]) -> Vec<Tensor> {
    program.enter(Phase::Forward);
    program.alloc(8, 100 * MIB);
    program.process.operation = Some(OperationRecord {
        text: text.to_owned(),
        shapes: shapes.iter().map(|shape| shape.to_vec()).collect(),
        result: result.to_vec(),
        operands: if text.contains('-') && shapes.len() == 2 {
            shapes.iter().map(|shape| shape.to_vec()).collect()
        } else {
            Vec::new()
        },
        ..OperationRecord::default()
    });
    vec![program.alloc(8, 650 * MIB)]
}

fn scores(program: &mut Program) -> Vec<Tensor> {
    operation(program, "q @ k.transpose(-2, -1)", &[&[1, 8, 3072, 64], &[1, 8, 3200, 64]], &[1, 8, 3072, 3200])
}

fn layers(program: &mut Program) -> Vec<Tensor> {
    operation(program, "torch.relu(x)", &[&[64, 4096, 300]], &[64, 4096, 300])
}

/// A product of activations with weights of 4096 by 4096: batch, length and width.
fn widened(program: &mut Program) -> Vec<Tensor> {
    operation(program, "attention_input @ w", &[&[8, 2400, 4096], &[4096, 4096]], &[8, 2400, 4096])
}

fn pairs(program: &mut Program) -> Vec<Tensor> {
    operation(program, "a[:, None] - b[None]", &[&[8192, 1], &[9600]], &[8192, 9600])
}

fn one_hot(program: &mut Program) -> Vec<Tensor> {
    operation(program, "F.one_hot(target, 50257)", &[&[4096]], &[4096])
}

fn logits(program: &mut Program) -> Vec<Tensor> {
    operation(program, "F.cross_entropy(scores, target)", &[&[2048, 50_257]], &[2048, 50_257])
}

#[test]
fn the_first_finding_is_the_cause_and_its_proof_is_exact() {
    // Name, the parts before and after the request, and the cause with the freed MiB.
    type Case = (&'static str, Part, fn(&mut Program), Option<(&'static str, u64)>);
    let cases: [Case; 13] = [
        ("two models", two_models, call_the_new_model, Some(("earlier-model-alive", 750))),
        ("two models in turn", two_models, call_both_models, None),
        ("the last result", last_result, nothing, Some(("saved-intermediates", 720))),
        ("results for a backward", results_for_a_backward, nothing, None),
        ("outputs of a few passes", few_passes, nothing, Some(("growing-collection", 750))),
        ("joined results", joins, nothing, Some(("growing-collection", 384 + 300))),
        ("a dataset", dataset, nothing, Some(("dataset-on-gpu", 720))),
        ("an exception", traceback, nothing, Some(("exception-holds-frames", 720))),
        ("a cycle", cycle, nothing, Some(("reference-cycle", 720))),
        ("attention", scores, nothing, Some(("attention-matrix", 300))),
        ("pairs", pairs, nothing, Some(("pairwise-by-broadcasting", 300))),
        ("one-hot", one_hot, nothing, Some(("one-hot-of-vocabulary", 300))),
        ("logits", logits, nothing, Some(("vocabulary-logits", 300))),
    ];
    for (name, part, after, expected) in cases {
        let report = report(part, after);
        let found = report.mistake.map(|cause| (cause.name(), report.findings[0].without.unwrap()));
        let shown = found.map(|(cause, without)| (cause, without.freed_bytes.0 / MIB));
        assert_eq!(shown, expected, "{name}: {:#?}", report.findings);
        if let Some((_, without)) = found {
            assert_eq!(without.served, Some(true), "{name}");
            assert!(without.lowers_peak(), "{name}");
        }
    }
}

fn call_the_new_model(program: &mut Program) {
    program.process.roots[0].addresses.clear();
    program.process.roots[1].last_call = 5;
}

fn call_both_models(program: &mut Program) {
    program.process.roots[0].last_call = 4;
    program.process.roots[1].last_call = 5;
}

#[test]
fn an_honest_layer_is_a_need() {
    for layer in [layers, widened] {
        let report = report(layer, nothing);
        assert_eq!(report.mistake, None, "{:#?}", report.findings);
        let rules: Vec<&str> = report.findings.iter().map(|finding| finding.rule.name()).collect();
        assert_eq!(rules, ["need-exceeds-device"]);
    }
}

#[test]
fn shared_weights_belong_to_the_model_in_use() {
    let wrapped: Part = |program| {
        program.enter(Phase::Forward);
        let weights = program.alloc(2, 750 * MIB);
        program.census(&[(Category::Parameter, weights)]);
        // A wrapper that is called, around a model that was called before.
        program.process.roots = vec![root(0, 2, &[weights]), RootRecord { is_running: true, ..root(1, 3, &[weights]) }];
        Vec::new()
    };
    let report = report(wrapped, call_the_new_model);
    let rules: Vec<&str> = report.findings.iter().map(|finding| finding.rule.name()).collect();
    assert!(!rules.contains(&"earlier-model-alive"), "{rules:?}");
}

#[test]
fn what_frees_little_of_the_device_is_a_remark() {
    let small: Part = |program| {
        program.enter(Phase::Forward);
        let Tensor(address, _) = program.alloc(4, 18 * MIB);
        program.process.held =
            vec![HeldRecord { holder: "cycle".to_owned(), addresses: vec![address], ..HeldRecord::default() }];
        vec![program.alloc(8, 800 * MIB)]
    };
    let report = report(small, nothing);
    let cycle = report.findings.iter().find(|finding| finding.rule.name() == "reference-cycle").unwrap();
    assert_eq!((cycle.severity.word(), report.mistake), ("info", None));
    assert_eq!(cycle.without.unwrap().freed_bytes, Bytes::from_mib(18));
}

#[test]
fn a_constant_mistake_is_no_headline_where_the_need_stays_too_large() {
    for (needed_mib, expected) in [(0, Some("saved-intermediates")), (2000, None)] {
        let mut limited = Program::new();
        last_result(&mut limited);
        limited.oom(9, REQUEST, 0);
        let mut later = Program::new();
        let freed = last_result(&mut later);
        later.alloc(9, REQUEST);
        for tensor in freed {
            later.free(tensor);
        }
        if needed_mib > 0 {
            later.alloc(9, needed_mib * MIB);
        }
        let report = check_both(
            limited.raise("torch.OutOfMemoryError", "CUDA out of memory.", true),
            later.end(EndReason::Exit),
        );
        assert_eq!(report.mistake.map(CauseId::name), expected, "{needed_mib}: {:#?}", report.findings);
    }
}

#[test]
fn the_largest_part_of_the_batch_that_fits_is_named() {
    // 600 MiB and the request that fails are activations, 24 MiB the context, and the device has 1024 MiB.
    let cases = [
        (500, Some("halve the batch")),
        (1500, Some("a quarter of the batch")),
        (3700, Some("an eighth of the batch")),
        (16_000, None),
    ];
    let forward = || {
        let mut program = Program::new();
        program.enter(Phase::Forward);
        program.alloc(8, 600 * MIB);
        program
    };
    for (requested, expected) in cases {
        let (mut limited, mut later) = (forward(), forward());
        limited.oom(9, requested * MIB, 0);
        later.alloc(9, requested * MIB);
        let limited = limited.raise("torch.OutOfMemoryError", "CUDA out of memory.", true);
        let report = check_both(limited, later.end(EndReason::Exit));
        let finding = report.findings.iter().find(|finding| finding.rule == CauseId::NeedExceedsDevice).unwrap();
        let named = finding.remedies.first().map(|remedy| remedy.remedy.as_str());
        assert_eq!(named, expected, "{requested} MiB");
    }
}
