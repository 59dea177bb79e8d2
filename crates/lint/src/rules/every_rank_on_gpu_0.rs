//! All ranks on the first GPU.

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{Binding, FunctionId, RegionKind};
use crate::semantics::{Call, Model, is_option};
use causes::CauseId;
use report::RuleId;
use ruff_python_ast::Expr;

pub(super) const RULE: Rule = Rule {
    id: RuleId("every-rank-on-gpu-0"),
    effect: MemoryEffect::Wastes,
    summary: "a program of several ranks in which no rank selects its GPU",
    help: "call `torch.cuda.set_device(local_rank)` at the start of the process",
    cause: Some(CauseId::WrongDevice),
    check,
};

const MESSAGE: &str =
    "`cuda` means GPU 0 in every process until `set_device` is called: all ranks share the memory of one GPU";

/// The functions that select the GPU of a process.
const SETTERS: [&str; 2] = ["torch.cuda.set_device", "torch.accelerator.set_device_index"];
/// The largest number of functions between the choice of a GPU and the start of the program.
const MOST_CALLERS: usize = 4;

fn check(model: &Model<'_>, matches: &mut Matches) {
    chosen_late(model, matches);
    beside_ranked_device(model, matches);
    let Some(start) = start(model) else { return };
    if selects(model) || names_any_rank(model) {
        return;
    }
    // A library module starts the group in a function, and does not show the code that runs before.
    let function = model.function(start.region);
    let is_program = function.is_none_or(|it| is_used(model, it));
    let own = model.body(None);
    let is_own = own.0 <= start.id && start.id <= own.1;
    let is_reached = |call: &&Call<'_>| {
        let is_near = (is_own && is_program) || model.function(call.region) == function;
        is_near || model.is_led_to(call.region, start)
    };
    if let Some(call) = model.calls().iter().filter(|call| uses_first_gpu(model, call)).find(is_reached) {
        matches.add(call.syntax, MESSAGE);
    }
}

/// Finds the first tensors that go to the default GPU before the only call that selects the GPU of the process.
fn chosen_late(model: &Model<'_>, matches: &mut Matches) {
    let mut setters = model.calls().iter().filter(|call| call.is_any(&SETTERS));
    let (Some(setter), None) = (setters.next(), setters.next()) else { return };
    let is_fixed = setter.syntax.arguments.args.first().is_none_or(Expr::is_number_literal_expr);
    if is_fixed || !joins_group(model) || model.text.contains("CUDA_VISIBLE_DEVICES") {
        return;
    }
    let mut point = setter;
    for _ in 0..MOST_CALLERS {
        let function = model.function(point.region);
        let before = model.calls_between((model.body(function).0, point.id)).iter();
        let mut before = before.filter(|call| call.id < point.id && model.function(call.region) == function);
        if let Some(call) = before.find(|call| !is_conditional(model, call) && leads_to_plain_gpu(model, call)) {
            matches.add(call.syntax, MESSAGE);
            return;
        }
        let mut callers = function.into_iter().flat_map(|it| model.callers(it));
        let (Some(caller), None) = (callers.next(), callers.next()) else { return };
        point = caller;
    }
}

/// Finds tensors on the default GPU in a program that names the GPU of the rank elsewhere, but never selects that GPU.
fn beside_ranked_device(model: &Model<'_>, matches: &mut Matches) {
    let Some(group) = model.calls().iter().find(|call| call.is("torch.distributed.init_process_group")) else { return };
    let own = model.body(None);
    let is_own = own.0 <= group.id && group.id <= own.1;
    if !is_own || !is_nccl(model, group) || selects(model) || !names_any_rank(model) {
        return;
    }
    let is_reached = |call: &Call<'_>| {
        let function = model.function(call.region);
        function.is_none() || function == model.function(group.region)
    };
    let mut calls = model.calls_between(own).iter();
    // A program that moves its batches to GPU 0 would fail, unless unseen code selects the GPU.
    let is_new = |call: &Call<'_>| {
        let made = call.method().map_or(call.path.is_some(), |(receiver, _)| {
            call.path.is_some() || model.call(receiver).is_some_and(|it| it.path.is_some())
        });
        made && is_plain_gpu(model, call)
    };
    if let Some(call) = calls.find(|call| is_new(call) && !is_conditional(model, call) && is_reached(call)) {
        matches.add(call.syntax, MESSAGE);
    }
}

