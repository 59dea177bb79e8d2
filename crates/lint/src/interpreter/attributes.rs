//! Attributes of objects, classes, files and tensors.

use ruff_python_ast::ExprAttribute;

use super::value::{AbstractValue, EnvId, ObjectId, ObjectKind, TensorValue};
use super::{FunctionId, Interpreter};
use crate::semantics::{Gives, TensorDevice, is_module_method, tensor_part};

impl<'a> Interpreter<'_, 'a> {
    pub(super) fn value_of_attribute(&mut self, attribute: &'a ExprAttribute) -> AbstractValue<'a> {
        let base = self.evaluate(&attribute.value);
        let name = attribute.attr.as_str();
        let known = self.attribute_of(base, name);
        if !matches!(known, AbstractValue::Unknown) {
            return known;
        }
        let Some(definition) = attribute.value.as_name_expr().map(|it| self.model.definition(it)) else {
            return AbstractValue::Unknown;
        };
        if self.model.is_backwarded_attribute(definition, name) {
            return AbstractValue::Tensor(TensorValue::new(self.graph_of_mode(), TensorDevice::Unsure));
        }
        if self.model.is_module_attribute_by_use(definition, name) {
            let module = self.new_object(ObjectKind::Module);
            if let AbstractValue::Object(id) = base {
                self.object_mut(id).fields.insert(name, module);
            }
            return module;
        }
        AbstractValue::Unknown
    }

    /// Returns an attribute of a value.
    pub(super) fn attribute_of(&mut self, base: AbstractValue<'a>, name: &'a str) -> AbstractValue<'a> {
        match base {
            AbstractValue::Tensor(tensor) => match tensor_part(name) {
                Some(Gives::Plain) => AbstractValue::Plain,
                Some(Gives::Detached) => AbstractValue::Tensor(tensor.detached()),
                Some(_) => base,
                // `out.itm_loss`, `out.feats`: a part of a model's output.
                None if tensor.is_output && !is_module_method(name) => base,
                None => AbstractValue::Unknown,
            },
            AbstractValue::File(file) => {
                let env = self.run_file(file);
                env.and_then(|env| self.variable(env, name)).map_or(AbstractValue::Unknown, |(_, value)| value)
            }
            AbstractValue::Function(function, _) => {
                let id = self.attributes_of(function);
                self.object(id).fields.get(name).copied().unwrap_or(AbstractValue::Unknown)
            }
            AbstractValue::Class(class) => {
                let env = self.class_env(class);
                let known = env.and_then(|env| self.envs[env.0 as usize].variables.get(name).copied());
                known.unwrap_or(AbstractValue::Unknown)
            }
            AbstractValue::Object(id) => self.attribute_of_object(id, name),
            _ => AbstractValue::Unknown,
        }
    }

    pub(super) fn attribute_of_object(&mut self, id: ObjectId, name: &'a str) -> AbstractValue<'a> {
        if let Some(value) = self.field(id, name) {
            return value;
        }
        if let Some((function, env)) = self.method_function(id, name) {
            if self.model.is_property(function) {
                return self.call_function(
                    function,
                    env,
                    Some(AbstractValue::Object(id)),
                    &super::arguments::CallArguments::default(),
                );
            }
            return self.new_object(ObjectKind::Method(AbstractValue::Object(id), function));
        }
        match self.object(id).kind {
            ObjectKind::Module if name == "module" => AbstractValue::Object(id),
            ObjectKind::List | ObjectKind::Dict => {
                self.new_object(ObjectKind::LibraryMethod(AbstractValue::Object(id), name))
            }
            // A part of a module: its state follows the whole.
            ObjectKind::Module if !is_module_method(name) => self.part_of_module(id, name),
            _ => AbstractValue::Unknown,
        }
    }

    /// Returns a submodule of a library's module.
    pub(super) fn part_of_module(&mut self, id: ObjectId, name: &'a str) -> AbstractValue<'a> {
        let is_data = [
            "config",
            "device",
            "dtype",
            "training",
            "loss",
            "weight",
            "bias",
            "shape",
            "name",
            "num_",
            "hidden_size",
            "n_",
            "dim",
        ];
        if is_data.iter().any(|it| name.starts_with(it) || name.ends_with(it)) {
            return AbstractValue::Unknown;
        }
        let part = self.allocate(ObjectKind::Module);
        let whole = self.object(id).clone();
        let object = self.object_mut(part);
        (object.is_eval, object.is_frozen, object.is_optimized) = (whole.is_eval, whole.is_frozen, whole.is_optimized);
        object.born = whole.born;
        self.object_mut(id).fields.insert(name, AbstractValue::Object(part));
        AbstractValue::Object(part)
    }

    /// Returns a method of a class of the tree, with the namespace of its class.
    pub(super) fn method_function(&mut self, id: ObjectId, name: &str) -> Option<(FunctionId, EnvId)> {
        let ObjectKind::Instance(class) = self.object(id).kind else { return None };
        let owner = self
            .model
            .own_and_bases(class)
            .into_iter()
            .find(|it| self.model.tree.classes[it.index()].methods.contains_key(name))?;
        let function = *self.model.tree.classes[owner.index()].methods.get(name)?;
        let env = self.class_env(owner)?;
        // A method does not see the names of its class.
        Some((function, self.envs[env.0 as usize].around.unwrap_or(env)))
    }
}
