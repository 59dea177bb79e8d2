//! All ranks on the first GPU.

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::{Call, Model};
use causes::CauseId;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("every-rank-on-gpu-0"),
    effect: MemoryEffect::Wastes,
    summary: "an NCCL process group in which no rank selects its GPU",
    help: "call `torch.cuda.set_device(local_rank)` at the start of the process",
    cause: Some(CauseId::WrongDevice),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    let is_group = |call: &&Call<'_>| call.is("torch.distributed.init_process_group");
    let Some(group) = model.calls().iter().find(is_group) else { return };
    let is_nccl = group
        .argument("backend", 0)
        .and_then(|it| it.as_string_literal_expr())
        .is_some_and(|it| it.value.to_str() == "nccl");
    if !is_nccl || group.keyword("device_id").is_some() || chooses(model) {
        return;
    }
    // A library module starts the group in a function, and does not show the code that runs before.
    let starts = model.function(group.region);
    let is_program = |call: &&Call<'_>| {
        starts.is_none_or(|it| model.callers(it).next().is_some()) || model.function(call.region) == starts
    };
    if let Some(call) = model.calls().iter().filter(|call| is_default_device(call)).find(is_program) {
        matches.add(
            call.syntax,
            "`cuda` means GPU 0 in every process until `set_device` is called: all ranks share the memory of one \
            GPU",
        );
    }
}

/// `.cuda()`, `.to("cuda")`
fn is_default_device(call: &Call<'_>) -> bool {
    let is_plain = call
        .argument("device", 0)
        .and_then(|it| it.as_string_literal_expr())
        .is_some_and(|it| it.value.to_str() == "cuda");
    (call.is_method("cuda") && call.syntax.arguments.is_empty()) || (call.is_method("to") && is_plain)
}

/// Checks whether the file may select a device for the process; libraries that start processes do.
fn chooses(model: &Model<'_>) -> bool {
    let functions =
        ["torch.cuda.set_device", "torch.cuda.device", "torch.device", "torch.accelerator.set_device_index"];
    model.calls().iter().any(|call| call.is_any(&functions))
        || ["CUDA_VISIBLE_DEVICES", "cuda:", "transformers", "accelerate", "deepspeed", "lightning"]
            .iter()
            .any(|word| model.text.contains(word))
}
