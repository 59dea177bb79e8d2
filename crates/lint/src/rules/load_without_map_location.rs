//! `torch.load` to the GPU that the tensors were saved from, or to a GPU where the loaded copy stays.

use crate::edits;
use crate::finding::{Applicability, MemoryEffect};
use crate::rule::{Matches, Rule};
use crate::semantics::data::{Binding, DefinitionId, FunctionId, NodeId, RegionKind, Syntax};
use crate::semantics::{Call, Model};
use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Stmt};

pub(super) const RULE: Rule = Rule {
    id: RuleId("load-without-map-location"),
    effect: MemoryEffect::Wastes,
    summary: "`torch.load` without `map_location` in a distributed program, or of a checkpoint that stays on the GPU",
    help: "pass `map_location=\"cpu\"`",
    cause: Some(CauseId::WrongDevice),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    let loads: Vec<&Call<'_>> = model.calls().iter().filter(|call| is_load(model, call)).collect();
    let own = model.body(None);
    // A file with `map_location` at one call leaves it out elsewhere on purpose.
    let is_known = loads.iter().any(|call| own.0 <= call.id && call.id <= own.1 && has_location(model, call));
    let starts = if is_known { Vec::new() } else { starts(model) };
    for call in loads {
        if call.has_unpacked() || is_small(model, call) || is_in_dataset(model, call) {
            continue;
        }
        if has_location(model, call) {
            if is_kept_on_gpu(model, call) {
                let message = "the loaded copy stays on the GPU beside the model and the optimizer during training";
                matches.add(call.syntax, message);
            }
        } else if !is_alone(model, call)
            && !starts.is_empty()
            && !is_of_rank(model, call)
            && is_distributed(model, &starts, call)
        {
            let message = "every rank loads the tensors to the GPU they were saved from, usually GPU 0";
            let is_added = call.argument("map_location", 1).is_none();
            matches.add(call.syntax, message).fix = is_added
                .then(|| edits::add_keyword(model, call.syntax, "map_location=\"cpu\"", Applicability::Unsafe))
                .flatten();
        }
    }
}

/// Checks for a file of each rank's own, which holds tensors of the same rank's GPU.
fn is_of_rank<'a>(model: &Model<'a>, call: &Call<'a>) -> bool {
    let Some(file) = call.syntax.arguments.args.first() else { return false };
    model.origins(file).into_iter().chain([file]).any(|it| model.source(it).contains("rank"))
}

/// `torch.load(path)`, or a call of `partial(torch.load, weights_only=True)`
fn is_load<'a>(model: &Model<'a>, call: &Call<'a>) -> bool {
    call.is("torch.load") || partial_load(model, call).is_some()
}

/// Returns the call of `partial` behind the called name.
fn partial_load<'m, 'a>(model: &'m Model<'a>, call: &Call<'a>) -> Option<&'m Call<'a>> {
    let function = &*call.syntax.func;
    let mut definition = model.named(function);
    let mut made: Vec<&'a Expr> = model.origins(function);
    for _ in 0..4 {
        match definition.map(|it| &model.tree.definitions[it.index()].binding) {
            Some(Binding::Alias(it)) => definition = Some(*it),
            Some(Binding::Outer(symbol)) => definition = model.tree.symbols[symbol.index()].bindings.first().copied(),
            Some(Binding::Value(value)) => {
                made.push(value);
                break;
            }
            _ => break,
        }
    }
    let partials = made.into_iter().filter_map(|it| model.call(it)).filter(|it| it.is("functools.partial"));
    let is_of_load = |it: &&Call<'a>| {
        it.syntax.arguments.args.first().is_some_and(|it| model.path(it).as_deref() == Some("torch.load"))
    };
    partials.into_iter().find(is_of_load)
}

/// Checks whether a call has a location, and not None.
fn has_location<'a>(model: &Model<'a>, call: &Call<'a>) -> bool {
    let of_partial = partial_load(model, call).and_then(|it| it.keyword("map_location"));
    call.argument("map_location", 1).or(of_partial).is_some_and(|it| !may_be_none(model, it, 5))
}

