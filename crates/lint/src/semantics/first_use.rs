//! Does a program certainly use the GPU before a point? Through calls, constructors and callers.

use std::cell::RefCell;

use ruff_python_ast::Expr;
use rustc_hash::FxHashMap;

use super::data::{FunctionId, NodeId, RegionId, RegionKind, Syntax};
use super::names::last;
use super::{Call, Model};

/// Functions that create the context of the GPU together with the allocator.
const INITIALISERS: [&str; 16] = [
    "torch.cuda.memory.mem_get_info",
    "torch.cuda.is_bf16_supported",
    "torch.cuda.set_per_process_memory_fraction",
    "torch.cuda.default_stream",
    "torch.cuda.Stream",
    "torch.cuda.get_rng_state",
    "accelerate.Accelerator",
    "torch.cuda.init",
    "torch.cuda.set_device",
    "torch.cuda.current_device",
    "torch.cuda.synchronize",
    "torch.cuda.get_device_properties",
    "torch.cuda.get_device_name",
    "torch.cuda.get_device_capability",
    "torch.cuda.mem_get_info",
    "torch.cuda.current_stream",
];

/// Functions of libraries that load a model to their `device`.
const LOADERS: [&str; 6] =
    ["pipeline", "load", "load_model", "SentenceTransformer", "CrossEncoder", "create_model_and_transforms"];

/// Cached answers about functions: is the GPU used in one, and before all its calls? False while an answer is computed.
#[derive(Debug, Default)]
pub(crate) struct GpuAnswers {
    inside: RefCell<FxHashMap<FunctionId, bool>>,
    before: RefCell<FxHashMap<FunctionId, bool>>,
}

impl<'a> Model<'a> {
    /// Checks whether the GPU is certainly used before a node runs.
    pub(crate) fn is_gpu_used_before(&self, id: NodeId) -> bool {
        let region = self.node(id).region;
        let function = self.function(region);
        let first = self.body(function).0;
        let is_here = |call: &Call<'a>| {
            call.id < id
                && self.function(call.region) == function
                && self.is_certain(call.region, region)
                && self.uses_gpu(call)
        };
        if first <= id && self.calls_between((first, id)).iter().any(is_here) {
            return true;
        }
        let Some(function) = function else { return false };
        cached(&self.gpu_answers.before, function, || {
            self.follow(|| self.is_gpu_used_before_calls(function)).unwrap_or(false)
        })
    }

    /// Checks whether the GPU is used before each call of a function.
    fn is_gpu_used_before_calls(&self, function: FunctionId) -> bool {
        let constructor = self.constructor_of_method(function);
        let is_built_on_gpu = constructor.is_some_and(|it| self.uses_gpu_in(it));
        let mut callers = self.callers(function).peekable();
        if callers.peek().is_none() {
            return is_built_on_gpu || self.is_gpu_used_before_passing(function);
        }
        callers.all(|call| {
            let caller = self.function(call.region);
            let is_while_built = caller.is_some() && caller == constructor;
            (is_built_on_gpu && !is_while_built) || (caller != Some(function) && self.is_gpu_used_before(call.id))
        })
    }

    /// Checks whether the GPU is used before each place that passes a function on, to be called in this process.
    fn is_gpu_used_before_passing(&self, function: FunctionId) -> bool {
        let mut places = self.expressions(self.whole_text()).filter(|(_, it)| {
            (it.is_name_expr() || it.is_attribute_expr()) && self.function_named(it) == Some(function)
        });
        let is_late = |id: NodeId| {
            let call = self.passing_call(id);
            call.is_some_and(|it| !starts_process(it) && self.is_gpu_used_before(it.id))
        };
        places.next().is_some_and(|(id, _)| is_late(id)) && places.all(|(id, _)| is_late(id))
    }

    /// Returns the call with an argument.
    fn passing_call(&self, argument: NodeId) -> Option<&Call<'a>> {
        match self.node(self.node(argument).parent).syntax {
            Syntax::Expression(call @ Expr::Call(_)) => self.call(call),
            _ => None,
        }
    }

    /// Returns `__init__` of the class of another method.
    fn constructor_of_method(&self, function: FunctionId) -> Option<FunctionId> {
        let class = self.tree.functions[function.index()].class?;
        self.method_of(class, "__init__").filter(|&it| it != function)
    }

    /// Checks whether a call uses the GPU, by itself or in the function that it runs.
    pub(crate) fn uses_gpu(&self, call: &Call<'a>) -> bool {
        if call.is_any(&INITIALISERS) || self.is_certain_move_to_gpu(call) || is_loaded_to_gpu(call) {
            return true;
        }
        if self.value_of(call).is_on_gpu() && call.path.is_some() {
            return true;
        }
        let class = self.named(&call.syntax.func).and_then(|it| self.class_of(it));
        let callee = self.callee(call).or_else(|| class.and_then(|it| self.method_of(it, "__init__")));
        callee.is_some_and(|callee| self.follow(|| self.uses_gpu_in(callee)).unwrap_or(false))
    }

    fn uses_gpu_in(&self, function: FunctionId) -> bool {
        let body = self.tree.functions[function.index()].body;
        let uses = |call: &Call<'a>| {
            self.function(call.region) == Some(function)
                && self.is_certain(call.region, call.region)
                && self.uses_gpu(call)
        };
        cached(&self.gpu_answers.inside, function, || self.calls_between(body).iter().any(uses))
    }

    /// Checks whether code of a region runs whenever code of a later region does: no condition of its own, except one that asks for a GPU.
    fn is_certain(&self, region: RegionId, later: RegionId) -> bool {
        let mut around = Vec::new();
        let mut next = if region == later { self.root_of(later) } else { later };
        loop {
            around.push(next);
            let parent = self.tree.regions[next.index()].parent;
            if parent == next {
                break;
            }
            next = parent;
        }
        let mut next = region;
        while !around.contains(&next) {
            let it = &self.tree.regions[next.index()];
            let is_uncertain = match it.kind {
                RegionKind::If(condition, is_first) => !(is_first && self.asks_for_gpu(&condition.test)),
                RegionKind::Maybe | RegionKind::Handler(_) | RegionKind::Lambda | RegionKind::Comprehension => true,
                _ => false,
            };
            // A module is its own parent: the regions are of two files.
            if is_uncertain || it.parent == next {
                return false;
            }
            next = it.parent;
        }
        true
    }

    /// Returns the region of the function, or of the module, around a region.
    fn root_of(&self, mut region: RegionId) -> RegionId {
        loop {
            let it = &self.tree.regions[region.index()];
            if matches!(it.kind, RegionKind::Function(_) | RegionKind::Module) {
                return region;
            }
            region = it.parent;
        }
    }
}

