//! Instances of classes: how they are made, and the forwards of modules.

use super::arguments::CallArguments;
use super::value::{AbstractValue, ObjectId, ObjectKind, TensorValue};
use super::{ClassId, Interpreter, Mode};
use crate::semantics::{Graph, TensorDevice};

impl<'a> Interpreter<'_, 'a> {
    /// Calls an instance: `forward` of a module, `__call__` of another class.
    pub(super) fn call_instance(
        &mut self,
        id: ObjectId,
        arguments: &CallArguments<'a>,
        at: super::NodeId,
    ) -> AbstractValue<'a> {
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

    pub(super) fn has_recorded(&self, arguments: &CallArguments<'a>) -> bool {
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
    pub(super) fn run_parts(&mut self, id: ObjectId, arguments: &CallArguments<'a>) {
        let parts = self.object(id).elements.clone();
        let outer = std::mem::replace(&mut self.is_in_parts, true);
        for part in parts.into_iter().filter_map(AbstractValue::object) {
            if matches!(self.object(part).kind, ObjectKind::Instance(_)) {
                let input = AbstractValue::Tensor(self.output_of(id, arguments));
                self.call_instance(part, &CallArguments::of(vec![input]), super::NodeId(0));
            }
        }
        self.is_in_parts = outer;
    }

    pub(super) fn output_of(&self, id: ObjectId, arguments: &CallArguments<'a>) -> TensorValue {
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
        let through = joined.map_or(0, |it| it.kept | it.added | it.through);
        let through = if graph == Graph::Recorded { through } else { 0 };
        let sources = joined.map_or(0, |it| it.sources);
        let sources = if graph == Graph::Recorded { sources } else { 0 };
        TensorValue {
            graph,
            device: TensorDevice::Unsure,
            kept: 0,
            added: 0,
            through,
            is_output: true,
            is_scaled: false,
            is_leaf: false,
            sources,
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
    pub(super) fn fill_fields(&mut self, id: ObjectId, class: ClassId, arguments: &CallArguments<'a>) {
        let mut position = 0;
        for owner in self.model.own_and_bases(class).into_iter().rev() {
            let Some(env) = self.class_env(owner) else { continue };
            for name in self.model.annotated_fields(owner) {
                let default = self.envs[env.0 as usize].variables.get(name).copied();
                let given = arguments.get(name, position);
                position += 1;
                let value =
                    given.or_else(|| default.map(|it| self.default_of_field(it))).unwrap_or(AbstractValue::Unknown);
                self.object_mut(id).fields.insert(name, value);
            }
        }
    }

    /// `field(default_factory=list)` makes a new list for each object.
    pub(super) fn default_of_field(&mut self, default: AbstractValue<'a>) -> AbstractValue<'a> {
        match default.object().and_then(|id| self.object(id).factory) {
            Some(factory) => self.apply(factory, &CallArguments::default()),
            None => default,
        }
    }

    /// `super().method(...)`: the method of the next class after that of the running function.
    pub(super) fn call_super(&mut self, name: &str, arguments: &CallArguments<'a>) -> AbstractValue<'a> {
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
