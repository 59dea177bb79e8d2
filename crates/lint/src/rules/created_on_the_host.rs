//! `torch.zeros(n).cuda()`.

use super::dataset_on_gpu::is_move;
use super::{Found, Rule};
use crate::finding::Effect;
use crate::semantics::Model;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("created-on-the-host"),
    effect: Effect::Style,
    summary: "a tensor that is made on the host and moved to the GPU at once",
    help: "make it there: `torch.zeros(..., device=device)`",
    cause: None,
    check,
};

fn check(model: &Model<'_>, found: &mut Found) {
    let made = [
        "torch.zeros",
        "torch.ones",
        "torch.empty",
        "torch.full",
        "torch.rand",
        "torch.randn",
        "torch.arange",
        "torch.eye",
    ];
    for call in model.calls().iter().filter(|call| is_move(model, call)) {
        let source = call.method().and_then(|(receiver, _)| model.call(receiver)).filter(|it| it.is_any(&made));
        if source.is_some_and(|it| it.keyword("device").is_none() && !it.has_unpacked()) {
            found.at(
                call.syntax,
                "the tensor is made in host memory and copied: both sides hold it for a while, and the GPU waits",
            );
        }
    }
}