fn cached(answers: &RefCell<FxHashMap<FunctionId, bool>>, function: FunctionId, ask: impl FnOnce() -> bool) -> bool {
    if let Some(&known) = answers.borrow().get(&function) {
        return known;
    }
    answers.borrow_mut().insert(function, false);
    let answer = ask();
    answers.borrow_mut().insert(function, answer);
    answer
}

/// Checks for a call that may run its argument in another process.
fn starts_process(call: &Call<'_>) -> bool {
    let name = call.path.as_deref().map(last).or(call.method().map(|(_, name)| name)).unwrap_or_default();
    let is_known =
        ["Process", "spawn", "start", "submit", "map", "apply", "remote", "launch", "run", "Pool", "partial"];
    call.path.as_deref().is_some_and(|it| it.contains("multiprocess")) || is_known.iter().any(|it| name.contains(it))
}

/// `Model.from_pretrained(name, device_map="cuda")`
fn is_loaded_to_gpu(call: &Call<'_>) -> bool {
    let is_gpu = |it: &Expr| it.as_string_literal_expr().is_some_and(|it| it.value.to_str().starts_with("cuda"));
    let is_loader = call.method().is_some_and(|(_, name)| name == "from_pretrained");
    let map = call.keyword("device_map").filter(|_| is_loader);
    let is_auto = map.and_then(Expr::as_string_literal_expr).is_some_and(|it| it.value.to_str() == "auto");
    let loads = call.path.as_deref().is_some_and(|it| LOADERS.contains(&last(it)) && it.contains('.'));
    is_auto || map.is_some_and(is_gpu) || (loads && call.keyword("device").is_some_and(is_gpu))
}
