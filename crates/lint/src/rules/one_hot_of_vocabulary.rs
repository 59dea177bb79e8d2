//! `one_hot` of a vocabulary.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::Expr;

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{Binding, Syntax};
use crate::semantics::new_axis::number;
use crate::semantics::{Call, Model};

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
    for call in model.calls() {
        let Some((classes, ids)) = encoded(model, call) else { continue };
        let is_of_tokens = || ids.is_some_and(|it| is_width(model, classes) && is_shifted(model, it, 6));
        if !is_many(model, classes) && !is_of_tokens() {
            continue;
        }
        let message = format!(
            "`one_hot` allocates 8 bytes (int64) for each of `{}` classes and each element",
            model.source(classes)
        );
        matches.add(call.syntax, message);
    }
}

/// Returns the classes and the indices of an encoding: `one_hot(ids, classes)`, `zeros(n, classes).scatter_(1, ids, 1)`, `eye(classes)[ids]`.
fn encoded<'a>(model: &Model<'a>, call: &Call<'a>) -> Option<(&'a Expr, Option<&'a Expr>)> {
    let arguments = &call.syntax.arguments;
    if call.is("torch.nn.functional.one_hot") {
        return Some((call.argument("num_classes", 1)?, arguments.args.first()));
    }
    if call.is("torch.eye") {
        let parent = model.node(model.node(call.id).parent).syntax;
        let is_indexed =
            matches!(parent, Syntax::Expression(Expr::Subscript(it)) if model.id(&*it.value) == Some(call.id));
        return arguments.args.first().filter(|_| is_indexed).map(|it| (it, None));
    }
    let (zeros, _) = call.method().filter(|(_, name)| matches!(*name, "scatter_" | "scatter"))?;
    let made =
        model.option_values(zeros).into_iter().find_map(|it| model.call(it)).filter(|it| it.is("torch.zeros"))?;
    let sizes = match &*made.syntax.arguments.args {
        [Expr::Tuple(it)] => &*it.elts,
        sizes => sizes,
    };
    let is_one = |it: &&Expr| it.as_number_literal_expr().is_some();
    let is_encoding = arguments.args.get(2).or_else(|| call.keyword("value")).is_some_and(|it| is_one(&it));
    sizes.last().filter(|_| is_encoding && sizes.len() > 1).map(|it| (it, call.argument("index", 1)))
}

/// Checks for the size of the last axis of a tensor.
fn is_width<'a>(model: &Model<'a>, classes: &'a Expr) -> bool {
    model.option_values(classes).into_iter().any(|it| match it {
        Expr::Subscript(it) => {
            number(&it.slice) == Some(-1) && it.value.as_attribute_expr().is_some_and(|it| it.attr.as_str() == "shape")
        }
        Expr::Call(_) => model
            .call(it)
            .is_some_and(|it| it.is_method("size") && it.syntax.arguments.args.first().and_then(number) == Some(-1)),
        _ => false,
    })
}

/// Checks for the next tokens of a sequence, `tokens[:, 1:]`: also as an argument, and behind methods.
fn is_shifted<'a>(model: &Model<'a>, ids: &'a Expr, left: usize) -> bool {
    let Some(left) = left.checked_sub(1) else { return false };
    let is_from_one = |it: &Expr| {
        it.as_slice_expr().is_some_and(|it| it.upper.is_none() && it.lower.as_deref().and_then(number) == Some(1))
    };
    match ids {
        Expr::Subscript(it) => match &*it.slice {
            Expr::Tuple(slice) => slice.elts.iter().skip(1).any(is_from_one),
            _ => false,
        },
        Expr::Call(_) => {
            let object = model.call(ids).and_then(Call::method).map(|(object, _)| object);
            object.is_some_and(|it| is_shifted(model, it, left))
        }
        Expr::Name(name) => match &model.tree.definitions[model.definition(name).index()].binding {
            Binding::Value(value) => is_shifted(model, value, left),
            _ => model
                .assigned_expressions(ids, 4)
                .into_iter()
                .any(|it| !it.is_name_expr() && is_shifted(model, it, left)),
        },
        _ => false,
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
        Expr::Attribute(it) if matches!(it.attr.as_str(), "num_embeddings" | "out_features") => {
            let place = usize::from(it.attr.as_str() == "out_features");
            let made = model.option_values(&it.value).into_iter().filter_map(|it| model.call(it));
            made.into_iter().any(|it| it.argument(classes_name(place), place).is_some_and(|it| is_large(model, it)))
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

/// Returns the parameter of `nn.Embedding` or `nn.Linear` with the size of the vocabulary.
fn classes_name(place: usize) -> &'static str {
    if place == 0 { "num_embeddings" } else { "out_features" }
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