/// Checks whether the program starts a process group over NCCL, or Horovod.
fn joins_group(model: &Model<'_>) -> bool {
    model.calls().iter().any(|call| {
        call.is("horovod.torch.init") || (call.is("torch.distributed.init_process_group") && is_nccl(model, call))
    })
}

/// Checks whether a condition, or a handler, decides whether a call runs.
fn is_conditional(model: &Model<'_>, call: &Call<'_>) -> bool {
    model.regions(call.region).any(|kind| match kind {
        RegionKind::If(condition, is_first) => !(is_first && model.asks_for_gpu(&condition.test)),
        RegionKind::Maybe | RegionKind::Handler(_) | RegionKind::Lambda => true,
        _ => false,
    })
}

/// Checks whether a call, or a function that it runs, places a tensor on the default GPU.
fn leads_to_plain_gpu<'a>(model: &Model<'a>, call: &Call<'a>) -> bool {
    let callee = model.callee(call).or_else(|| model.constructor(call));
    is_plain_gpu(model, call)
        || callee.is_some_and(|it| {
            let reached = model.reached_calls(model.body(Some(it)));
            reached.into_iter().any(|inner| is_plain_gpu(model, inner) && !is_conditional(model, inner))
        })
}

/// `.cuda()`, `.to("cuda")`, `torch.zeros(1, device="cuda")`: literals only.
fn is_plain_gpu<'a>(model: &Model<'a>, call: &Call<'a>) -> bool {
    let is_text = |it: &Expr| it.as_string_literal_expr().is_some_and(|it| it.value.to_str() == "cuda");
    let is_plain = |it: &'a Expr| {
        let named = model.call(it).filter(|it| it.is("torch.device")).and_then(|it| it.argument("type", 0));
        is_text(it)
            || named
                .is_some_and(|name| is_text(name) && model.call(it).is_some_and(|it| it.argument("index", 1).is_none()))
    };
    match call.path.as_deref() {
        Some(path) => path.starts_with("torch.") && call.keyword("device").is_some_and(is_plain),
        None if call.is_method("cuda") => call.argument("device", 0).is_none(),
        None => call.is_method("to") && call.argument("device", 0).is_some_and(is_plain),
    }
}

/// Returns the call that starts one of several processes: a process group over NCCL, Horovod, or a function spawned for each GPU.
fn start<'m, 'a>(model: &'m Model<'a>) -> Option<&'m Call<'a>> {
    let mut groups = model.calls().iter().filter(|call| call.is("torch.distributed.init_process_group")).peekable();
    if groups.peek().is_some() {
        return groups.find(|call| is_nccl(model, call) && call.keyword("device_id").is_none());
    }
    let is_for_each_gpu = |call: &&Call<'_>| {
        call.is("torch.multiprocessing.spawn") && model.calls().iter().any(|it| it.is("torch.cuda.device_count"))
    };
    model.calls().iter().find(|call| call.is("horovod.torch.init") || is_for_each_gpu(call))
}

/// Checks whether a group runs over NCCL: by a literal, by the default of an option or a parameter; without a backend, if a model is wrapped.
fn is_nccl<'a>(model: &Model<'a>, group: &Call<'a>) -> bool {
    if let Some(backend) = group.argument("backend", 0) {
        return is_nccl_name(model, backend, 4);
    }
    let wraps = |call: &Call<'_>| call.is("torch.nn.parallel.DistributedDataParallel");
    !group.has_unpacked() && model.calls().iter().any(wraps)
}

