//! The value of a call: functions of PyTorch and of the file, methods, modules.

use ruff_python_ast::{Expr, ExprCall};

use super::super::call_graph::is_bool;
use super::super::data::ClassId;
use super::super::known;
use super::super::names::last;
use super::super::{Call, Mode, Model};
use super::{Graph, TensorDevice, ValueKind, any_of, result_kind};

impl<'a> Model<'a> {
    pub(super) fn value_of_call(&self, syntax: &'a ExprCall, expression: &'a Expr, left: usize) -> ValueKind {
        let Some(call) = self.call(expression) else { return ValueKind::Unknown };
        if let Some(path) = call.path.as_deref() {
            return self.value_of_known(call, path, left);
        }
        if let Some(function) = self.callee(call) {
            let returned = &self.tree.functions[function.index()].returned;
            return any_of(returned.iter().map(|it| self.value_within(it, left)));
        }
        if let Some(class) = self.named(&syntax.func).and_then(|it| self.class_of(it)) {
            return self.value_of_instance(class);
        }
        if let Some((receiver, method)) = call.method() {
            let known = self.value_of_method(call, receiver, method, left);
            if known != ValueKind::Unknown {
                return known;
            }
        }
        match self.value_within(&syntax.func, left) {
            ValueKind::Module if self.returns_mapping(call) => ValueKind::Collection,
            ValueKind::Module => self.value_of_forward(call),
            ValueKind::Operation => self.value_of_arguments(call, left),
            _ => ValueKind::Unknown,
        }
    }

    /// Checks whether the `forward` of a known module returns dicts.
    fn returns_mapping(&self, call: &Call<'a>) -> bool {
        let class = self.class_of_object(&call.syntax.func);
        let forward = class.and_then(|class| self.method_of(class, "forward"));
        forward.is_some_and(|it| {
            let returned = &self.tree.functions[it.index()].returned;
            !returned.is_empty() && returned.iter().all(|it| it.is_dict_expr())
        })
    }

    /// Returns the value of a call of a module with parameters.
    pub(super) fn value_of_forward(&self, call: &Call<'a>) -> ValueKind {
        let graph = match self.mode(call.region) {
            Mode::On if !self.evidence.freezes => Graph::Recorded,
            Mode::Off => Graph::Absent,
            Mode::On | Mode::Unsure => Graph::Unsure,
        };
        ValueKind::Tensor(graph, TensorDevice::Unsure)
    }

    /// Returns the value of a computation on the arguments.
    pub(super) fn value_of_arguments(&self, call: &Call<'a>, left: usize) -> ValueKind {
        let arguments = &call.syntax.arguments;
        let positional = arguments.args.iter().flat_map(|argument| match argument {
            Expr::List(it) => it.elts.iter().collect::<Vec<_>>(),
            Expr::Tuple(it) => it.elts.iter().collect(),
            other => vec![other],
        });
        let values = positional.chain(arguments.keywords.iter().map(|keyword| &keyword.value));
        let found = values.map(|it| self.value_within(it, left)).reduce(ValueKind::with).unwrap_or(ValueKind::Unknown);
        let graph = if self.mode(call.region) == Mode::Off { Graph::Absent } else { found.graph() };
        match found {
            ValueKind::Tensor(_, device) => ValueKind::Tensor(graph, device),
            _ => ValueKind::Tensor(if graph == Graph::Absent { graph } else { Graph::Unsure }, TensorDevice::Unsure),
        }
    }

    pub(crate) fn value_of_instance(&self, class: ClassId) -> ValueKind {
        if self.derives(class, &|path| {
            path == "torch.nn.Module" || last(path) == "LightningModule" || known::makes_module(path)
        }) {
            return ValueKind::Module;
        }
        if self.derives(class, &known::makes_loader) { ValueKind::Loader } else { ValueKind::Unknown }
    }

    pub(super) fn value_of_known(&self, call: &Call<'a>, path: &str, left: usize) -> ValueKind {
        if known::makes_tensor(path) {
            let needs_gradient = call.keyword("requires_grad").is_some_and(|it| is_bool(it, true));
            let graph = if needs_gradient { Graph::Unsure } else { Graph::Absent };
            let device = call.keyword("device").map_or(TensorDevice::Host, |device| self.device_of(device));
            let like = call.keyword("device").is_none() && path.ends_with("_like");
            return ValueKind::Tensor(graph, if like { TensorDevice::Unsure } else { device });
        }
        match path {
            "float" | "int" | "str" | "len" | "bool" | "round" | "range" | "repr" => ValueKind::Plain,
            "list" | "dict" | "set" | "tuple" | "collections.deque" | "collections.defaultdict" => {
                ValueKind::Collection
            }
            "torch.compile" | "copy.deepcopy" => {
                call.syntax.arguments.args.first().map_or(ValueKind::Unknown, |it| self.value_within(it, left))
            }
            "sum" => match call.syntax.arguments.args.first() {
                Some(Expr::List(_) | Expr::Tuple(_)) => self.value_of_arguments(call, left),
                _ => ValueKind::Unknown,
            },
            _ if known::ends_graph(path) => ValueKind::Tensor(Graph::Absent, TensorDevice::Unsure),
            _ if known::computes(path) => self.value_of_arguments(call, left),
            _ if known::is_parameterless(path) => ValueKind::Operation,
            _ if known::makes_optimizer(path) => ValueKind::Optimizer,
            _ if known::makes_scaler(path) => ValueKind::Scaler,
            _ if known::makes_loader(path) => ValueKind::Loader,
            _ if known::makes_module(path) => ValueKind::Module,
            _ => ValueKind::Unknown,
        }
    }

    pub(super) fn value_of_method(&self, call: &Call<'a>, receiver: &'a Expr, method: &str, left: usize) -> ValueKind {
        match self.value_within(receiver, left) {
            // A tensor has no `eval`: what `torch.load` gave is a module.
            ValueKind::Unknown | ValueKind::Tensor(..) if method == "eval" && call.syntax.arguments.is_empty() => {
                ValueKind::Module
            }
            tensor @ ValueKind::Tensor(graph, _) => match method {
                "cpu" => ValueKind::Tensor(graph, TensorDevice::Host),
                "cuda" => ValueKind::Tensor(graph, TensorDevice::Gpu),
                "to" => ValueKind::Tensor(graph, self.device_of_to(call, tensor)),
                _ => result_kind(tensor, known::tensor_method(method)),
            },
            ValueKind::Module => match method {
                "to" | "cuda" | "cpu" | "train" | "eval" | "half" | "float" | "double" | "bfloat16"
                | "requires_grad_" | "apply" | "to_empty" => ValueKind::Module,
                "forward" => self.value_of_forward(call),
                _ => ValueKind::Unknown,
            },
            ValueKind::Operation if matches!(method, "to" | "cuda" | "cpu") => ValueKind::Operation,
            _ if matches!(method, "item" | "tolist" | "numpy" | "size" | "numel" | "dim") => ValueKind::Plain,
            _ if method == "prepare" && call.syntax.arguments.args.len() == 1 => {
                call.syntax.arguments.args.first().map_or(ValueKind::Unknown, |it| self.value_within(it, left))
            }
            _ => ValueKind::Unknown,
        }
    }
}
