//! Calls: of functions, classes and methods of the tree, of modules, and of values that are called.

use ruff_python_ast::{Expr, ExprCall};

use super::arguments::CallArguments;
use super::value::{EnvId, ObjectId, ObjectKind, TensorValue, AbstractValue};
use super::{ClassId, CallFrame, FunctionId, Interpreter, MOST_CALLS, Mode};
use crate::semantics::data::Syntax;
use crate::semantics::{Graph, TensorDevice, is_called_optimizer};

impl<'a> Interpreter<'_, 'a> {
    pub(super) fn value_of_call(&mut self, expression: &'a Expr, syntax: &'a ExprCall) -> AbstractValue<'a> {
        let Some(call) = self.model.call(expression) else { return AbstractValue::Unknown };
        let at = call.id;
        let outer = std::mem::replace(&mut self.call, at);
        let value = self.value_of_call_at(expression, syntax, at);
        self.call = outer;
        value
    }

    fn value_of_call_at(&mut self, expression: &'a Expr, syntax: &'a ExprCall, at: super::NodeId) -> AbstractValue<'a> {
        let Some(call) = self.model.call(expression) else { return AbstractValue::Unknown };
        self.note_training_call(expression);
        self.freeze_by_name(syntax);
        if let Some(path) = call.path.as_deref().or_else(|| self.model.builtin(&syntax.func)) {
            let arguments = self.arguments(syntax);
            return self.call_library(path, Some(syntax), &arguments, at);
        }
        if let Expr::Attribute(attribute) = &*syntax.func {
            if is_super(&attribute.value) {
                let arguments = self.arguments(syntax);
                return self.call_super(attribute.attr.as_str(), &arguments);
            }
            let receiver = self.evaluate(&attribute.value);
            let arguments = self.arguments(syntax);
            return self.call_attribute(receiver, attribute, &arguments, at);
        }
        let function = self.evaluate(&syntax.func);
        let arguments = self.arguments(syntax);
        let value = self.apply_at(function, &arguments, at);
        if matches!(function, AbstractValue::Unknown) {
            self.escape(&arguments);
            return self.value_of_unknown_call(&syntax.func, &arguments, at);
        }
        value
    }

    /// Notes a backward or a step.
    fn note_training_call(&mut self, expression: &'a Expr) {
        let Some(call) = self.model.call(expression) else { return };
        if self.model.backward_subject(call).is_some() {
            self.note_work(|work| work.backwards += 1);
        } else if call.is("torch.autograd.grad") || call.is_method("requires_grad_") && call.syntax.arguments.is_empty()
        {
            self.note_work(|work| work.grads += 1);
        } else if call.is_method("step")
            && call.method().is_some_and(|(receiver, _)| {
                self.model.is_optimizer_step(call) || crate::semantics::is_called_optimizer(receiver)
            })
        {
            self.note_work(|work| work.steps += 1);
        }
    }

    /// A call of an unknown value that is named like a module: `net(x)`.
    fn value_of_unknown_call(&mut self, function: &'a Expr, arguments: &CallArguments<'a>, at: super::NodeId) -> AbstractValue<'a> {
        let name = match function {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(it) => it.attr.as_str(),
            _ => return AbstractValue::Unknown,
        };
        if !is_called_module(name) {
            return self.value_of_pure_call(arguments);
        }
        let module = self.new_object(ObjectKind::Module);
        let id = module.object().unwrap_or(ObjectId(0));
        match function {
            Expr::Name(name) => {
                if let Some((env, _)) = self.variable(self.env(), name.id.as_str()) {
                    self.set_variable(env, name.id.as_str(), module);
                }
            }
            Expr::Attribute(it) => {
                if let AbstractValue::Object(base) = self.evaluate(&it.value) {
                    self.object_mut(base).fields.insert(it.attr.as_str(), module);
                }
            }
            _ => {}
        }
        self.forward_of_library(id, arguments, at)
    }

    /// The result of an unknown function: with a recorded argument it is likely a tensor of the same graph, but nothing is certain.
    pub(super) fn value_of_pure_call(&self, arguments: &CallArguments<'a>) -> AbstractValue<'a> {
        let tensors = arguments.all().filter_map(|it| match it {
            AbstractValue::Tensor(tensor) => Some(tensor),
            AbstractValue::Object(id) if self.object(id).is_container() => self.object(id).any_element().tensor(),
            _ => None,
        });
        let joined = tensors.filter(|it| it.graph != Graph::Absent || it.is_output).reduce(TensorValue::with);
        joined.map_or(AbstractValue::Unknown, |it| {
            let graph = if self.mode() == Mode::Off { Graph::Absent } else { Graph::Unsure };
            AbstractValue::Tensor(TensorValue { graph, added: 0, through: 0, is_scaled: true, ..it })
        })
    }

    pub(super) fn call_attribute(
        &mut self,
        receiver: AbstractValue<'a>,
        attribute: &'a ruff_python_ast::ExprAttribute,
        arguments: &CallArguments<'a>,
        at: super::NodeId,
    ) -> AbstractValue<'a> {
        let name = attribute.attr.as_str();
        self.note_training(receiver, &attribute.value, name, arguments, at);
        if matches!(name, "backward" | "manual_backward") {
            self.note_use(receiver);
            arguments.all().collect::<Vec<_>>().into_iter().for_each(|it| self.note_use(it));
        }
        if let AbstractValue::Object(id) = receiver {
            if let Some((function, env)) = self.method_function(id, name) {
                let first = (!self.model.is_static(function)).then_some(receiver);
                return self.call_function(function, env, first, arguments);
            }
            if let Some(value) = self.field(id, name) {
                if matches!(value, AbstractValue::Unknown) && self.object(id).is_module && arguments.all().next().is_some() {
                    // A module keeps and calls what its constructor was given: a module.
                    let part = self.part_of_module(id, name);
                    return self.apply_at(part, arguments, at);
                }
                let result = self.apply_at(value, arguments, at);
                if matches!(value, AbstractValue::Unknown) {
                    return self.value_of_unknown_call_of(attribute, arguments, at);
                }
                return result;
            }
            return self.call_method_of_object(id, attribute, arguments, at);
        }
        match receiver {
            AbstractValue::Tensor(tensor) => self.call_method_of_tensor(tensor, attribute, arguments),
            AbstractValue::File(_) | AbstractValue::Class(_) | AbstractValue::Function(..) => {
                let function = self.attribute_of(receiver, name);
                self.apply_at(function, arguments, at)
            }
            _ if matches!(name, "item" | "tolist" | "numpy" | "size") => AbstractValue::Plain,
            _ if name == "load_state_dict" && !is_called_optimizer(&attribute.value) => {
                let module = self.learn_module(&attribute.value);
                self.object_mut(module).is_guess = false;
                AbstractValue::Nothing
            }
            _ if name == "eval" && arguments.all().next().is_none() => {
                let module = self.learn_module(&attribute.value);
                self.object_mut(module).is_eval = Some(true);
                AbstractValue::Object(module)
            }
            _ if matches!(name, "decode" | "encode" | "forward") && is_called_module(root_name(&attribute.value)) => {
                let module = self.learn_module(&attribute.value);
                self.forward_of_library(module, arguments, at)
            }
            _ => {
                self.escape(arguments);
                self.value_of_unknown_call_of(attribute, arguments, at)
            }
        }
    }

    /// Learns that an unknown value is a module: `net.cuda().eval()`.
    pub(super) fn learn_module(&mut self, mut expression: &'a Expr) -> ObjectId {
        let module = self.allocate(ObjectKind::Module);
        while let Expr::Call(call) = expression
            && let Expr::Attribute(attribute) = &*call.func
            && matches!(attribute.attr.as_str(), "to" | "cuda" | "half" | "float" | "bfloat16" | "cpu")
        {
            expression = &attribute.value;
        }
        // A name alone does not tell that the module has parameters.
        self.object_mut(module).is_guess =
            !is_called_module(root_name(expression)) || root_name(expression) == "module";
        match expression {
            Expr::Name(name) => {
                if let Some((env, _)) = self.variable(self.env(), name.id.as_str()) {
                    self.set_variable(env, name.id.as_str(), AbstractValue::Object(module));
                }
            }
            Expr::Attribute(it) => {
                if let AbstractValue::Object(base) = self.evaluate(&it.value) {
                    self.object_mut(base).fields.insert(it.attr.as_str(), AbstractValue::Object(module));
                }
            }
            _ => {}
        }
        module
    }

    fn value_of_unknown_call_of(
        &mut self,
        attribute: &'a ruff_python_ast::ExprAttribute,
        arguments: &CallArguments<'a>,
        at: super::NodeId,
    ) -> AbstractValue<'a> {
        let name = attribute.attr.as_str();
        if !is_called_module(name) {
            return self.value_of_pure_call(arguments);
        }
        let module = self.allocate(ObjectKind::Module);
        if let AbstractValue::Object(base) = self.evaluate(&attribute.value) {
            self.object_mut(base).fields.insert(name, AbstractValue::Object(module));
        }
        self.forward_of_library(module, arguments, at)
    }

    /// Calls a value.
    pub(super) fn apply(&mut self, function: AbstractValue<'a>, arguments: &CallArguments<'a>) -> AbstractValue<'a> {
        self.apply_at(function, arguments, super::NodeId(0))
    }

    pub(super) fn apply_at(&mut self, function: AbstractValue<'a>, arguments: &CallArguments<'a>, at: super::NodeId) -> AbstractValue<'a> {
        match function {
            AbstractValue::Function(function, env) => self.call_function(function, env, None, arguments),
            AbstractValue::Class(class) => self.instantiate(class, arguments),
            AbstractValue::Object(id) => self.apply_object(id, arguments, at),
            _ => AbstractValue::Unknown,
        }
    }

    fn apply_object(&mut self, id: ObjectId, arguments: &CallArguments<'a>, at: super::NodeId) -> AbstractValue<'a> {
        match self.object(id).kind {
            ObjectKind::Instance(_) => self.call_instance(id, arguments, at),
            ObjectKind::Module => self.forward_of_library(id, arguments, at),
            ObjectKind::Operation => self.compute(arguments),
            ObjectKind::Method(receiver, function) => {
                let env = receiver.object().and_then(|it| {
                    let name = self.model.tree.functions[function.index()].syntax.name.as_str();
                    self.method_function(it, name)
                });
                let env = env.map_or(EnvId(0), |(_, env)| env);
                let first = (!self.model.is_static(function)).then_some(receiver);
                self.call_function(function, env, first, arguments)
            }
            ObjectKind::LibraryMethod(receiver, name) => self.call_named_method(receiver, name, arguments, at),
            ObjectKind::Partial(function) => {
                let mut all = self.object(id).elements.clone();
                all.extend(arguments.positional.iter().copied());
                let mut named: Vec<_> = self.object(id).entries.iter().map(|(name, value)| (*name, *value)).collect();
                named.extend(arguments.named.iter().copied());
                self.apply_at(function, &CallArguments { positional: all, named, ..arguments.clone() }, at)
            }
            ObjectKind::LibraryFunction(node) => {
                let Syntax::Expression(function) = self.model.node(node).syntax else { return AbstractValue::Unknown };
                let path = self.model.path(function).map(|it| it.to_string());
                path.map_or(AbstractValue::Unknown, |path| self.call_library(&path, None, arguments, at))
            }
            ObjectKind::Lambda(node, env) => self.call_lambda(node, env, arguments),
            _ => AbstractValue::Unknown,
        }
    }

    fn call_lambda(&mut self, node: super::NodeId, around: EnvId, arguments: &CallArguments<'a>) -> AbstractValue<'a> {
        let Syntax::Expression(Expr::Lambda(lambda)) = self.model.node(node).syntax else { return AbstractValue::Unknown };
        if self.frames.len() > MOST_CALLS {
            return AbstractValue::Unknown;
        }
        let file = self.envs[around.0 as usize].file.0;
        let env = self.new_env(Some(around), file);
        let mut given = arguments.positional.iter();
        for parameter in lambda.parameters.iter().flat_map(|it| it.iter_non_variadic_params()) {
            let value = given.next().copied().unwrap_or(AbstractValue::Unknown);
            self.set_variable(env, parameter.parameter.name.as_str(), value);
        }
        let at = self.call;
        self.frames.push(CallFrame { function: None, env, returned: None, yielded: None, at, is_given_graph: false });
        let value = self.evaluate(&lambda.body);
        self.frames.pop();
        value
    }

    /// Calls an instance: `forward` of a module, `__call__` of another class.
    fn call_instance(&mut self, id: ObjectId, arguments: &CallArguments<'a>, at: super::NodeId) -> AbstractValue<'a> {
        let is_module = self.object(id).is_module;
        let name = if is_module { "forward" } else { "__call__" };
        let Some((function, env)) = self.method_function(id, name) else {
            return if is_module { self.forward_of_library(id, arguments, at) } else { AbstractValue::Unknown };
        };
        if !is_module {
            return self.call_function(function, env, Some(AbstractValue::Object(id)), arguments);
        }
        let has_graph = self.has_recorded(arguments);
        let site = self.note_forward(at, id, has_graph);
        let outer = self.forward;
        if site != 0 {
            self.forward = site;
        }
        let value = self.call_function(function, env, Some(AbstractValue::Object(id)), arguments);
        self.forward = outer;
        match value {
            AbstractValue::Unknown => {
                let output = self.output_of(id, arguments);
                AbstractValue::Tensor(TensorValue { sources: output.sources | site, ..output })
            }
            AbstractValue::Tensor(tensor) => {
                // Parameters of the module take part even where an operation is unknown.
                let graph = if tensor.graph == Graph::Unsure && !self.object(id).is_frozen {
                    self.graph_of_mode()
                } else {
                    tensor.graph
                };
                let sources = if graph == Graph::Recorded { tensor.sources | site } else { 0 };
                AbstractValue::Tensor(TensorValue { graph, is_output: true, sources, ..tensor })
            }
            value => value,
        }
    }

    fn has_recorded(&self, arguments: &CallArguments<'a>) -> bool {
        arguments.all().any(|it| self.holds(it, 2, &|it| it.is_recorded()))
    }

    /// Runs a module of a library.
    pub(super) fn forward_of_library(
        &mut self,
        id: ObjectId,
        arguments: &CallArguments<'a>,
        at: super::NodeId,
    ) -> AbstractValue<'a> {
        let has_graph = self.has_recorded(arguments);
        let site = self.note_forward(at, id, has_graph);
        self.run_parts(id, arguments);
        let output = self.output_of(id, arguments);
        let is_recorded = output.graph == Graph::Recorded;
        AbstractValue::Tensor(TensorValue { sources: if is_recorded { output.sources | site } else { 0 }, ..output })
    }

    /// Runs the modules of the tree in a `Sequential`, for what they keep.
    fn run_parts(&mut self, id: ObjectId, arguments: &CallArguments<'a>) {
        let parts = self.object(id).elements.clone();
        for part in parts.into_iter().filter_map(AbstractValue::object) {
            if matches!(self.object(part).kind, ObjectKind::Instance(_)) {
                let input = AbstractValue::Tensor(self.output_of(id, arguments));
                self.call_instance(part, &CallArguments::of(vec![input]), super::NodeId(0));
            }
        }
    }

    fn output_of(&self, id: ObjectId, arguments: &CallArguments<'a>) -> TensorValue {
        let inputs = arguments.all().filter_map(|it| match it {
            AbstractValue::Tensor(tensor) => Some(tensor),
            AbstractValue::Object(id) => self.object(id).any_element().tensor(),
            _ => None,
        });
        let joined = inputs.reduce(TensorValue::with);
        let is_frozen = self.object(id).is_frozen;
        let graph = match (is_frozen, joined) {
            (_, _) if self.mode() == Mode::Off => Graph::Absent,
            (true, Some(input)) => input.graph,
            (true, None) => Graph::Unsure,
            (false, _) => self.graph_of_mode(),
        };
        let through = joined.map_or(0, |it| it.added | it.through);
        let through = if graph == Graph::Recorded { through } else { 0 };
        let sources = joined.map_or(0, |it| it.sources);
        let sources = if graph == Graph::Recorded { sources } else { 0 };
        TensorValue {
            graph,
            device: TensorDevice::Unsure,
            added: 0,
            through,
            is_output: true,
            is_scaled: false,
            sources,
        }
    }

    /// Marks containers that unknown code gets: it may empty them.
    pub(super) fn escape(&mut self, arguments: &CallArguments<'a>) {
        let values: Vec<AbstractValue<'a>> = arguments.all().collect();
        values.iter().for_each(|&value| self.note_use(value));
        for id in values.into_iter().filter_map(AbstractValue::object) {
            if self.object(id).is_container() {
                self.object_mut(id).escaped = true;
            }
        }
    }

    /// Calls a function of the tree.
    pub(super) fn call_function(
        &mut self,
        function: FunctionId,
        around: EnvId,
        receiver: Option<AbstractValue<'a>>,
        arguments: &CallArguments<'a>,
    ) -> AbstractValue<'a> {
        let is_running = self.frames.iter().any(|frame| frame.function == Some(function));
        if is_running || self.calls >= MOST_CALLS || self.is_over() {
            return AbstractValue::Unknown;
        }
        self.calls += 1;
        let value = self.run_function(function, around, receiver, arguments);
        self.calls -= 1;
        value
    }

    fn run_function(
        &mut self,
        function: FunctionId,
        around: EnvId,
        receiver: Option<AbstractValue<'a>>,
        arguments: &CallArguments<'a>,
    ) -> AbstractValue<'a> {
        self.reached.insert(function);
        let syntax = self.model.tree.functions[function.index()].syntax;
        let mode = self.mode_of_call(function);
        let file = self.envs[around.0 as usize].file.0;
        let env = self.new_env(Some(around), file);
        self.bind_parameters(function, env, receiver, arguments);
        let yielded = self.model.is_generator(function).then(|| self.allocate(ObjectKind::Iterator));
        let at = self.call;
        let is_given_graph = self.has_recorded(arguments);
        self.frames.push(CallFrame { function: Some(function), env, returned: None, yielded, at, is_given_graph });
        self.modes.push(mode);
        self.block(&syntax.body);
        self.modes.pop();
        let returned = self.frames.pop().and_then(|frame| frame.returned);
        self.found.end_frame(self.frames.len());
        match yielded {
            Some(id) => AbstractValue::Object(id),
            None => returned.unwrap_or(AbstractValue::Nothing),
        }
    }

    /// Makes an instance of a class of the tree.
    pub(super) fn instantiate(&mut self, class: ClassId, arguments: &CallArguments<'a>) -> AbstractValue<'a> {
        let id = self.allocate(ObjectKind::Instance(class));
        self.object_mut(id).is_module = self.model.is_module_class(class);
        match self.method_function(id, "__init__") {
            Some((function, env)) => {
                self.call_function(function, env, Some(AbstractValue::Object(id)), arguments);
            }
            None => self.fill_fields(id, class, arguments),
        }
        AbstractValue::Object(id)
    }

    /// Sets the fields of a dataclass or a named tuple.
    fn fill_fields(&mut self, id: ObjectId, class: ClassId, arguments: &CallArguments<'a>) {
        let mut position = 0;
        for owner in self.model.own_and_bases(class).into_iter().rev() {
            let Some(env) = self.class_env(owner) else { continue };
            for name in self.model.annotated_fields(owner) {
                let default = self.envs[env.0 as usize].variables.get(name).copied();
                let given = arguments.get(name, position);
                position += 1;
                let value = given.or_else(|| default.map(|it| self.default_of_field(it))).unwrap_or(AbstractValue::Unknown);
                self.object_mut(id).fields.insert(name, value);
            }
        }
    }

    /// `field(default_factory=list)` makes a new list for each object.
    fn default_of_field(&mut self, default: AbstractValue<'a>) -> AbstractValue<'a> {
        match default.object().and_then(|id| self.object(id).factory) {
            Some(factory) => self.apply(factory, &CallArguments::default()),
            None => default,
        }
    }

    /// `super().method(...)`: the method of the next class after that of the running function.
    fn call_super(&mut self, name: &str, arguments: &CallArguments<'a>) -> AbstractValue<'a> {
        let Some(frame) = self.frames.last() else { return AbstractValue::Unknown };
        let (env, function) = (frame.env, frame.function);
        let owner = function.and_then(|it| self.model.tree.functions[it.index()].class);
        let receiver = self.variable(env, "self").map(|(_, value)| value);
        let (Some(owner), Some(AbstractValue::Object(id))) = (owner, receiver) else { return AbstractValue::Unknown };
        let ObjectKind::Instance(class) = self.object(id).kind else { return AbstractValue::Unknown };
        let classes = self.model.own_and_bases(class);
        let next = classes.into_iter().skip_while(|&it| it != owner).skip(1);
        let found = next.into_iter().find_map(|it| {
            let function = self.model.tree.classes[it.index()].methods.get(name).copied()?;
            Some((function, it))
        });
        let Some((function, class)) = found else { return AbstractValue::Unknown };
        let Some(env) = self.class_env(class) else { return AbstractValue::Unknown };
        let around = self.envs[env.0 as usize].around.unwrap_or(env);
        self.call_function(function, around, Some(AbstractValue::Object(id)), arguments)
    }
}

fn root_name(expression: &Expr) -> &str {
    match expression {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => "",
    }
}

fn is_super(expression: &Expr) -> bool {
    let function = expression.as_call_expr().and_then(|call| call.func.as_name_expr());
    function.is_some_and(|name| name.id.as_str() == "super")
}

/// Checks whether a name is one that programs give to modules.
pub(super) fn is_called_module(name: &str) -> bool {
    matches!(
        name,
        "model"
            | "net"
            | "network"
            | "encoder"
            | "decoder"
            | "generator"
            | "discriminator"
            | "backbone"
            | "unet"
            | "vae"
            | "policy"
            | "actor"
            | "critic"
            | "student"
            | "teacher"
            | "netG"
            | "netD"
            | "classifier"
            | "module"
            | "text_encoder"
            | "image_encoder"
            | "embedder"
            | "ref_model"
            | "reward_model"
            | "gen"
            | "dis"
            | "disc"
            | "G"
            | "D"
            | "policy_net"
            | "target_net"
            | "q_net"
            | "transformer"
    )
}
