//! The role of a stack: the operation that was running when the stack allocated or freed a tensor.
//!
//! # Note [Roles]
//! The innermost frame of PyTorch's own Python code with a known role decides; each stack is examined once. Autograd
//! runs backward in threads without Python frames: in a history with frames, a stack without frames is backward's. If
//! backward runs Python (a custom `autograd.Function`, recomputation of a checkpoint), the outermost frame is
//! autograd's and the forward's frames lie inside, so the outermost frame has precedence. DDP's C++ reducer allocates
//! its buckets in its constructor and again before the second forward; other work of these two functions has frames of
//! its own. Names of functions and files as in PyTorch 1.13 to 2.15, `torch/nn/modules/module.py`, `torch/optim/`,
//! `torch/autograd/`, `torch/utils/checkpoint.py`.

use trace::{Frame, StackId, StackTable};

use super::paths::{in_torch, posix};

/// The operation that a stack belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Role {
    /// No frame was recorded.
    Frameless,
    /// No frame has a known role.
    Own,
    /// A constructor (`__init__`) of the user's code.
    Built,
    /// A module's tensors were created, moved or loaded.
    Placed,
    /// A batch was loaded.
    Loading,
    /// A module ran.
    Forward,
    /// A function of `torch.nn.functional` ran, outside any module.
    Functional,
    /// Backward ran.
    Backward,
    /// Gradients were clipped or unscaled.
    Clipping,
    /// `optimizer.step` ran.
    Optimizer,
    /// An optimizer created its state.
    OptimizerState,
    /// `zero_grad` ran.
    ZeroGrad,
    /// DistributedDataParallel allocated the buckets for gradients.
    Buckets,
}

/// Returns the role of every stack, by stack id.
pub(crate) fn roles(stacks: &StackTable) -> Vec<Role> {
    let ids = (0..u32::try_from(stacks.len()).unwrap_or(u32::MAX)).map(StackId);
    ids.map(|id| role(stacks.frames(id))).collect()
}

fn role<'a>(frames: impl DoubleEndedIterator<Item = &'a Frame>) -> Role {
    let mut found = Role::Frameless;
    let mut outermost_is_autograd = false;
    let mut is_innermost = true;
    for frame in frames {
        let file = posix(&frame.file);
        if is_innermost && is_reducer(&frame.function, &file) {
            return Role::Buckets;
        }
        is_innermost &= !is_python(&file);
        let said = frame_role(&frame.function, &file);
        outermost_is_autograd = in_torch(&file) == Some("autograd/function.py");
        if said == Some(Role::Backward) {
            return Role::Backward;
        }
        found = stronger(found, said.unwrap_or(Role::Own));
    }
    if outermost_is_autograd { Role::Backward } else { found }
}

/// Returns the decisive role: the first specific role stays, a vague role yields to the outer frame's role.
fn stronger(inner: Role, outer: Role) -> Role {
    match inner {
        Role::Frameless | Role::Own => outer,
        Role::Functional | Role::Built if !matches!(outer, Role::Own | Role::Built) => outer,
        _ => inner,
    }
}

/// Returns the role of one frame; `None` if the frame has no known role.
fn frame_role(function: &str, file: &str) -> Option<Role> {
    if !is_python(file) {
        return native(function);
    }
    let Some(rest) = in_torch(file) else {
        return outside(function);
    };
    match rest.split_once('/') {
        Some(("optim", _)) => Some(optimizer(function)),
        Some(("autograd", file)) => backward(function, file),
        Some(("nn", file)) => neural(function, file),
        Some(("amp" | "cuda", file)) => file.ends_with("grad_scaler.py").then_some(Role::Clipping),
        Some(("utils", file)) => utility(function, file),
        _ => top_level(function, rest),
    }
}

fn is_python(file: &str) -> bool {
    std::path::Path::new(file).extension().is_some_and(|extension| extension == "py")
}

fn is_reducer(function: &str, file: &str) -> bool {
    in_torch(file) == Some("nn/parallel/distributed.py") && matches!(function, "_ddp_init_helper" | "_pre_forward")
}

/// Returns the role of a C++ frame, as `stacks="all"` records it.
fn native(function: &str) -> Option<Role> {
    let engine = function.contains("torch::autograd::Engine::") || function.contains("torch::autograd::AccumulateGrad");
    engine.then_some(Role::Backward)
}

fn outside(function: &str) -> Option<Role> {
    match function {
        "from_pretrained" | "set_module_tensor_to_device" | "load_checkpoint_in_model" => Some(Role::Placed),
        "__init__" => Some(Role::Built),
        _ => None,
    }
}

fn optimizer(function: &str) -> Role {
    match function {
        "zero_grad" => Role::ZeroGrad,
        "_init_group" | "load_state_dict" | "_process_value_according_to_param_policy" => Role::OptimizerState,
        _ => Role::Optimizer,
    }
}

fn backward(function: &str, file: &str) -> Option<Role> {
    let telling = matches!(function, "backward" | "_make_grads" | "_engine_run_backward" | "grad");
    (telling && matches!(file, "__init__.py" | "graph.py")).then_some(Role::Backward)
}

