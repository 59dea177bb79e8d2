//! A dataset on the GPU.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, ExprCall, ExprSlice, Stmt};

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{Binding, FunctionId, LoopId, NodeId, RegionKind};
use crate::semantics::{Call, LoaderWorkers, Model, PlaceOrigin};

pub(super) const RULE: Rule = Rule {
    id: RuleId("dataset-on-gpu"),
    effect: MemoryEffect::Wastes,
    summary: "a whole dataset moved to the GPU",
    help: "move each batch: `x = x.to(device, non_blocking=True)`",
    cause: Some(CauseId::GrowingCollection),
    check,
};

const MESSAGE: &str = "the whole dataset stays on the GPU for the whole run, which leaves less memory for \
                      activations";

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls() {
        if call.is("torch.utils.data.TensorDataset") {
            let is_on_gpu = |it: &&Expr| model.value(it).is_on_gpu() || model.placed(it).is_some();
            if let Some(tensor) = call.syntax.arguments.args.iter().find(is_on_gpu) {
                report_tensor(model, matches, tensor);
            }
        } else if let Some(placed) = loaded_collection(model, call) {
            if !matches.covers(placed) {
                matches.add(placed, MESSAGE);
            }
        } else if is_whole_moved(model, call) || is_batch_collected(model, call) {
            matches.add(call.syntax, MESSAGE);
        }
    }
    for (_, expression) in model.expressions(model.body(None)) {
        if let Some((iterated, element)) = comprehension(expression)
            && iterated.iter().any(|it| model.gives_batches(it))
            && keeps_on_gpu(model, element)
        {
            matches.add(expression, MESSAGE);
        }
    }
    for class in model.dataset_classes() {
        // `cuda-in-dataset` reports the tensors that workers read.
        if model.workers_of(Some(class)) != LoaderWorkers::Some {
            for call in model.stored_on_gpu(class) {
                if !matches.covers(call) {
                    matches.add(call, MESSAGE);
                }
            }
        }
    }
    indexed_in_training(model, matches);
    indexed_in_evaluation(model, matches);
    moved_in_place(model, matches);
}

fn report_tensor<'a>(model: &Model<'a>, matches: &mut Matches, tensor: &'a Expr) {
    matches.add(
        tensor,
        format!("`{}` is a whole dataset on the GPU, which leaves less memory for activations", model.source(tensor)),
    );
}

/// Returns the call that placed the items of a collection, if a call makes a loader over the collection.
fn loaded_collection<'a>(model: &Model<'a>, call: &Call<'a>) -> Option<&'a ExprCall> {
    let data = call.argument("dataset", 0).filter(|_| call.path.as_deref().is_some_and(makes_loader))?;
    let is_known = model.class_of_object(data).is_some();
    let is_tensors = |it: &Expr| model.call(it).is_some_and(|call| call.is("torch.utils.data.TensorDataset"));
    if is_known || is_tensors(data) || model.origins(data).into_iter().any(is_tensors) {
        return None;
    }
    model.placed(data).filter(|it| is_before_training(model, it))
}

fn makes_loader(path: &str) -> bool {
    path.starts_with("torch") && path.ends_with(".DataLoader")
}

fn is_whole_moved<'a>(model: &Model<'a>, call: &Call<'a>) -> bool {
    model.is_move_to_gpu(call) && call.method().is_some_and(|(it, _)| is_data_of_set(model, it))
}

/// Checks for `dataset.data` and `dataset.targets` of a dataset of torchvision.
fn is_data_of_set<'a>(model: &Model<'a>, expression: &'a Expr) -> bool {
    let Some(attribute) = expression.as_attribute_expr() else { return false };
    matches!(attribute.attr.as_str(), "data" | "targets" | "tensors")
        && model.origins(&attribute.value).into_iter().any(|value| {
            let path = model.call(value).and_then(|call| call.path.as_deref());
            path.is_some_and(|path| path.starts_with("torchvision.datasets.") || path.starts_with("torch.utils.data."))
        })
}

