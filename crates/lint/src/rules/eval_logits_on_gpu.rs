//! The logits of a whole evaluation on the GPU.

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{Binding, LoopId, NodeId, RegionKind, Syntax};
use crate::semantics::{Call, Mode, Model};
use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Stmt};

/// The functions that join tensors.
const JOINS: [&str; 5] = ["torch.cat", "torch.concat", "torch.concatenate", "torch.vstack", "torch.hstack"];

pub(super) const RULE: Rule = Rule {
    id: RuleId("eval-logits-on-gpu"),
    effect: MemoryEffect::Wastes,
    summary: "the outputs of a whole evaluation gathered on the GPU, by a Hugging Face Trainer or by `torch.cat`",
    help: "move the outputs of each batch to the host by `.cpu()`; with a Trainer, pass `preprocess_logits_for_metrics` to reduce the logits, or `eval_accumulation_steps`",
    cause: Some(CauseId::GrowingCollection),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    check_trainer(model, matches);
    check_joins(model, matches);
}

fn check_trainer(model: &Model<'_>, matches: &mut Matches) {
    let has_vocabulary = model.calls().iter().any(|call| call.path.as_deref().is_some_and(makes_language_model));
    let is_arguments = |call: &&Call<'_>| call.is_any(&["transformers.TrainingArguments"]);
    let Some(arguments) = model.calls().iter().find(is_arguments).filter(|_| has_vocabulary) else { return };
    let is_moved =
        ["eval_accumulation_steps", "prediction_loss_only"].iter().any(|name| arguments.keyword(name).is_some());
    for trainer in model.calls().iter().filter(|call| call.is("transformers.Trainer")) {
        let is_reduced = trainer.keyword("preprocess_logits_for_metrics").is_some() || trainer.has_unpacked();
        if trainer.keyword("compute_metrics").is_some() && !is_reduced && !is_moved && !arguments.has_unpacked() {
            matches.add(
                trainer.syntax,
                "the GPU collects logits as wide as the vocabulary for the whole evaluation before \
                `compute_metrics` runs",
            );
        }
    }
}

/// Checks for a model whose logits are as wide as its vocabulary.
fn makes_language_model(path: &str) -> bool {
    path.starts_with("transformers.")
        && ["ForCausalLM", "ForMaskedLM", "LMHeadModel"].iter().any(|it| path.contains(it))
}

/// `kept = join(kept, model(x))` for every batch, where `join` is `torch.cat`, or a function of the file that returns `torch.cat`.
fn check_joins(model: &Model<'_>, matches: &mut Matches) {
    if !model.calls().iter().any(|call| model.is_move_to_gpu(call)) {
        return;
    }
    for call in model.calls() {
        let Some(around) = model.loops(call.region).next().filter(|&around| is_only_evaluated(model, call, around))
        else {
            continue;
        };
        let Some((id, Stmt::Assign(it))) = model.statement(call.id) else { continue };
        let ([target], Some([kept, added])) = (it.targets.as_slice(), joined(model, call)) else { continue };
        let name = model.source(target);
        if model.source(kept) == name
            && is_output(model, added, 8)
            && !mentions(model, added, name)
            && is_whole(&it.value, call)
            && is_only_kept(model, name, id, around)
        {
            matches.add(
                call.syntax,
                format!("`{name}` keeps the outputs of all batches on the GPU, twice while each batch is joined"),
            );
        }
    }
}

/// Checks for the innermost loop over batches, with no other loop over batches around.
fn is_only_evaluated(model: &Model<'_>, call: &Call<'_>, around: LoopId) -> bool {
    let is_over_batches = |id: LoopId| {
        let name = model.tree.loops[id.index()].iterated.map_or("", |it| model.source(it)).to_ascii_lowercase();
        model.is_over_batches(id) || ["loader", "batches", "dataset"].iter().any(|word| name.contains(word))
    };
    is_over_batches(around) && model.loops(call.region).filter(|&id| is_over_batches(id)).count() == 1
}