/// Checks whether a location is None on a machine with GPUs.
fn may_be_none<'a>(model: &Model<'a>, location: &'a Expr, left: usize) -> bool {
    let Some(left) = left.checked_sub(1) else { return false };
    match location {
        Expr::NoneLiteral(_) => true,
        Expr::If(it) => may_be_none(model, &it.body, left) || may_be_none(model, &it.orelse, left),
        Expr::Name(name) => may_be_unset(model, model.definition(name), left),
        _ => false,
    }
}

fn may_be_unset(model: &Model<'_>, definition: DefinitionId, left: usize) -> bool {
    let Some(left) = left.checked_sub(1) else { return false };
    match &model.tree.definitions[definition.index()].binding {
        Binding::Value(value) => may_be_none(model, value, left),
        Binding::Join(inputs, None) => inputs.iter().take(4).any(|&it| may_be_unset(model, it, left)),
        Binding::Parameter(function, index, parameter) => {
            let name = parameter.name.as_str();
            let given = model.given_to(*function, *index, name);
            let default = model.default_of(*function, name).is_some_and(Expr::is_none_literal_expr);
            given.into_iter().take(4).any(|it| it.map_or(default, |it| may_be_none(model, it, left)))
        }
        _ => false,
    }
}

/// Returns the calls that start or join several processes with one GPU each; none if the processes are known to train on the host.
fn starts<'m, 'a>(model: &'m Model<'a>) -> Vec<&'m Call<'a>> {
    let starts = [
        "torch.distributed.init_process_group",
        "torch.nn.parallel.DistributedDataParallel",
        "torch.multiprocessing.spawn",
        "torch.distributed.fsdp.FullyShardedDataParallel",
        "horovod.torch.init",
        "deepspeed.initialize",
        "deepspeed.init_distributed",
        "accelerate.Accelerator",
    ];
    let is_gloo = |call: &Call<'_>| {
        let backend = call.argument("backend", 0).and_then(|it| it.as_string_literal_expr());
        call.is("torch.distributed.init_process_group") && backend.is_some_and(|it| it.value.to_str() == "gloo")
    };
    if model.calls().iter().any(is_gloo) {
        return Vec::new();
    }
    model.calls().iter().filter(|call| call.is_any(&starts)).collect()
}

/// Checks whether a load belongs to such a program: the linted file starts the processes, or a function that leads to the load does.
fn is_distributed(model: &Model<'_>, starts: &[&Call<'_>], load: &Call<'_>) -> bool {
    let own = model.body(None);
    if starts.iter().any(|call| own.0 <= call.id && call.id <= own.1) {
        return true;
    }
    starts.iter().any(|start| model.is_led_to(load.region, start))
}

/// Checks whether a single process loads: under a condition on the rank, or in a test function.
fn is_alone(model: &Model<'_>, call: &Call<'_>) -> bool {
    let function = model.function(call.region).map(|it| model.tree.functions[it.index()].syntax.name.as_str());
    let asks = |kind| matches!(kind, RegionKind::If(it, _) if asks_rank(model.source(&*it.test)));
    function.is_some_and(|name| name.contains("test") || name.contains("eval")) || model.regions(call.region).any(asks)
}

fn asks_rank(test: &str) -> bool {
    ["rank", "is_main", "main_process"].iter().any(|word| test.contains(word))
}

/// Checks whether a data set reads its items, which were saved from the host.
fn is_in_dataset(model: &Model<'_>, call: &Call<'_>) -> bool {
    let class = model.function(call.region).and_then(|it| model.tree.functions[it.index()].class);
    class.is_some_and(|class| model.derives(class, &|path| path.ends_with("Dataset")))
}

/// Checks by its name whether the file holds no large tensors, or is a buffer in memory.
fn is_small(model: &Model<'_>, call: &Call<'_>) -> bool {
    let Some(file) = call.argument("f", 0) else { return true };
    let name = model.source(file).to_ascii_lowercase();
    let is_buffer = model.origins(file).into_iter().any(|it| model.call(it).is_some_and(|call| call.is("io.BytesIO")));
    let name = name.replace("args.", "");
    let words = ["sched", "rng", "arg", "scaler", "config", "bytesio", "feature", "cache", "dataset", "data_"];
    is_buffer || words.iter().any(|word| name.contains(word))
}

