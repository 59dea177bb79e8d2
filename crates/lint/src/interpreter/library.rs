//! Functions and classes of Python, PyTorch and libraries around it.

use ruff_python_ast::{Expr, ExprCall};

use super::arguments::CallArguments;
use super::value::{AbstractValue, ObjectId, ObjectKind, TensorValue, existing};
use super::{Interpreter, Mode, NodeId};
use crate::semantics::{Graph, TensorDevice, known as library};

impl<'a> Interpreter<'_, 'a> {
    /// Calls a function with a dotted path.
    pub(super) fn call_library(
        &mut self,
        path: &str,
        syntax: Option<&'a ExprCall>,
        arguments: &CallArguments<'a>,
        at: NodeId,
    ) -> AbstractValue<'a> {
        match path {
            "torch.set_grad_enabled" | "torch.autograd.set_grad_enabled" => {
                let mode = match arguments.first() {
                    Some(AbstractValue::Int(0)) => Mode::Off,
                    Some(AbstractValue::Int(1)) => Mode::On,
                    _ => Mode::Unsure,
                };
                // At the top level of a file the switch holds for the whole program.
                let is_global = self.frames.last().is_none_or(|frame| frame.function.is_none());
                let from = if is_global { 0 } else { self.modes.len().saturating_sub(1) };
                self.modes.iter_mut().skip(from).for_each(|it| *it = mode);
                AbstractValue::Nothing
            }
            "float" | "int" | "bool" => {
                self.note_reads(arguments);
                AbstractValue::Plain
            }
            "torch.nn.Parameter" | "torch.nn.parameter.Parameter" => {
                let parameter = TensorValue::new(Graph::Recorded, TensorDevice::Unsure);
                AbstractValue::Tensor(TensorValue { is_leaf: true, ..parameter })
            }
            "copy.deepcopy" => arguments.first().map_or(AbstractValue::Unknown, |it| self.deep_copy(it, 4)),
            "range" | "len" | "str" | "round" | "repr" | "hash" | "id" | "ord" | "chr" | "time.time"
            | "time.perf_counter" | "os.path.join" | "math.exp" | "math.log" | "math.sqrt" | "math.isnan"
            | "math.isfinite" | "numpy.mean" | "numpy.array" | "isinstance" | "hasattr" | "print" | "callable"
            | "issubclass" => AbstractValue::Plain,
            "functools.partial" => self.partial(syntax.and_then(|it| it.arguments.args.first()), arguments),
            "functools.wraps"
            | "functools.lru_cache"
            | "functools.cache"
            | "staticmethod"
            | "classmethod"
            | "property" => AbstractValue::Unknown,
            "getattr" => match (arguments.first(), arguments.positional.get(1)) {
                (Some(base), Some(AbstractValue::Text(name))) => self.attribute_of(base, name),
                _ => AbstractValue::Unknown,
            },
            "dataclasses.field" => {
                let object = self.new_object(ObjectKind::Attributes);
                let factory = keyword(syntax, "default_factory");
                self.set_factory(object, arguments, factory);
                object
            }
            _ => self.call_collection(path, syntax, arguments, at),
        }
    }

    /// Functions whose result has no graph, and `torch.autograd.grad`.
    fn end_graph(&mut self, path: &str, arguments: &CallArguments<'a>, at: NodeId) -> AbstractValue<'a> {
        if path.starts_with("torch.autograd") {
            self.note_uses(arguments);
            return self.gradient(arguments, at);
        }
        self.note_reads(arguments);
        AbstractValue::Tensor(TensorValue::new(Graph::Absent, TensorDevice::Unsure))
    }

    /// `torch.autograd.grad`: with `create_graph=True` the gradients have a graph.
    fn gradient(&mut self, arguments: &CallArguments<'a>, at: NodeId) -> AbstractValue<'a> {
        let loss = arguments.first().and_then(AbstractValue::tensor);
        self.note_backward(loss, arguments, at);
        let creates =
            arguments.named.iter().any(|(name, value)| *name == "create_graph" && *value == AbstractValue::Int(1));
        let mut tensor = TensorValue::new(Graph::Absent, TensorDevice::Unsure);
        if creates && self.mode() == Mode::On {
            let sources = self.note_gradient(at) | loss.map_or(0, |it| it.sources);
            tensor = TensorValue { graph: Graph::Recorded, sources, ..tensor };
        }
        AbstractValue::Tensor(tensor)
    }

    /// Copies an object with the modules in its fields.
    fn deep_copy(&mut self, value: AbstractValue<'a>, left: u32) -> AbstractValue<'a> {
        let (Some(id), Some(left)) = (value.object(), left.checked_sub(1)) else { return value };
        let original = self.object(id).clone();
        let copy = self.allocate(original.kind);
        let born = self.object(copy).born;
        let fields: Vec<_> = original.fields.iter().map(|(name, value)| (*name, *value)).collect();
        *self.object_mut(copy) = super::HeapObject { born, is_copy: true, is_optimized: false, ..original };
        for (name, value) in fields {
            let value = self.deep_copy(value, left);
            self.object_mut(copy).fields.insert(name, value);
        }
        AbstractValue::Object(copy)
    }

    fn partial(&mut self, named: Option<&'a Expr>, arguments: &CallArguments<'a>) -> AbstractValue<'a> {
        let Some((function, rest)) = arguments.positional.split_first() else { return AbstractValue::Unknown };
        let library = named.filter(|it| matches!(function, AbstractValue::Unknown) && self.model.path(it).is_some());
        let function = match library {
            Some(it) => {
                let node = self.node(it);
                self.new_object(ObjectKind::LibraryFunction(node))
            }
            None => *function,
        };
        let id = self.allocate(ObjectKind::Partial(function));
        let object = self.object_mut(id);
        object.elements = rest.to_vec();
        object.entries = arguments.named.iter().copied().collect();
        AbstractValue::Object(id)
    }

    /// PyTorch and libraries around it.
    pub(super) fn call_torch(
        &mut self,
        path: &str,
        syntax: Option<&'a ExprCall>,
        arguments: &CallArguments<'a>,
        at: NodeId,
    ) -> AbstractValue<'a> {
        if library::makes_tensor(path) {
            let device = match arguments.get("device", usize::MAX) {
                Some(AbstractValue::Text(name)) if name.starts_with("cuda") => TensorDevice::Gpu,
                Some(_) => keyword(syntax, "device").map_or(TensorDevice::Unsure, |it| self.model.device_of(it)),
                None => TensorDevice::Host,
            };
            let holds_graph = matches!(path, "torch.zeros_like" | "torch.ones_like" | "torch.empty_like");
            let device = if holds_graph { TensorDevice::Unsure } else { device };
            return AbstractValue::Tensor(TensorValue::new(Graph::Absent, device));
        }
        if library::ends_graph(path) {
            return self.end_graph(path, arguments, at);
        }
        if library::keeps_module(path) {
            return arguments.first().unwrap_or(AbstractValue::Unknown);
        }
        if library::makes_optimizer(path) {
            return self.optimizer(arguments);
        }
        if library::computes(path) || library::keeps_graph(path) {
            return self.compute(arguments);
        }
        let kind = match path {
            _ if library::is_parameterless(path) => ObjectKind::Operation,
            _ if library::makes_scaler(path) => ObjectKind::Scaler,
            _ if library::makes_loader(path) => ObjectKind::Loader,
            _ if library::makes_module(path) => ObjectKind::Module,
            _ => {
                self.escape(arguments);
                if path == "torch.autograd.backward" {
                    if syntax.is_none() {
                        self.note_work(|work| work.backwards += 1);
                    }
                    let loss = arguments.first().and_then(AbstractValue::tensor);
                    self.note_backward(loss, arguments, at);
                    return AbstractValue::Nothing;
                }
                return self.value_of_foreign(path, arguments);
            }
        };
        let object = self.new_object(kind);
        if let Some(id) = object.object().filter(|_| matches!(path, "torch.nn.Sequential" | "torch.nn.ModuleList")) {
            let parts = self.parts_given(arguments);
            self.object_mut(id).elements = parts;
        }
        if let Some(id) = object.object().filter(|_| path.ends_with(".from_pretrained")) {
            self.object_mut(id).is_loaded = true;
            // `PeftModel.from_pretrained` freezes all weights without `is_trainable=True`.
            let is_adapter = path.starts_with("peft.") && arguments.get("is_trainable", usize::MAX).is_none();
            self.object_mut(id).is_frozen = is_adapter;
        }
        object
    }

    /// Returns the modules given to `nn.Sequential(...)` or `nn.ModuleList([...])`.
    fn parts_given(&self, arguments: &CallArguments<'a>) -> Vec<AbstractValue<'a>> {
        let mut parts = Vec::new();
        for value in arguments.all() {
            let Some(id) = value.object() else { continue };
            let object = self.object(id);
            if object.is_container() {
                parts.extend(object.elements.iter().copied().chain(object.content));
            } else {
                parts.push(value);
            }
        }
        parts.retain(|it| it.object().is_some());
        parts
    }

    /// `freeze(model)`, `deactivate_requires_grad(model)`: a function with such a name freezes the modules that it gets.
    pub(super) fn freeze_by_name(&mut self, syntax: &'a ExprCall) {
        if syntax.arguments.args.is_empty() {
            return;
        }
        let name = self.model.source(&*syntax.func).to_ascii_lowercase();
        let is_freezing = ["freeze", "requires_grad", "frozen"].iter().any(|word| name.contains(word));
        if !is_freezing || name.ends_with("requires_grad_") || name.contains("unfreeze") {
            return;
        }
        for argument in &*syntax.arguments.args {
            let id = match self.evaluate(argument) {
                AbstractValue::Object(id) if self.object(id).is_module => id,
                AbstractValue::Unknown => self.learn_module(argument),
                _ => continue,
            };
            self.each_part(id, 4, &mut |it| it.is_frozen = true);
        }
    }

    /// The result of a function of an unknown library. `hvd.allreduce(tensor)` returns a tensor of the same graph.
    fn value_of_foreign(&self, path: &str, arguments: &CallArguments<'a>) -> AbstractValue<'a> {
        match arguments.first() {
            Some(tensor @ AbstractValue::Tensor(_)) if path.ends_with("allreduce") || path.ends_with("all_reduce") => {
                tensor
            }
            _ => self.value_of_pure_call(arguments),
        }
    }

    fn optimizer(&mut self, arguments: &CallArguments<'a>) -> AbstractValue<'a> {
        let given: Vec<AbstractValue<'a>> = arguments.all().collect();
        let is_known = given.first().is_some_and(|it| !self.has_unknown_part(*it, 4));
        let training = &mut self.found.training;
        *(if is_known { &mut training.known_optimizers } else { &mut training.unknown_optimizers }) += 1;
        for value in given {
            self.optimize(value, 4);
        }
        self.new_object(ObjectKind::Optimizer)
    }

    /// Checks whether a part of the parameters of an optimizer is unknown.
    fn has_unknown_part(&self, value: AbstractValue<'a>, left: u32) -> bool {
        let (Some(id), Some(left)) = (value.object(), left.checked_sub(1)) else {
            return matches!(value, AbstractValue::Unknown);
        };
        let object = self.object(id);
        let mut parts = object.elements.iter().chain(object.entries.values()).copied().chain(object.content);
        object.is_container() && parts.any(|part| self.has_unknown_part(part, left))
    }

    /// Marks the modules whose parameters an optimizer gets.
    fn optimize(&mut self, value: AbstractValue<'a>, left: u32) {
        let (Some(id), Some(left)) = (value.object(), left.checked_sub(1)) else { return };
        if let ObjectKind::ParameterOf(module) = self.object(id).kind {
            self.mark_optimized(module, 4);
            return;
        }
        let object = self.object(id);
        let parts: Vec<AbstractValue<'a>> =
            object.elements.iter().chain(object.entries.values()).copied().chain(object.content).collect();
        for part in parts {
            self.optimize(part, left);
        }
    }

    /// Marks a module and its parts.
    pub(super) fn mark_optimized(&mut self, module: ObjectId, left: u32) {
        self.each_part(module, left, &mut |object| object.is_optimized = true);
    }

    /// Visits a module and the modules in its fields.
    pub(super) fn each_part(&mut self, module: ObjectId, left: u32, visit: &mut dyn FnMut(&mut super::HeapObject<'a>)) {
        visit(self.object_mut(module));
        let Some(left) = left.checked_sub(1) else { return };
        let object = self.object(module);
        let parts: Vec<ObjectId> =
            object.fields.values().chain(&object.elements).filter_map(|it| it.object()).collect();
        for part in parts {
            if self.object(part).is_module && part != module {
                self.each_part(part, left, visit);
            }
        }
    }

    /// Returns the result of a computation on the arguments.
    pub(super) fn compute(&mut self, arguments: &CallArguments<'a>) -> AbstractValue<'a> {
        let mut found: Option<AbstractValue<'a>> = None;
        for value in arguments.all() {
            let value = match value {
                AbstractValue::Object(id) if self.object(id).is_container() => self.object(id).any_element(),
                AbstractValue::Object(_) | AbstractValue::Function(..) | AbstractValue::Class(_) => continue,
                value => value,
            };
            found = Some(found.map_or(value, |before| match (before, value) {
                (AbstractValue::Tensor(one), AbstractValue::Tensor(other)) => AbstractValue::Tensor(one.with(other)),
                (one, other) => existing(one, other),
            }));
        }
        match found {
            Some(AbstractValue::Tensor(tensor)) if self.mode() == Mode::Off => {
                self.note_read(tensor);
                AbstractValue::Tensor(tensor.detached())
            }
            Some(AbstractValue::Tensor(tensor)) => {
                AbstractValue::Tensor(TensorValue { is_scaled: false, is_leaf: false, ..tensor.computed() })
            }
            _ => {
                let graph = if self.mode() == Mode::Off { Graph::Absent } else { Graph::Unsure };
                AbstractValue::Tensor(TensorValue::new(graph, TensorDevice::Unsure))
            }
        }
    }
}

fn keyword<'a>(syntax: Option<&'a ExprCall>, name: &str) -> Option<&'a Expr> {
    syntax?.arguments.find_keyword(name).map(|it| &it.value)
}
