//! `torch.zeros(n).cuda()`.

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::Model;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("created-on-the-host"),
    effect: MemoryEffect::Style,
    summary: "a tensor created on the host and moved to the GPU at once",
    help: "create it on the device: `torch.zeros(..., device=device)`",
    cause: None,
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    let made = [
        "torch.zeros",
        "torch.ones",
        "torch.empty",
        "torch.full",
        "torch.rand",
        "torch.randn",
        "torch.arange",
        "torch.eye",
        "torch.randint",
        "torch.randperm",
        "torch.linspace",
    ];
    for call in model.calls().iter().filter(|call| model.is_certain_move_to_gpu(call)) {
        let source = call.method().and_then(|(receiver, _)| model.call(receiver)).filter(|it| it.is_any(&made));
        if source.is_some_and(|it| it.keyword("device").is_none() && !it.has_unpacked()) {
            matches.add(
                call.syntax,
                "the tensor is created in host memory and then copied: for a moment host and GPU both hold it, \
                and the GPU waits",
            );
        }
    }
}