fn neural(function: &str, file: &str) -> Option<Role> {
    match (file, function) {
        ("modules/module.py", "zero_grad") => Some(Role::ZeroGrad),
        ("modules/module.py", "_call_impl" | "_wrapped_call_impl" | "_slow_forward" | "inner") => Some(Role::Forward),
        ("modules/module.py", "_apply" | "load_state_dict" | "_load_from_state_dict" | "load")
        | ("parameter.py" | "init.py", _)
        | (_, "__init__" | "reset_parameters") => Some(Role::Placed),
        ("functional.py", _) => Some(Role::Functional),
        ("utils/clip_grad.py", _) => Some(Role::Clipping),
        _ => None,
    }
}

fn utility(function: &str, file: &str) -> Option<Role> {
    match (file, function) {
        ("checkpoint.py", "unpack_hook" | "recompute_fn" | "backward") => Some(Role::Backward),
        _ if file.starts_with("data/") => Some(Role::Loading),
        _ => None,
    }
}

fn top_level(function: &str, file: &str) -> Option<Role> {
    match (file, function) {
        ("_tensor.py", "backward") => Some(Role::Backward),
        ("functional.py", _) => Some(Role::Functional),
        ("serialization.py", _) => Some(Role::Placed),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(frames: &[(&str, &str)], expected: Role) {
        let frames: Vec<Frame> = frames
            .iter()
            .map(|&(function, file)| Frame { function: function.to_owned(), file: file.to_owned(), line: 1 })
            .collect();
        assert_eq!(role(frames.iter()), expected, "{frames:?}");
    }

    #[test]
    fn the_innermost_telling_frame_decides() {
        const T: &str = "/v/lib/python3.11/site-packages/torch";
        let at = |rest: &str| format!("{T}/{rest}");
        let (module, optimizer, adam) = (at("nn/modules/module.py"), at("optim/optimizer.py"), at("optim/adam.py"));
        let (functional, function) = (at("nn/functional.py"), at("autograd/function.py"));
        let (engine, tensor, checkpoint) = (at("autograd/__init__.py"), at("_tensor.py"), at("utils/checkpoint.py"));
        let (linear, fetch, clip) =
            (at("nn/modules/linear.py"), at("utils/data/_utils/fetch.py"), at("nn/utils/clip_grad.py"));
        let mine = "/home/ann/train.py";
        let call = ("_call_impl", module.as_str());
        check(&[("forward", &linear), ("inner", &module), call, ("main", mine)], Role::Forward);
        check(&[], Role::Frameless);
        check(&[("main", mine)], Role::Own);
        check(&[("__init__", mine), ("main", mine)], Role::Built);
        check(&[("<lambda>", &module), ("_apply", &module), ("cuda", &module), ("main", mine)], Role::Placed);
        check(&[("__init__", &linear), ("__init__", mine), ("main", mine)], Role::Placed);
        check(&[("forward", &linear), call, ("main", mine)], Role::Forward);
        check(&[("forward", mine), call, ("main", mine)], Role::Forward);
        check(&[("relu", &functional), ("forward", &linear), call, ("main", mine)], Role::Forward);
        check(&[("cross_entropy", &functional), ("main", mine)], Role::Functional);
        check(
            &[("_make_grads", &engine), ("backward", &engine), ("backward", &tensor), ("main", mine)],
            Role::Backward,
        );
        check(&[("backward", mine), ("apply", &function)], Role::Backward);
        check(&[("forward", mine), ("apply", &function), ("forward", mine), call, ("main", mine)], Role::Forward);
        check(
            &[("forward", &linear), call, ("recompute_fn", &checkpoint), ("unpack_hook", &checkpoint)],
            Role::Backward,
        );
        check(
            &[("_multi_tensor_adam", &adam), ("step", &adam), ("wrapper", &optimizer), ("main", mine)],
            Role::Optimizer,
        );
        check(&[("step", mine), ("wrapper", &optimizer), ("main", mine)], Role::Optimizer);
        check(&[("_init_group", &adam), ("step", &adam), ("main", mine)], Role::OptimizerState);
        check(&[("forward", &linear), call, ("closure", mine), ("step", &adam), ("main", mine)], Role::Forward);
        check(&[("zero_grad", &optimizer), ("main", mine)], Role::ZeroGrad);
        check(&[("clip_grad_norm_", &clip), ("main", mine)], Role::Clipping);
        check(&[("fetch", &fetch), ("main", mine)], Role::Loading);
        let (parallel, moves) = (at("nn/parallel/distributed.py"), at("distributed/utils.py"));
        let before = ("_pre_forward", parallel.as_str());
        check(&[before, ("forward", &parallel), call, ("main", mine)], Role::Buckets);
        check(&[("c10d::Reducer::initialize_buckets", "??"), before, ("forward", &parallel), call], Role::Buckets);
        check(&[("_ddp_init_helper", &parallel), ("__init__", &parallel), ("main", mine)], Role::Buckets);
        check(&[("_to_kwargs", &moves), before, ("forward", &parallel), call], Role::Forward);
        check(&[("torch::autograd::Engine::evaluate_function(x)", "engine.cpp"), ("clone", "??")], Role::Backward);
        check(&[("at::native::empty_cuda()", "??"), ("forward", mine), call], Role::Forward);
        check(
            &[("forward", r"D:\x\model.py"), ("_call_impl", r"D:\v\site-packages\torch\nn\modules\module.py")],
            Role::Forward,
        );
    }
}
