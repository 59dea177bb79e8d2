//! `nn.DataParallel`: extra memory on the first GPU.

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::Model;
use causes::CauseId;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("data-parallel"),
    effect: MemoryEffect::Wastes,
    summary: "`torch.nn.DataParallel`",
    help: "use `DistributedDataParallel`, one process per GPU",
    cause: Some(CauseId::RankImbalance),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    // Without a backward there is no loss, no gradient and no optimizer on the first GPU.
    if model.work_of(model.calls()).backwards == 0 {
        return;
    }
    for call in
        model.calls().iter().filter(|call| call.is_any(&["torch.nn.DataParallel", "torch.nn.parallel.DataParallel"]))
    {
        let function = model.function(call.region).map(|it| model.tree.functions[it.index()].syntax.name.as_str());
        if function.is_some_and(|name| name.contains("eval")) {
            continue;
        }
        matches.add(
            call.syntax,
            "GPU 0 also holds the gathered outputs, the loss and the optimizer, and every forward copies the \
            model to the other GPUs: GPU 0 runs out first",
        );
    }
}
