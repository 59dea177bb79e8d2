//! The value of a call: functions of PyTorch and of the file, methods, modules.

use ruff_python_ast::{Expr, ExprCall};

use super::super::calls::is_bool;
use super::super::data::ClassId;
use super::super::known;
use super::super::names::last;
use super::super::{Call, Mode, Model};
use super::{Graph, Place, Value, any_of, given};

impl<'a> Model<'a> {
    pub(super) fn value_of_call(&self, syntax: &'a ExprCall, expression: &'a Expr, left: usize) -> Value {
        let Some(call) = self.call(expression) else { return Value::Unknown };
        if let Some(path) = call.path.as_deref() {
            return self.value_of_known(call, path, left);
        }
        if let Some(function) = self.callee(call) {
            let returned = &self.tree.functions[function.index()].returned;
            return any_of(returned.iter().map(|it| self.value_within(it, left)));
        }
        if let Some(class) = syntax.func.as_name_expr().and_then(|name| self.class_of(self.definition(name))) {
            return self.value_of_instance(class);
        }
        if let Some((receiver, method)) = call.method() {
            let known = self.value_of_method(call, receiver, method, left);
            if known != Value::Unknown {
                return known;
            }
        }
        match self.value_within(&syntax.func, left) {
            Value::Module => self.value_of_forward(call),
            Value::Operation => self.value_of_arguments(call, left),
            _ => Value::Unknown,
        }
    }

    /// Returns the value of a call of a module with parameters.
    pub(super) fn value_of_forward(&self, call: &Call<'a>) -> Value {
        let graph = match self.mode(call.region) {
            Mode::On if !self.evidence.freezes => Graph::Recorded,
            Mode::Off => Graph::Absent,
            Mode::On | Mode::Unsure => Graph::Unsure,
        };
        Value::Tensor(graph, Place::Unsure)
    }

    /// Returns the value of a computation on the arguments.
    pub(super) fn value_of_arguments(&self, call: &Call<'a>, left: usize) -> Value {
        let arguments = &call.syntax.arguments;
        let positional = arguments.args.iter().flat_map(|argument| match argument {
            Expr::List(it) => it.elts.iter().collect::<Vec<_>>(),
            Expr::Tuple(it) => it.elts.iter().collect(),
            other => vec![other],
        });
        let values = positional.chain(arguments.keywords.iter().map(|keyword| &keyword.value));
        let found = values.map(|it| self.value_within(it, left)).reduce(Value::with).unwrap_or(Value::Unknown);
        let graph = if self.mode(call.region) == Mode::Off { Graph::Absent } else { found.graph() };
        match found {
            Value::Tensor(_, place) => Value::Tensor(graph, place),
            _ => Value::Tensor(if graph == Graph::Absent { graph } else { Graph::Unsure }, Place::Unsure),
        }
    }

    pub(super) fn value_of_instance(&self, class: ClassId) -> Value {
        if self.derives(class, &|path| {
            path == "torch.nn.Module" || last(path) == "LightningModule" || known::makes_module(path)
        }) {
            return Value::Module;
        }
        if self.derives(class, &known::makes_loader) { Value::Loader } else { Value::Unknown }
    }

    pub(super) fn value_of_known(&self, call: &Call<'a>, path: &str, left: usize) -> Value {
        if known::makes_tensor(path) {
            let needs_gradient = call.keyword("requires_grad").is_some_and(|it| is_bool(it, true));
            let graph = if needs_gradient { Graph::Unsure } else { Graph::Absent };
            let place = call.keyword("device").map_or(Place::Host, |device| self.place(device));
            let like = call.keyword("device").is_none() && path.ends_with("_like");
            return Value::Tensor(graph, if like { Place::Unsure } else { place });
        }
        match path {
            "float" | "int" | "str" | "len" | "bool" | "round" | "range" | "repr" => Value::Plain,
            "list" | "dict" | "set" | "tuple" | "collections.deque" | "collections.defaultdict" => Value::Collection,
            "torch.compile" | "copy.deepcopy" => {
                call.syntax.arguments.args.first().map_or(Value::Unknown, |it| self.value_within(it, left))
            }
            "sum" => match call.syntax.arguments.args.first() {
                Some(Expr::List(_) | Expr::Tuple(_)) => self.value_of_arguments(call, left),
                _ => Value::Unknown,
            },
            _ if known::ends_graph(path) => Value::Tensor(Graph::Absent, Place::Unsure),
            _ if known::computes(path) => self.value_of_arguments(call, left),
            _ if known::is_parameterless(path) => Value::Operation,
            _ if known::makes_optimizer(path) => Value::Optimizer,
            _ if known::makes_scaler(path) => Value::Scaler,
            _ if known::makes_loader(path) => Value::Loader,
            _ if known::makes_module(path) => Value::Module,
            _ => Value::Unknown,
        }
    }

    pub(super) fn value_of_method(&self, call: &Call<'a>, receiver: &'a Expr, method: &str, left: usize) -> Value {
        match self.value_within(receiver, left) {
            tensor @ Value::Tensor(graph, _) => match method {
                "cpu" => Value::Tensor(graph, Place::Host),
                "cuda" => Value::Tensor(graph, Place::Gpu),
                "to" => Value::Tensor(graph, self.place_of_to(call, tensor)),
                _ => given(tensor, known::tensor_method(method)),
            },
            Value::Module => match method {
                "to" | "cuda" | "cpu" | "train" | "eval" | "half" | "float" | "double" | "bfloat16"
                | "requires_grad_" | "apply" | "to_empty" => Value::Module,
                "forward" => self.value_of_forward(call),
                _ => Value::Unknown,
            },
            Value::Operation if matches!(method, "to" | "cuda" | "cpu") => Value::Operation,
            _ if matches!(method, "item" | "tolist" | "numpy" | "size" | "numel" | "dim") => Value::Plain,
            _ if method == "prepare" && call.syntax.arguments.args.len() == 1 => {
                call.syntax.arguments.args.first().map_or(Value::Unknown, |it| self.value_within(it, left))
            }
            _ => Value::Unknown,
        }
    }
}
