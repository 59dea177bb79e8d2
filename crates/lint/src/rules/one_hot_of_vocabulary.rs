//! `one_hot` of a vocabulary.

use report::RuleId;
use ruff_python_ast::Expr;

use super::{Found, Rule};
use crate::finding::Effect;
use crate::semantics::Model;

/// Classes from which on eight bytes for each are worth a word.
const MANY: u64 = 10_000;

pub(super) const RULE: Rule = Rule {
    id: RuleId("one-hot-of-vocabulary"),
    effect: Effect::Wastes,
    summary: "`one_hot` of a large number of classes",
    help: "index instead: losses and embeddings take class indices",
    cause: Some("one-huge-request"),
    check,
};

fn check(model: &Model<'_>, found: &mut Found) {
    for call in model.calls().iter().filter(|call| call.is("torch.nn.functional.one_hot")) {
        let Some(classes) = call.argument("num_classes", 1).filter(|classes| is_many(model, classes)) else { continue };
        let message = format!(
            "`one_hot` makes eight bytes of int64 for each of `{}` classes and each element",
            model.source(classes)
        );
        found.at(call.syntax, message);
    }
}

/// A large number, or the size of a tokenizer's vocabulary.
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
