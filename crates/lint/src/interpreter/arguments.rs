//! The arguments of a call, and their binding to parameters.

use ruff_python_ast::{Expr, ExprCall};

use super::value::{AbstractValue, EnvId, ObjectKind};
use super::{FunctionId, Interpreter};

/// The values that a call passes.
#[derive(Clone, Debug, Default)]
pub(super) struct CallArguments<'a> {
    pub(super) positional: Vec<AbstractValue<'a>>,
    pub(super) named: Vec<(&'a str, AbstractValue<'a>)>,
    /// Elements of an unpacked sequence of unknown length.
    pub(super) rest: Option<AbstractValue<'a>>,
    /// Elements of an unpacked mapping with unknown keys.
    pub(super) named_rest: Option<AbstractValue<'a>>,
    /// True if nothing is known of the arguments.
    pub(super) are_unknown: bool,
}

impl<'a> CallArguments<'a> {
    pub(super) fn unknown() -> CallArguments<'a> {
        CallArguments { are_unknown: true, ..CallArguments::default() }
    }

    pub(super) fn of(values: Vec<AbstractValue<'a>>) -> CallArguments<'a> {
        CallArguments { positional: values, ..CallArguments::default() }
    }

    /// Returns the argument of a parameter by name or position.
    pub(super) fn get(&self, name: &str, position: usize) -> Option<AbstractValue<'a>> {
        let named = self.named.iter().find(|(it, _)| *it == name).map(|(_, value)| *value);
        named.or_else(|| self.positional.get(position).copied())
    }

    pub(super) fn first(&self) -> Option<AbstractValue<'a>> {
        self.positional.first().copied()
    }

    /// Iterates over all passed values.
    pub(super) fn all(&self) -> impl Iterator<Item = AbstractValue<'a>> + '_ {
        let named = self.named.iter().map(|(_, value)| *value);
        self.positional.iter().copied().chain(named).chain(self.rest).chain(self.named_rest)
    }
}

impl<'a> Interpreter<'_, 'a> {
    /// Evaluates the arguments of a call.
    pub(super) fn arguments(&mut self, call: &'a ExprCall) -> CallArguments<'a> {
        let mut arguments = CallArguments::default();
        for argument in &call.arguments.args {
            if let Expr::Starred(starred) = argument {
                let value = self.evaluate(&starred.value);
                match self.elements_of(value) {
                    Some(elements) => arguments.positional.extend(elements),
                    None => arguments.rest = Some(self.element_of(value)),
                }
            } else {
                let value = self.evaluate(argument);
                arguments.positional.push(value);
            }
        }
        for keyword in &call.arguments.keywords {
            let value = self.evaluate(&keyword.value);
            match &keyword.arg {
                Some(name) => arguments.named.push((name.as_str(), value)),
                None => self.unpack_mapping(value, &mut arguments),
            }
        }
        arguments
    }

    fn unpack_mapping(&mut self, value: AbstractValue<'a>, arguments: &mut CallArguments<'a>) {
        let Some(id) = value.object() else {
            arguments.named_rest = Some(AbstractValue::Unknown);
            return;
        };
        let object = self.object(id);
        arguments.named.extend(object.entries.iter().map(|(name, value)| (*name, *value)));
        if let Some(content) = object.content {
            arguments.named_rest = Some(content);
        }
    }

    /// Binds the parameters of a function in its namespace.
    pub(super) fn bind_parameters(
        &mut self,
        function: FunctionId,
        env: EnvId,
        receiver: Option<AbstractValue<'a>>,
        arguments: &CallArguments<'a>,
    ) {
        let parameters = &self.model.tree.functions[function.index()].syntax.parameters;
        let mut positional = receiver.into_iter().chain(arguments.positional.iter().copied());
        let defaults = self.defaults.get(&function).cloned().unwrap_or_default();
        let mut used = Vec::new();
        let by_position = parameters.posonlyargs.len() + parameters.args.len();
        for (index, parameter) in parameters.iter_non_variadic_params().enumerate() {
            let name = parameter.parameter.name.as_str();
            let given = if index < by_position { positional.next() } else { None };
            let named = arguments.named.iter().find(|(it, _)| *it == name).map(|(_, value)| *value);
            used.push(name);
            let default = defaults.get(index).copied().flatten();
            let rest = arguments.rest.filter(|_| index < by_position).or(arguments.named_rest);
            let value = given.or(named).or(rest).or(if arguments.are_unknown {
                default.filter(|it| matches!(it, AbstractValue::Object(_) | AbstractValue::Text(_)))
            } else {
                default
            });
            let value = value.unwrap_or(AbstractValue::Unknown);
            let value = match (value, parameter.parameter.annotation.as_deref()) {
                // `Model: nn.Module` is a class.
                (AbstractValue::Unknown, Some(_)) if name.starts_with(char::is_uppercase) => AbstractValue::Unknown,
                (AbstractValue::Unknown, Some(annotation)) => self.annotated(annotation),
                (value, _) => value,
            };
            self.set_variable(env, name, value);
        }
        if let Some(rest) = &parameters.vararg {
            let tuple = self.allocate(ObjectKind::Tuple);
            self.object_mut(tuple).elements = positional.collect();
            if arguments.rest.is_some() || arguments.are_unknown {
                self.object_mut(tuple).content = Some(arguments.rest.unwrap_or(AbstractValue::Unknown));
            }
            self.set_variable(env, rest.name.as_str(), AbstractValue::Object(tuple));
        }
        if let Some(rest) = &parameters.kwarg {
            let dict = self.allocate(ObjectKind::Dict);
            let named = arguments.named.iter().filter(|(name, _)| !used.contains(name)).copied();
            self.object_mut(dict).entries = named.collect();
            let content = arguments.named_rest.or(arguments.are_unknown.then_some(AbstractValue::Unknown));
            self.object_mut(dict).content = content;
            self.set_variable(env, rest.name.as_str(), AbstractValue::Object(dict));
        }
    }

    /// Returns the value that an annotation promises.
    fn annotated(&mut self, annotation: &'a Expr) -> AbstractValue<'a> {
        if let Some(class) = self.model.named(annotation).and_then(|it| self.model.class_of(it)) {
            return self.instantiate(class, &CallArguments::unknown());
        }
        match self.model.path(annotation).as_deref() {
            Some("torch.nn.Module" | "torch.nn.Sequential") => self.new_object(ObjectKind::Module),
            Some("torch.optim.Optimizer") => self.new_object(ObjectKind::Optimizer),
            Some("torch.utils.data.DataLoader") => self.new_object(ObjectKind::Loader),
            Some("int" | "float" | "str" | "bool") => AbstractValue::Plain,
            _ => AbstractValue::Unknown,
        }
    }
}
