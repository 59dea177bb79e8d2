//! A local rank that nobody asks for.

use ruff_python_ast::Expr;

use super::{Found, Rule};
use crate::finding::Effect;
use crate::semantics::Model;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("local-rank-unused"),
    effect: Effect::Wastes,
    summary: "`--local_rank` that is parsed and never used",
    help: "call `torch.cuda.set_device(local_rank)` before the first tensor is put on the GPU",
    cause: Some("wrong-device"),
    check,
};

fn check(model: &Model<'_>, found: &mut Found) {
    for call in model.calls().iter().filter(|call| call.is_method("add_argument")) {
        let Some(name) = call.syntax.arguments.args.first().and_then(|it| it.as_string_literal_expr()) else {
            continue;
        };
        let is_rank = matches!(name.value.to_str(), "--local_rank" | "--local-rank");
        if is_rank && starts_group(model) && !is_used(model) {
            found.at(call.syntax, "the rank's device is never set from it: every process puts its tensors on GPU 0");
        }
    }
}

fn starts_group(model: &Model<'_>) -> bool {
    model.calls().iter().any(|call| call.is("torch.distributed.init_process_group"))
}

/// Whether anything may choose a device by it: the name stands anywhere else, or the environment says it.
fn is_used(model: &Model<'_>) -> bool {
    let mentions = model.expressions(model.body(None)).filter(|(_, expression)| match expression {
        Expr::Name(it) => matches!(it.id.as_str(), "local_rank" | "LOCAL_RANK" | "vars"),
        Expr::Attribute(it) => it.attr.as_str() == "local_rank",
        Expr::StringLiteral(it) => it.value.to_str().to_ascii_lowercase().replace('-', "_").contains("local_rank"),
        _ => false,
    });
    // The one that is parsed.
    mentions.count() > 1
        || model.text.contains("cuda:")
        || model.calls().iter().any(|call| call.is("torch.cuda.set_device"))
}
