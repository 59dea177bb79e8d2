//! `one_hot` of a vocabulary.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::Expr;

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::Model;

/// The smallest number of classes that is reported: 80 kB per element.
const MANY: u64 = 10_000;

pub(super) const RULE: Rule = Rule {
    id: RuleId("one-hot-of-vocabulary"),
    effect: MemoryEffect::Wastes,
    summary: "`one_hot` with a large number of classes",
    help: "pass class indices: losses and embeddings accept them",
    cause: Some(CauseId::OneHugeRequest),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls().iter().filter(|call| call.is("torch.nn.functional.one_hot")) {
        let Some(classes) = call.argument("num_classes", 1).filter(|classes| is_many(model, classes)) else { continue };
        let message = format!(
            "`one_hot` allocates 8 bytes (int64) for each of `{}` classes and each element",
            model.source(classes)
        );
        matches.add(call.syntax, message);
    }
}

/// Checks for a large number, or the size of the vocabulary of a tokenizer.
fn is_many(model: &Model<'_>, classes: &Expr) -> bool {
    match classes {
        Expr::NumberLiteral(number) => {
            number.value.as_int().and_then(ruff_python_ast::Int::as_u64).is_some_and(|count| count >= MANY)
        }
        Expr::Attribute(it) => {
            it.attr.as_str() == "vocab_size" && it.value.as_name_expr().is_none_or(|it| it.id.as_str() != "self")
        }
        Expr::Call(call) => {
            call.func.as_name_expr().is_some_and(|name| name.id.as_str() == "len")
                && model.source(&call.arguments).to_ascii_lowercase().contains("tokenizer")
        }
        _ => false,
    }
}