/// Returns the iterated values and the element of a comprehension that makes a collection.
fn comprehension(expression: &Expr) -> Option<(Vec<&Expr>, &Expr)> {
    let (generators, element) = match expression {
        Expr::ListComp(it) => (&it.generators, &*it.elt),
        Expr::DictComp(it) => (&it.generators, &*it.value),
        _ => return None,
    };
    Some((generators.iter().map(|it| &it.iter).collect(), element))
}

/// Checks whether an element is a moved batch, alone or in a collection.
fn keeps_on_gpu<'a>(model: &Model<'a>, element: &'a Expr) -> bool {
    match element {
        Expr::Tuple(it) => it.elts.iter().any(|element| keeps_on_gpu(model, element)),
        Expr::List(it) => it.elts.iter().any(|element| keeps_on_gpu(model, element)),
        Expr::Dict(it) => it.items.iter().any(|item| keeps_on_gpu(model, &item.value)),
        Expr::ListComp(it) => keeps_on_gpu(model, &it.elt),
        Expr::DictComp(it) => keeps_on_gpu(model, &it.value),
        Expr::Generator(it) => keeps_on_gpu(model, &it.elt),
        _ => model.call(element).is_some_and(|call| {
            if let (Some("tuple" | "list" | "dict"), [argument]) = (call.path.as_deref(), &*call.syntax.arguments.args)
            {
                keeps_on_gpu(model, argument)
            } else {
                let is_part = |it: &Expr| it.is_name_expr() || it.is_subscript_expr() || it.is_attribute_expr();
                (model.may_move_to_gpu(call) && call.method().is_some_and(|(it, _)| is_part(it)))
                    || model.is_sent_to_gpu(call)
                    || model.callee(call).is_some_and(|it| returns_on_gpu(model, it))
            }
        }),
    }
}

/// Checks whether a function returns a moved value, and runs no model.
fn returns_on_gpu(model: &Model<'_>, function: FunctionId) -> bool {
    let it = &model.tree.functions[function.index()];
    it.returned.iter().take(4).any(|value| model.placed(value).is_some()) && !model.works_of_model(it.body)
}

/// Checks for `batches.append(batch.to(device))` in a loop over a loader in which no model runs.
fn is_batch_collected<'a>(model: &Model<'a>, call: &Call<'a>) -> bool {
    let Some((list, "append")) = call.method().filter(|_| call.path.is_none()) else { return false };
    let Some(around) = model.loops(call.region).next().filter(|it| model.is_over_batches(*it)) else { return false };
    let runs_model = || model.works_of_model(model.tree.loops[around.index()].body);
    let is_kept = || call.syntax.arguments.args.first().is_some_and(|it| keeps_on_gpu(model, it));
    model.outlives_step(list, around) && is_kept() && !runs_model() && !model.runs_in_training(call.region)
}

/// Finds tensors that are placed before training, and of which each step of training takes some rows.
fn indexed_in_training<'a>(model: &Model<'a>, matches: &mut Matches) {
    let mut reported: Vec<&'a ExprCall> = Vec::new();
    let mut report = |call: &'a ExprCall| {
        let is_new = !reported.iter().any(|it| std::ptr::eq(*it, call));
        if is_new && is_before_training(model, call) {
            reported.push(call);
            matches.add(call, MESSAGE);
        }
    };
    for expression in model.all_expressions() {
        let Some((tensor, index)) = taken_rows(model, expression) else { continue };
        let Some(index) = batch_index(model, index) else { continue };
        let Some(id) = model.id(expression) else { continue };
        if !model.runs_in_training(model.node(id).region) {
            continue;
        }
        if let Some(call) = model.placed(tensor) {
            match model.origin(tensor) {
                PlaceOrigin::Data => report(call),
                PlaceOrigin::Parameter if index == Index::Rows => report(call),
                _ => {}
            }
        }
    }
    for (number, it) in (0..).map(LoopId).zip(&model.tree.loops) {
        let Some(iterated) = it.iterated.filter(|_| model.is_training_loop(number)) else { continue };
        let is_list = |it: &&Expr| model.origins(it).iter().any(|it| it.is_list_comp_expr());
        let collections = iterated_collections(model, iterated);
        let whole = collections.iter().copied().find(is_list);
        if let Some(call) = whole.and_then(|it| model.placed(it)) {
            report(call);
        }
        for tensor in collections.iter().filter_map(|it| split(model, it)) {
            if let Some(call) = model.placed(tensor).filter(|_| model.origin(tensor) == PlaceOrigin::Data) {
                report(call);
            }
        }
    }
}

