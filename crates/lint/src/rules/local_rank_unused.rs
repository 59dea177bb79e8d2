//! A local rank that is parsed but never used.

use causes::CauseId;
use ruff_python_ast::Expr;

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::Model;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("local-rank-unused"),
    effect: MemoryEffect::Wastes,
    summary: "`--local_rank` that is parsed and never used",
    help: "call `torch.cuda.set_device(local_rank)` before the first tensor is moved to the GPU",
    cause: Some(CauseId::WrongDevice),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls().iter().filter(|call| call.is_method("add_argument")) {
        let Some(name) = call.syntax.arguments.args.first().and_then(|it| it.as_string_literal_expr()) else {
            continue;
        };
        let is_rank = matches!(name.value.to_str(), "--local_rank" | "--local-rank");
        if is_rank && starts_group(model) && !is_used(model) {
            matches.add(
                call.syntax,
                "the program never selects a GPU by this rank: every process puts its \
                                     tensors on GPU 0",
            );
        }
    }
}

fn starts_group(model: &Model<'_>) -> bool {
    model.calls().iter().any(|call| call.is("torch.distributed.init_process_group"))
}

/// Checks whether the rank may select a device: its name occurs a second time, or the environment is read.
fn is_used(model: &Model<'_>) -> bool {
    let mentions = model.expressions(model.body(None)).filter(|(_, expression)| match expression {
        Expr::Name(it) => matches!(it.id.as_str(), "local_rank" | "LOCAL_RANK" | "vars"),
        Expr::Attribute(it) => it.attr.as_str() == "local_rank",
        Expr::StringLiteral(it) => it.value.to_str().to_ascii_lowercase().replace('-', "_").contains("local_rank"),
        _ => false,
    });
    // The first mention is the option itself.
    mentions.count() > 1
        || model.text.contains("cuda:")
        || model.calls().iter().any(|call| call.is("torch.cuda.set_device"))
}
