//! `torch.load` without `map_location` in a program of several ranks.

use crate::edits;
use crate::finding::{Applicability, MemoryEffect};
use crate::rule::{Matches, Rule};
use crate::semantics::data::RegionKind;
use crate::semantics::{Call, Model};
use causes::CauseId;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("load-without-map-location"),
    effect: MemoryEffect::Wastes,
    summary: "`torch.load` without `map_location` in a distributed program",
    help: "pass `map_location=\"cpu\"`",
    cause: Some(CauseId::WrongDevice),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    let is_load = |call: &&Call<'_>| call.is("torch.load");
    // A file with `map_location` at one call leaves it out elsewhere on purpose.
    let is_known = model.calls().iter().filter(is_load).any(|call| call.argument("map_location", 1).is_some());
    if is_known || !is_distributed(model) {
        return;
    }
    for call in model.calls().iter().filter(|call| call.is("torch.load")) {
        if !call.has_unpacked() && !is_small(model, call) && !is_alone(model, call) {
            let message = "every rank loads the tensors to the GPU they were saved from, usually GPU 0";
            matches.add(call.syntax, message).fix =
                edits::add_keyword(model, call.syntax, "map_location=\"cpu\"", Applicability::Unsafe);
        }
    }
}

/// Checks whether the file starts or joins a process group with one GPU per process.
fn is_distributed(model: &Model<'_>) -> bool {
    let starts = [
        "torch.distributed.init_process_group",
        "torch.nn.parallel.DistributedDataParallel",
        "torch.multiprocessing.spawn",
    ];
    let is_gloo = |call: &Call<'_>| {
        let backend = call.argument("backend", 0).and_then(|it| it.as_string_literal_expr());
        call.is(starts[0]) && backend.is_some_and(|it| it.value.to_str() == "gloo")
    };
    model.calls().iter().any(|call| call.is_any(&starts)) && !model.calls().iter().any(is_gloo)
}

/// Checks whether a single process loads: under a condition on the rank, or in a test function.
fn is_alone(model: &Model<'_>, call: &Call<'_>) -> bool {
    let function = model.function(call.region).map(|it| model.tree.functions[it.index()].syntax.name.as_str());
    let asks = |kind| matches!(kind, RegionKind::If(it, _) if model.source(&*it.test).contains("rank"));
    function.is_some_and(|name| name.contains("test") || name.contains("eval")) || model.regions(call.region).any(asks)
}

/// Checks by its name whether the file holds no large tensors, or is a buffer in memory.
fn is_small(model: &Model<'_>, call: &Call<'_>) -> bool {
    let Some(file) = call.argument("f", 0) else { return true };
    let name = model.source(file).to_ascii_lowercase();
    let is_buffer = model.origins(file).into_iter().any(|it| model.call(it).is_some_and(|call| call.is("io.BytesIO")));
    let name = name.replace("args.", "");
    let words = ["sched", "rng", "arg", "scaler", "config", "bytesio", "feature", "cache", "dataset", "data_"];
    is_buffer || words.iter().any(|word| name.contains(word))
}