/// Checks whether a checkpoint is loaded to a GPU, and bound to a name that is still bound when training runs.
fn is_kept_on_gpu<'a>(model: &Model<'a>, call: &Call<'a>) -> bool {
    let is_on_gpu = call.argument("map_location", 1).is_some_and(|it| model.names_gpu(it));
    is_on_gpu && is_kept(model, call.id, 4)
}

/// Checks whether the value of a call is kept: by a name of the code that trains, by an attribute, or by the callers of the function that
/// returns the value.
fn is_kept(model: &Model<'_>, call: NodeId, left: usize) -> bool {
    let Some(left) = left.checked_sub(1) else { return false };
    let Some((id, statement)) = model.statement(call) else { return false };
    let function = model.function(model.node(id).region);
    match statement {
        Stmt::Return(it) if is_whole(model, it.value.as_deref(), call) => {
            function.is_some_and(|it| model.callers(it).take(4).any(|call| is_kept(model, call.id, left)))
        }
        Stmt::Assign(it) if is_whole(model, Some(&it.value), call) => match it.targets.as_slice() {
            [target @ Expr::Name(_)] => restores_optimizer(model, target) && stays_bound(model, id, target, function),
            [target @ Expr::Attribute(_)] => {
                Model::root_is_self(target)
                    && restores_optimizer(model, target)
                    && !is_cleared(model, target, (NodeId(0), last(model)), id)
            }
            _ => false,
        },
        _ => false,
    }
}

fn last(model: &Model<'_>) -> NodeId {
    NodeId(NodeId::next(&model.tree.nodes).0.saturating_sub(1))
}

/// Checks whether a call is the value itself, or one branch of a conditional value.
fn is_whole(model: &Model<'_>, value: Option<&Expr>, call: NodeId) -> bool {
    let is_call = |it: &Expr| model.id(it) == Some(call);
    value.is_some_and(|value| {
        is_call(value) || value.as_if_expr().is_some_and(|it| is_call(&it.body) || is_call(&it.orelse))
    })
}

/// Checks whether parts of the value are loaded: `model.load_state_dict(checkpoint["model"])`.
fn restores_optimizer<'a>(model: &Model<'a>, target: &'a Expr) -> bool {
    let name = model.source(target);
    model.calls().iter().filter(|call| call.is_method("load_state_dict")).any(|call| {
        call.syntax.arguments.args.first().is_some_and(|it| {
            let text = model.source(it);
            text.strip_prefix(name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('[') || rest.starts_with('.'))
        })
    })
}

/// Checks whether the same function trains after a statement, in a loop or by a call, and the name is not given up before.
fn stays_bound<'a>(model: &Model<'a>, id: NodeId, target: &'a Expr, function: Option<FunctionId>) -> bool {
    let behind = NodeId(model.node(id).last.0.saturating_add(1));
    let end = model.body(function).1;
    let trains =
        |call: &&Call<'a>| model.function(call.region) == function && model.work_of(&[(*call).clone()]).backwards > 0;
    let training = model.calls_between((behind, end)).iter().find(trains);
    training.is_some_and(|call| !is_cleared(model, target, (behind, call.id), id))
}

/// Checks whether a name or an attribute is deleted or bound again between two nodes.
fn is_cleared<'a>(model: &Model<'a>, target: &'a Expr, range: (NodeId, NodeId), assigned: NodeId) -> bool {
    let name = model.source(target);
    let own = (assigned, model.node(assigned).last);
    model.expressions(range).any(|(id, it)| {
        let is_written = match it {
            Expr::Name(it) => !it.ctx.is_load(),
            Expr::Attribute(it) => !it.ctx.is_load(),
            _ => false,
        };
        is_written && !(own.0 <= id && id <= own.1) && !is_none_before(model, id, assigned) && model.source(it) == name
    })
}

/// Checks for `self.state = None` in front of the assignment.
fn is_none_before(model: &Model<'_>, id: NodeId, assigned: NodeId) -> bool {
    let parent = model.node(id).parent;
    id < assigned
        && matches!(model.node(parent).syntax, Syntax::Statement(Stmt::Assign(it)) if it.value.is_none_literal_expr())
}
