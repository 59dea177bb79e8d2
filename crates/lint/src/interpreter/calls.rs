//! Calls: of functions, classes and methods of the tree, of modules, and of values that are called.

use ruff_python_ast::{Expr, ExprAttribute, ExprCall};

use super::arguments::CallArguments;
use super::unknown::{is_called_module, root_name};
use super::value::{AbstractValue, EnvId, ObjectId, ObjectKind};
use super::{CallFrame, FunctionId, Interpreter, MOST_CALLS, NodeId};
use crate::semantics::data::Syntax;
use crate::semantics::is_called_optimizer;

impl<'a> Interpreter<'_, 'a> {
    pub(super) fn value_of_call(&mut self, expression: &'a Expr, syntax: &'a ExprCall) -> AbstractValue<'a> {
        let Some(call) = self.model.call(expression) else { return AbstractValue::Unknown };
        let at = call.id;
        let outer = std::mem::replace(&mut self.call, at);
        let value = self.value_of_call_at(expression, syntax, at);
        self.call = outer;
        value
    }

    fn value_of_call_at(&mut self, expression: &'a Expr, syntax: &'a ExprCall, at: NodeId) -> AbstractValue<'a> {
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

    pub(super) fn call_attribute(
        &mut self,
        receiver: AbstractValue<'a>,
        attribute: &'a ExprAttribute,
        arguments: &CallArguments<'a>,
        at: NodeId,
    ) -> AbstractValue<'a> {
        let name = attribute.attr.as_str();
        self.note_training(receiver, &attribute.value, name, arguments, at);
        if matches!(name, "backward" | "manual_backward") {
            self.note_use(receiver);
            self.note_uses(arguments);
        }
        if let AbstractValue::Object(id) = receiver {
            if let Some((function, env)) = self.method_function(id, name) {
                let first = (!self.model.is_static(function)).then_some(receiver);
                return self.call_function(function, env, first, arguments);
            }
            if let Some(value) = self.field(id, name) {
                return self.call_field((id, value), attribute, arguments, at);
            }
            return self.call_method_of_object(id, attribute, arguments, at);
        }
        match receiver {
            AbstractValue::Tensor(tensor) => self.call_method_of_tensor(tensor, attribute, arguments),
            AbstractValue::File(_) | AbstractValue::Class(_) | AbstractValue::Function(..) => {
                let function = self.attribute_of(receiver, name);
                self.apply_at(function, arguments, at)
            }
            _ => self.call_method_of_unknown(attribute, arguments, at),
        }
    }

    /// Calls what a field of an object holds.
    fn call_field(
        &mut self,
        (id, value): (ObjectId, AbstractValue<'a>),
        attribute: &'a ExprAttribute,
        arguments: &CallArguments<'a>,
        at: NodeId,
    ) -> AbstractValue<'a> {
        if !matches!(value, AbstractValue::Unknown) {
            return self.apply_at(value, arguments, at);
        }
        if self.object(id).is_module && arguments.all().next().is_some() {
            // A module keeps and calls what its constructor was given: a module.
            let part = self.part_of_module(id, attribute.attr.as_str());
            return self.apply_at(part, arguments, at);
        }
        self.value_of_unknown_call_of(attribute, arguments, at)
    }

    /// Calls a method of an unknown value; some tell that it is a module.
    fn call_method_of_unknown(
        &mut self,
        attribute: &'a ExprAttribute,
        arguments: &CallArguments<'a>,
        at: NodeId,
    ) -> AbstractValue<'a> {
        let base = &*attribute.value;
        match attribute.attr.as_str() {
            "item" | "tolist" | "numpy" | "size" => AbstractValue::Plain,
            "load_state_dict" if !is_called_optimizer(base) => {
                let module = self.learn_module(base);
                self.object_mut(module).is_guess = false;
                AbstractValue::Nothing
            }
            "eval" if arguments.all().next().is_none() => {
                let module = self.learn_module(base);
                self.object_mut(module).is_eval = Some(true);
                AbstractValue::Object(module)
            }
            "decode" | "encode" | "forward" if is_called_module(root_name(base)) => {
                let module = self.learn_module(base);
                // Whether the module is frozen is unknown.
                self.object_mut(module).is_guess = true;
                self.forward_of_library(module, arguments, at)
            }
            _ => {
                self.escape(arguments);
                self.value_of_unknown_call_of(attribute, arguments, at)
            }
        }
    }

    /// Calls a value.
    pub(super) fn apply(&mut self, function: AbstractValue<'a>, arguments: &CallArguments<'a>) -> AbstractValue<'a> {
        self.apply_at(function, arguments, NodeId(0))
    }

    pub(super) fn apply_at(
        &mut self,
        function: AbstractValue<'a>,
        arguments: &CallArguments<'a>,
        at: NodeId,
    ) -> AbstractValue<'a> {
        match function {
            AbstractValue::Function(function, env) => self.call_function(function, env, None, arguments),
            AbstractValue::Class(class) => self.instantiate(class, arguments),
            AbstractValue::Object(id) => self.apply_object(id, arguments, at),
            _ => AbstractValue::Unknown,
        }
    }

    fn apply_object(&mut self, id: ObjectId, arguments: &CallArguments<'a>, at: NodeId) -> AbstractValue<'a> {
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

    fn call_lambda(&mut self, node: NodeId, around: EnvId, arguments: &CallArguments<'a>) -> AbstractValue<'a> {
        let Syntax::Expression(Expr::Lambda(lambda)) = self.model.node(node).syntax else {
            return AbstractValue::Unknown;
        };
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
}

fn is_super(expression: &Expr) -> bool {
    let function = expression.as_call_expr().and_then(|call| call.func.as_name_expr());
    function.is_some_and(|name| name.id.as_str() == "super")
}