/// Finds two tensors, such as images and labels, of which each round of a loop takes the same rows and runs a model on them.
fn indexed_in_evaluation<'a>(model: &Model<'a>, matches: &mut Matches) {
    let mut taken: Vec<(LoopId, &'a str, &'a ExprCall)> = Vec::new();
    for expression in model.all_expressions() {
        let Expr::Subscript(it) = expression else { continue };
        let is_slice = it.ctx.is_load() && batch_index(model, &it.slice) == Some(Index::Rows);
        let around = model.id(expression).filter(|_| is_slice).and_then(|id| model.loops(model.node(id).region).next());
        let Some(around) = around.filter(|it| model.works_of_model(model.tree.loops[it.index()].body)) else {
            continue;
        };
        if let Some(call) = model.placed(&it.value).filter(|it| is_before_training(model, it)) {
            taken.push((around, model.source(&*it.slice), call));
        }
    }
    for (around, rows, call) in &taken {
        let is_other = |it: &&(LoopId, &str, &ExprCall)| it.0 == *around && it.1 == *rows && !std::ptr::eq(it.2, *call);
        let is_outside = model.id(*call).is_some_and(|id| !model.is_in(id, *around));
        if is_outside && taken.iter().any(|it| is_other(&it)) && !matches.covers(*call) {
            matches.add(*call, MESSAGE);
        }
    }
}

/// Checks whether a call is not part of a step or an epoch.
fn is_before_training(model: &Model<'_>, call: &ExprCall) -> bool {
    let region = model.id(call).map(|id| model.node(id).region);
    region.is_some_and(|region| {
        !model.runs_in_training(region) && !model.loops(region).any(|around| model.is_over_batches(around))
    })
}

/// Returns the tensor of `x.split(128)`, `torch.chunk(x, 10)`.
fn split<'a>(model: &Model<'a>, parts: &'a Expr) -> Option<&'a Expr> {
    let call = model.call(parts)?;
    match (call.path.as_deref(), call.method()) {
        (Some("torch.split" | "torch.chunk" | "torch.tensor_split"), _) => call.argument("input", 0),
        (None, Some((tensor, "split" | "chunk" | "tensor_split"))) => Some(tensor),
        _ => None,
    }
}

/// Returns tensor and index of `x[index]`, `x.index_select(0, index)`, `torch.index_select(x, 0, index)`.
fn taken_rows<'a>(model: &Model<'a>, expression: &'a Expr) -> Option<(&'a Expr, &'a Expr)> {
    if let Expr::Subscript(it) = expression {
        return it.ctx.is_load().then_some((&*it.value, &*it.slice));
    }
    let call = model.call(expression)?;
    if call.is("torch.index_select") {
        return Some((call.argument("input", 0)?, call.argument("index", 2)?));
    }
    let (tensor, _) = call.method().filter(|_| call.is_method("index_select"))?;
    Some((tensor, call.argument("index", 1)?))
}

/// Returns the collections that a loop iterates over: `batches` of `enumerate(tqdm(batches))`.
fn iterated_collections<'a>(model: &Model<'a>, iterated: &'a Expr) -> Vec<&'a Expr> {
    match model.call(iterated) {
        Some(call) if call.is_any(&["enumerate", "zip", "tqdm.tqdm", "tqdm.auto.tqdm", "random.sample"]) => {
            call.syntax.arguments.args.iter().flat_map(|it| iterated_collections(model, it)).collect()
        }
        _ => vec![iterated],
    }
}