fn is_nccl_name<'a>(model: &Model<'a>, backend: &'a Expr, left: usize) -> bool {
    let Some(left) = left.checked_sub(1) else { return false };
    match backend {
        Expr::StringLiteral(it) => it.value.to_str().split(',').any(|it| it == "nccl" || it == "cuda:nccl"),
        Expr::If(it) => is_nccl_name(model, &it.body, left) || is_nccl_name(model, &it.orelse, left),
        Expr::Name(name) => match &model.tree.definitions[model.definition(name).index()].binding {
            Binding::Value(value) => is_nccl_name(model, value, left),
            Binding::Parameter(function, index, parameter) => {
                let name = parameter.name.as_str();
                let given = model.given_to(*function, *index, name);
                let default = model.default_of(*function, name);
                !given.is_empty()
                    && given
                        .into_iter()
                        .take(4)
                        .all(|it| it.or(default).is_some_and(|it| is_nccl_name(model, it, left)))
            }
            _ => false,
        },
        Expr::Attribute(it) => {
            let is_option = |call: &&Call<'a>| call.is_method("add_argument") && is_option(call, it.attr.as_str());
            let mut defaults =
                model.calls().iter().filter(is_option).filter_map(|call| call.keyword("default")).take(4);
            defaults.any(|it| is_nccl_name(model, it, left))
        }
        _ => false,
    }
}

/// Checks whether anything refers to a function, or to a function around its definition: it is called, spawned, or decorates another.
fn is_used(model: &Model<'_>, function: FunctionId) -> bool {
    let is_named = |it: FunctionId| {
        let refers = |expression: &Expr| expression.as_name_expr().is_some_and(|name| name.ctx.is_load());
        model.callers(it).next().is_some()
            || model.all_expressions().any(|other| refers(other) && model.function_named(other) == Some(it))
    };
    let it = &model.tree.functions[function.index()];
    let is_constructor = it.class.is_some() && !model.runs_of(function).is_empty();
    is_constructor || is_named(function) || model.function(it.outside).is_some_and(is_named)
}

/// `.cuda()`, `.to("cuda")`, `.to(device)` of such a device, `device="cuda"`, `torch.set_default_device("cuda")`
fn uses_first_gpu<'a>(model: &Model<'a>, call: &Call<'a>) -> bool {
    let names = |device: Option<&'a Expr>| {
        device.is_some_and(|it| model.names_first_gpu(it) || is_current_device(model, it, 4))
    };
    match call.path.as_deref() {
        Some("torch.set_default_device") => names(call.argument("device", 0)),
        Some("torch.set_default_tensor_type") => model.source(&call.syntax.arguments).contains("cuda"),
        Some(path) => {
            path.starts_with("torch.")
                && path != "torch.device"
                && (names(call.keyword("device")) || names(call.keyword("device_id")))
        }
        None if call.is_method("cuda") => call.syntax.arguments.is_empty() || names(call.argument("device", 0)),
        None => call.is_method("to") && names(call.argument("device", 0)),
    }
}

/// Checks for the current device, which is GPU 0 unless the process selects another.
fn is_current_device<'a>(model: &Model<'a>, device: &'a Expr, left: usize) -> bool {
    let Some(left) = left.checked_sub(1) else { return false };
    if device.is_f_string_expr() {
        return model.source(device).contains("cuda.current_device()");
    }
    match model.call(device) {
        Some(call) if call.is("torch.device") => {
            let number = call.argument("index", 1).or_else(|| call.argument("type", 0));
            number.is_some_and(|it| is_current_device(model, it, left))
        }
        Some(call) if call.is_any(&["torch.cuda.current_device", "torch.accelerator.current_device_index"]) => true,
        Some(call) => model.callee(call).is_some_and(|it| {
            let returned = &model.tree.functions[it.index()].returned;
            !returned.is_empty() && returned.iter().all(|it| is_current_device(model, it, left))
        }),
        None => {
            let made = model.origins(device);
            !made.is_empty() && made.into_iter().all(|it| is_current_device(model, it, left))
        }
    }
}

