//! `nn.DataParallel`: the first GPU does more than its part.

use super::{Found, Rule};
use crate::finding::Effect;
use crate::semantics::Model;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("data-parallel"),
    effect: Effect::Wastes,
    summary: "`torch.nn.DataParallel`",
    help: "use `DistributedDataParallel`, one process for each GPU",
    cause: Some("rank-imbalance"),
    check,
};

fn check(model: &Model<'_>, found: &mut Found) {
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
        found.at(
            call.syntax,
            "GPU 0 also holds the gathered outputs, the loss and the optimizer, and the model is copied to the others with every forward: \
             GPU 0 runs out first",
        );
    }
}
