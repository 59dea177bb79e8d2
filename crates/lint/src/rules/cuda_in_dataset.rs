//! `.cuda()` in the workers of a loader.

use causes::CauseId;
use report::RuleId;

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::{LoaderWorkers, Model};

pub(super) const RULE: Rule = Rule {
    id: RuleId("cuda-in-dataset"),
    effect: MemoryEffect::Wastes,
    summary: "`__getitem__`, `collate_fn` or a transform moves a tensor to the GPU",
    help: "return host tensors, and move each batch in the training loop",
    cause: Some(CauseId::NonPytorchMemory),
    check,
};

const MESSAGE: &str = "this runs in the workers of the DataLoader: each worker creates a CUDA context of several hundred MiB, or \
                       fails because the process was forked";

fn check(model: &Model<'_>, matches: &mut Matches) {
    let code = model.worker_code();
    for call in model.calls().iter().filter(|call| model.moves_to_gpu(call) || model.creates_on_gpu(call)) {
        if code.has(model, call) {
            matches.add(call.syntax, MESSAGE);
        }
    }
    for class in model.dataset_classes() {
        if model.workers_of(Some(class)) != LoaderWorkers::Some || model.method_of(class, "__getitem__").is_none() {
            continue;
        }
        for call in model.stored_on_gpu(class) {
            matches.add(
                call,
                "the workers of the DataLoader read this tensor: each creates a CUDA context of several hundred MiB, or fails \
                because the process was forked",
            );
        }
    }
}