/// Checks whether the program may select a device for the process; libraries that start processes do.
fn selects(model: &Model<'_>) -> bool {
    // A manager that no `with` enters selects nothing.
    let is_manager = |call: &Call<'_>| call.is("torch.cuda.device") && !model.is_statement(call);
    let texts = ["CUDA_VISIBLE_DEVICES", "transformers import Trainer", "transformers.Trainer", "TrainingArguments"];
    let libraries =
        ["accelerate", "deepspeed", "lightning", "pytorch_lightning", "ray", "colossalai", "megatron", "mmengine"];
    let is_library = |path: &str| libraries.contains(&path.split('.').next().unwrap_or_default());
    let imports = || {
        model.tree.definitions.iter().filter_map(|it| match &it.binding {
            Binding::Import(path) => Some(&**path),
            _ => None,
        })
    };
    let is_hidden = |call: &Call<'_>| {
        let path = call.path.as_deref().filter(|path| !path.starts_with("torch."));
        path.is_some_and(|path| path.ends_with(".get_device") || is_hidden_setup(path))
    };
    model.calls().iter().any(|call| call.is_any(&SETTERS) || is_manager(call) || is_hidden(call))
        || texts.iter().any(|it| model.text.contains(it))
        || imports().any(|path| is_library(path) || is_hidden_setup(path))
}

/// Checks whether the program names a GPU by a rank anywhere.
fn names_any_rank(model: &Model<'_>) -> bool {
    model.calls().iter().any(|call| names_rank(model, call)) || model.all_expressions().any(|it| is_numbered(model, it))
}

/// Checks whether a function that was imported from an unseen file may select the device.
fn is_hidden_setup(path: &str) -> bool {
    let (module, name) = path.rsplit_once('.').unwrap_or(("", path));
    let is_known = ["torch", "horovod", "torchvision", "timm", "apex", "os", "monai"];
    let words = [
        "init_dist",
        "setup_dist",
        "distributed_mode",
        "dist_init",
        "setup_ddp",
        "ddp_setup",
        "init_ddp",
        "set_device",
        "setup_device",
        "select_device",
        "launch",
    ];
    !is_known.contains(&module.split('.').next().unwrap_or_default())
        && words.iter().any(|word| name.to_ascii_lowercase().contains(word))
}

/// `.cuda(rank)`, `.to(local_rank)`, `torch.device("cuda", rank)`, `torch.device(rank)`, but not `.cuda(0)`.
fn names_rank<'a>(model: &Model<'a>, call: &Call<'a>) -> bool {
    let is_device = call.is_method("cuda") || call.is_method("to") || call.is("torch.device");
    let device = call.argument("device", 0).or_else(|| call.argument("type", 0));
    let number = call.argument("index", 1).filter(|_| call.is("torch.device"));
    let is_number = |it: &'a Expr| {
        let name = model.source(it).rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
        let is_flag = it.as_boolean_literal_expr().is_some() || it.as_number_literal_expr().is_some();
        !is_flag && ["rank", "gpu", "local", "int(", "device_id"].iter().any(|word| name.contains(word))
    };
    is_device && (number.is_some_and(|it| !it.is_number_literal_expr()) || device.is_some_and(is_number))
}

/// Checks for the name of a GPU with a number that is computed: `f"cuda:{rank}"`, `"cuda:" + rank`, `"cuda:%d"`.
fn is_numbered(model: &Model<'_>, expression: &Expr) -> bool {
    match expression {
        Expr::FString(_) => {
            let text = model.source(expression);
            text.contains("cuda:{") && !text.contains("current_device()")
        }
        Expr::StringLiteral(it) => {
            let text = it.value.to_str();
            text.starts_with("cuda:") && text != "cuda:0"
        }
        _ => false,
    }
}