/// The rows that an index takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Index {
    /// A slice, or a part of a permutation.
    Rows,
    /// Numbers at random, which may also be time steps of a schedule.
    Random,
}

/// Returns the rows if an index takes a batch: `i:i + n`, `order[i:i + n]`, numbers at random.
fn batch_index<'a>(model: &Model<'a>, index: &'a Expr) -> Option<Index> {
    if let Expr::Slice(ExprSlice { lower: Some(lower), upper: Some(_), step: None, .. }) = index {
        return (!lower.is_literal_expr() && !lower.is_unary_op_expr()).then_some(Index::Rows);
    }
    let text = index_text(model, index, 4);
    if ["randperm", "permutation", "shuffle", "Sampler", "random.sample"]
        .iter()
        .any(|word| text.iter().any(|it| it.contains(word)))
    {
        return Some(Index::Rows);
    }
    if text.iter().any(|it| it.trim_start().starts_with("slice(")) {
        return Some(Index::Rows);
    }
    let words = ["randint", "random.choice", "integers("];
    words.iter().any(|word| text.iter().any(|it| it.contains(word))).then_some(Index::Random)
}

/// Returns the texts of the code that makes an index.
fn index_text<'a>(model: &Model<'a>, index: &'a Expr, left: usize) -> Vec<&'a str> {
    let Some(left) = left.checked_sub(1) else { return Vec::new() };
    let mut texts = vec![model.source(index)];
    let Some(id) = model.id(index) else { return texts };
    for (_, part) in model.expressions((id, model.node(id).last)).take(12) {
        let Expr::Name(name) = part else { continue };
        match &model.tree.definitions[model.definition(name).index()].binding {
            Binding::Value(value) | Binding::Element(value, _) | Binding::Item(value, _) => {
                texts.extend(index_text(model, value, left));
            }
            Binding::Join(inputs, _) => {
                for input in inputs.iter().take(4) {
                    if let Binding::Value(value) = &model.tree.definitions[input.index()].binding {
                        texts.extend(index_text(model, value, left));
                    }
                }
            }
            _ => {}
        }
    }
    texts
}

/// `data[key] = data[key].cuda()` for each key of loaded data, before training.
fn moved_in_place(model: &Model<'_>, matches: &mut Matches) {
    for (id, statement) in model.statements() {
        let Stmt::Assign(it) = statement else { continue };
        let ([Expr::Subscript(target)], Some(call)) = (it.targets.as_slice(), model.call(&it.value)) else { continue };
        let is_same = |receiver: &Expr| model.source(receiver) == model.source(target);
        let region = model.node(id).region;
        if model.moves_to_gpu(call)
            && call.method().is_some_and(|(receiver, _)| is_same(receiver))
            && model.regions(region).any(|kind| matches!(kind, RegionKind::Loop(_)))
            && model.origin(&target.value) == PlaceOrigin::Data
            && !takes_batches(model, region, &target.value)
        {
            matches.add(call.syntax, MESSAGE);
        }
    }
}

/// Checks whether the moved object is a batch: of a loader, or in code that runs while training.
fn takes_batches<'a>(model: &Model<'a>, region: crate::semantics::data::RegionId, object: &'a Expr) -> bool {
    let name = model.source(object).to_ascii_lowercase();
    ["batch", "input", "sample", "item"].iter().any(|word| name.contains(word))
        || model.comes_from_loader(object)
        || model.runs_in_training(region)
        || model.loops(region).any(|around| model.is_over_batches(around))
        || model.works_of_model(loop_body(model, region))
}

fn loop_body(model: &Model<'_>, region: crate::semantics::data::RegionId) -> (NodeId, NodeId) {
    let outer = model.loops(region).last();
    outer.map_or((NodeId(0), NodeId(0)), |it| model.tree.loops[it.index()].body)
}