/// Returns the two values that a call joins: the kept and the added value.
fn joined<'a>(model: &Model<'a>, call: &Call<'a>) -> Option<[&'a Expr; 2]> {
    if call.is_any(&JOINS) {
        return parts(call);
    }
    if call.is("transformers.trainer_pt_utils.nested_concat") {
        return Some([call.argument("tensors", 0)?, call.argument("new_tensors", 1)?]);
    }
    let callee = model.callee(call)?;
    let function = &model.tree.functions[callee.index()];
    let is_moved = [".cpu(", "cpu\"", "cpu'", ".numpy("].iter().any(|it| model.source_of(function.body).contains(it));
    let returned = function.returned.iter().find_map(|it| {
        model.origins(it).into_iter().chain([*it]).find_map(|it| model.call(it)).filter(|it| it.is_any(&JOINS))
    });
    let [kept, added] = parts(returned.filter(|_| !is_moved)?)?.map(|part| {
        let name = part.as_name_expr()?;
        match &model.tree.definitions[model.definition(name).index()].binding {
            Binding::Parameter(of, index, parameter) if *of == callee => {
                model.argument_of(call, callee, *index, parameter.name.as_str())
            }
            _ => None,
        }
    });
    Some([kept?, added?])
}

fn parts<'a>(join: &Call<'a>) -> Option<[&'a Expr; 2]> {
    let elements = match join.argument("tensors", 0)? {
        Expr::List(it) => &it.elts,
        Expr::Tuple(it) => &it.elts,
        _ => return None,
    };
    let [kept, added] = elements.as_slice() else { return None };
    Some([kept, added])
}

/// Checks whether an object occurs in an expression.
fn mentions<'a>(model: &Model<'a>, expression: &'a Expr, object: &str) -> bool {
    let Some(id) = model.id(expression) else { return false };
    model.expressions((id, model.node(id).last)).any(|(_, it)| model.source(it) == object)
}

/// Checks whether a call is assigned unchanged, or in one branch of a condition.
fn is_whole(value: &Expr, call: &Call<'_>) -> bool {
    let is_call = |it: &Expr| it.as_call_expr().is_some_and(|it| std::ptr::eq(it, call.syntax));
    is_call(value) || value.as_if_expr().is_some_and(|it| is_call(&it.body) || is_call(&it.orelse))
}

/// Checks for outputs of a module without gradients, not reduced and not moved.
fn is_output<'a>(model: &Model<'a>, expression: &'a Expr, left: usize) -> bool {
    let Some(left) = left.checked_sub(1) else { return false };
    match expression {
        Expr::Name(name) => match &model.tree.definitions[model.definition(name).index()].binding {
            Binding::Value(value) | Binding::Item(value, _) => is_output(model, value, left),
            _ => false,
        },
        Expr::Attribute(it) => {
            let name = it.attr.as_str();
            matches!(name, "logits" | "hidden_states" | "last_hidden_state") && is_output(model, &it.value, left)
        }
        Expr::Subscript(it) => is_output(model, &it.value, left),
        Expr::Tuple(it) => it.elts.iter().any(|it| is_output(model, it, left)),
        Expr::Call(_) => model.call(expression).is_some_and(|call| match call.method() {
            Some((of, "detach" | "float" | "contiguous" | "softmax" | "sigmoid")) if call.path.is_none() => {
                is_output(model, of, left)
            }
            _ => model.is_forward(call) && model.mode(call.region) == Mode::Off,
        }),
        _ => false,
    }
}

/// Checks whether a loop uses an object only in a join and in conditions; other assignments stand below a condition on the object.
fn is_only_kept(model: &Model<'_>, object: &str, join: NodeId, around: LoopId) -> bool {
    let last = model.node(join).last;
    let mut uses = model.expressions(model.tree.loops[around.index()].body).filter(|&(id, it)| {
        (it.is_name_expr() || it.is_attribute_expr()) && model.source(it) == object && !(join <= id && id <= last)
    });
    uses.all(|(id, it)| {
        let parent = model.node(id).parent;
        let is_store =
            matches!(it, Expr::Name(it) if it.ctx.is_store()) || matches!(it, Expr::Attribute(it) if it.ctx.is_store());
        let is_asked = |kind| matches!(kind, RegionKind::If(it, _) if model.source(&*it.test).contains(object));
        let is_test = matches!(model.node(parent).syntax, Syntax::Expression(Expr::Compare(_)));
        if is_store { model.regions_within(model.node(id).region, around).any(is_asked) } else { is_test }
    })
}
