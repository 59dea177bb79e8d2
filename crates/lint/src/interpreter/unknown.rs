//! Calls of unknown values, and guesses by the use.

use ruff_python_ast::Expr;

use super::arguments::CallArguments;
use super::value::{AbstractValue, ObjectId, ObjectKind, TensorValue};
use super::{Interpreter, Mode};
use crate::semantics::Graph;

impl<'a> Interpreter<'_, 'a> {
    /// A call of an unknown value with the name of a module: `net(x)`.
    pub(super) fn value_of_unknown_call(
        &mut self,
        function: &'a Expr,
        arguments: &CallArguments<'a>,
        at: super::NodeId,
    ) -> AbstractValue<'a> {
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

    /// The result of an unknown function: with a recorded argument, perhaps a tensor of the same graph.
    pub(super) fn value_of_pure_call(&self, arguments: &CallArguments<'a>) -> AbstractValue<'a> {
        let tensors = arguments.all().filter_map(|it| match it {
            AbstractValue::Tensor(tensor) => Some(tensor),
            AbstractValue::Object(id) if self.object(id).is_container() => self.object(id).any_element().tensor(),
            _ => None,
        });
        let joined = tensors.filter(|it| it.graph != Graph::Absent || it.is_output).reduce(TensorValue::with);
        joined.map_or(AbstractValue::Unknown, |it| {
            let graph = if self.mode() == Mode::Off { Graph::Absent } else { Graph::Unsure };
            AbstractValue::Tensor(TensorValue { graph, kept: 0, added: 0, through: 0, is_scaled: true, ..it })
        })
    }

    /// Makes an object of the class with a parameter's name: `ddpm` of `class DDPM`, `model` of the last module class of the file.
    pub(super) fn object_of_named_class(&mut self, name: &'a str) -> Option<AbstractValue<'a>> {
        if self.calls >= super::MOST_CALLS {
            return None;
        }
        let file = self.envs[self.env().0 as usize].file.0;
        let class = self.model.class_named_like(name, file)?;
        Some(self.instantiate(class, &CallArguments::unknown()))
    }

    /// Takes an unknown value for a module: `net.cuda().eval()`.
    pub(super) fn learn_module(&mut self, mut expression: &'a Expr) -> ObjectId {
        let module = self.allocate(ObjectKind::Module);
        while let Expr::Call(call) = expression
            && let Expr::Attribute(attribute) = &*call.func
            && matches!(attribute.attr.as_str(), "to" | "cuda" | "half" | "float" | "bfloat16" | "cpu")
        {
            expression = &attribute.value;
        }
        // By its name alone, the module may have no parameters.
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

    pub(super) fn value_of_unknown_call_of(
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

    /// Marks the containers passed to unknown code, where they may be emptied.
    pub(super) fn escape(&mut self, arguments: &CallArguments<'a>) {
        let values: Vec<AbstractValue<'a>> = arguments.all().collect();
        self.note_uses(arguments);
        for id in values.into_iter().filter_map(AbstractValue::object) {
            if self.object(id).is_container() {
                self.object_mut(id).escaped = true;
            }
        }
    }
}

/// Returns the last name of an expression.
pub(super) fn root_name(expression: &Expr) -> &str {
    match expression {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => "",
    }
}

/// Checks for a usual name of a module.
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
