//! `one_hot` of a vocabulary.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::Expr;

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::Model;
use crate::semantics::new_axis::number;

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

/// Checks for a large number, the size of the vocabulary of a tokenizer, or the width of the logits of a language model.
fn is_many<'a>(model: &Model<'a>, classes: &'a Expr) -> bool {
    match classes {
        Expr::NumberLiteral(number) => {
            number.value.as_int().and_then(ruff_python_ast::Int::as_u64).is_some_and(|count| count >= MANY)
        }
        Expr::Attribute(it) if it.attr.as_str() == "vocab_size" => {
            it.value.as_name_expr().is_none_or(|it| it.id.as_str() != "self") || is_large(model, classes)
        }
        Expr::Name(_) => {
            is_large(model, classes)
                || model.assigned_expressions(classes, 4).into_iter().any(|it| !it.is_name_expr() && is_many(model, it))
        }
        Expr::Attribute(_) => is_large(model, classes),
        Expr::Subscript(it) => {
            let shape = it.value.as_attribute_expr().filter(|it| it.attr.as_str() == "shape");
            number(&it.slice) == Some(-1) && shape.is_some_and(|it| is_wide(model, &it.value, 4))
        }
        Expr::Call(call) => {
            let is_size = model.call(classes).is_some_and(|it| it.is_method("size"))
                && call.arguments.args.first().and_then(number) == Some(-1);
            let tensor = call.func.as_attribute_expr().filter(|_| is_size);
            tensor.is_some_and(|it| is_wide(model, &it.value, 4))
                || (call.func.as_name_expr().is_some_and(|name| name.id.as_str() == "len")
                    && model.source(&call.arguments).to_ascii_lowercase().contains("tokenizer"))
        }
        _ => false,
    }
}

fn is_large<'a>(model: &Model<'a>, classes: &'a Expr) -> bool {
    model.known_number(classes).and_then(|it| u64::try_from(it).ok()).is_some_and(|it| it >= MANY)
}

/// Checks whether a tensor is the `logits` of a language model that the program loads.
fn is_wide<'a>(model: &Model<'a>, tensor: &'a Expr, left: usize) -> bool {
    let Some(left) = left.checked_sub(1) else { return false };
    if tensor.as_attribute_expr().is_some_and(|it| it.attr.as_str() == "logits") {
        let is_language_model = |path: &str| {
            ["ForCausalLM", "ForMaskedLM", "LMHeadModel", "ForSeq2SeqLM"].iter().any(|it| path.contains(it))
        };
        return model.calls().iter().any(|call| call.path.as_deref().is_some_and(is_language_model));
    }
    match tensor {
        Expr::Name(_) => model.assigned_expressions(tensor, 4).into_iter().any(|it| is_wide(model, it, left)),
        Expr::Subscript(it) => is_wide(model, &it.value, left),
        _ => false,
    }
}
