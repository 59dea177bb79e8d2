//! Methods of tensors, collections, modules and optimizers.

use ruff_python_ast::{Expr, ExprAttribute};

use super::arguments::CallArguments;
use super::value::{AbstractValue, ObjectId, ObjectKind, TensorValue};
use super::{Interpreter, Mode, NodeId};
use crate::semantics::{Gives, Graph, TensorDevice, is_module_method, tensor_result};

impl<'a> Interpreter<'_, 'a> {
    pub(super) fn call_method_of_tensor(
        &mut self,
        tensor: TensorValue,
        attribute: &'a ExprAttribute,
        arguments: &CallArguments<'a>,
    ) -> AbstractValue<'a> {
        let name = attribute.attr.as_str();
        match name {
            "cpu" => AbstractValue::Tensor(TensorValue { device: TensorDevice::Host, ..tensor }),
            "cuda" => AbstractValue::Tensor(TensorValue { device: TensorDevice::Gpu, ..tensor }),
            "to" => AbstractValue::Tensor(TensorValue { device: device_after_to(tensor, arguments), ..tensor }),
            "requires_grad_" => AbstractValue::Tensor(TensorValue { graph: Graph::Unsure, ..tensor }),
            name if name.ends_with('_')
                && !name.starts_with('_')
                && !matches!(name, "requires_grad_" | "detach_" | "zero_" | "fill_") =>
            {
                let written =
                    arguments.all().filter_map(AbstractValue::tensor).filter(|it| it.graph == Graph::Recorded);
                let written = written.reduce(TensorValue::with);
                match written.filter(|_| self.mode() != Mode::Off) {
                    Some(written) => {
                        let value = AbstractValue::Tensor(tensor.with(written));
                        self.assign(changed_in_place(&attribute.value), value);
                        value
                    }
                    None => AbstractValue::Tensor(tensor),
                }
            }
            "sample" => {
                self.note_read(tensor);
                AbstractValue::Tensor(tensor.detached())
            }
            "detach_" | "zero_" | "fill_" => {
                let value = AbstractValue::Tensor(tensor.detached());
                self.assign(&attribute.value, value);
                value
            }
            "unbind" | "split" | "chunk" | "tensor_split" => {
                let list = self.allocate(ObjectKind::List);
                self.object_mut(list).content = Some(AbstractValue::Tensor(tensor));
                AbstractValue::Object(list)
            }
            // The output of a model may be a mapping of tensors.
            "keys" => AbstractValue::Plain,
            "items" => self.tuples(vec![AbstractValue::Plain, AbstractValue::Tensor(tensor)]),
            "values" => AbstractValue::Tensor(tensor),
            _ => self.result_of_tensor(tensor, name, arguments),
        }
    }

    /// Returns the result of a method without a special meaning.
    fn result_of_tensor(
        &mut self,
        tensor: TensorValue,
        name: &'a str,
        arguments: &CallArguments<'a>,
    ) -> AbstractValue<'a> {
        match tensor_result(name) {
            Gives::Detached if name != "eq" => {
                self.note_read(tensor);
                AbstractValue::Tensor(TensorValue {
                    is_output: is_selection(name) && tensor.is_output,
                    ..tensor.detached()
                })
            }
            Gives::Plain => {
                if matches!(name, "item" | "tolist" | "numpy") {
                    self.note_read(tensor);
                }
                AbstractValue::Plain
            }
            Gives::Detached => AbstractValue::Tensor(TensorValue {
                is_output: is_selection(name) && tensor.is_output,
                ..tensor.detached()
            }),
            Gives::Leaf => AbstractValue::Tensor(TensorValue { graph: Graph::Unsure, ..tensor }),
            Gives::Same => {
                let other = arguments.all().filter_map(AbstractValue::tensor).reduce(TensorValue::with);
                let joined = other.map_or(tensor, |other| tensor.with(other));
                let is_output = joined.is_output && !is_reduction(name, arguments);
                let is_scaled = joined.is_scaled || matches!(name, "div" | "div_" | "true_divide");
                let joined = TensorValue { is_output, is_scaled, is_leaf: false, ..joined };
                AbstractValue::Tensor(if self.mode() == Mode::Off { joined.detached() } else { joined })
            }
        }
    }

    pub(super) fn call_method_of_object(
        &mut self,
        id: ObjectId,
        attribute: &'a ExprAttribute,
        arguments: &CallArguments<'a>,
        at: NodeId,
    ) -> AbstractValue<'a> {
        self.call_named_method(AbstractValue::Object(id), attribute.attr.as_str(), arguments, at)
    }

    /// Calls a method of an object that is no method of a class of the tree.
    pub(super) fn call_named_method(
        &mut self,
        receiver: AbstractValue<'a>,
        name: &'a str,
        arguments: &CallArguments<'a>,
        at: NodeId,
    ) -> AbstractValue<'a> {
        let Some(id) = receiver.object() else {
            // A factory of `defaultdict(list)`.
            return match name {
                "list" => self.new_object(ObjectKind::List),
                "dict" => self.new_object(ObjectKind::Dict),
                _ => AbstractValue::Unknown,
            };
        };
        let object = self.object(id);
        if object.is_module {
            return self.call_method_of_module(id, name, arguments, at);
        }
        match object.kind {
            ObjectKind::List | ObjectKind::Tuple | ObjectKind::Dict | ObjectKind::Iterator => {
                self.call_method_of_container(id, name, arguments, at)
            }
            ObjectKind::ParameterOf(module) if name == "requires_grad_" => {
                let is_frozen =
                    arguments.get("requires_grad", 0).is_some_and(|it| !matches!(it, AbstractValue::Int(1)));
                self.each_part(module, 4, &mut |it| it.is_frozen = is_frozen);
                receiver
            }
            ObjectKind::Scaler if name == "scale" => arguments.first().unwrap_or(AbstractValue::Unknown),
            ObjectKind::Operation if matches!(name, "to" | "cuda") => AbstractValue::Object(id),
            ObjectKind::Optimizer if name == "add_param_group" => AbstractValue::Nothing,
            ObjectKind::Instance(_) if matches!(name, "to" | "cuda") => AbstractValue::Object(id),
            _ => {
                self.escape(arguments);
                AbstractValue::Unknown
            }
        }
    }

    fn parameters_of(&mut self, id: ObjectId, name: &str) -> AbstractValue<'a> {
        let parameter = self.new_object(ObjectKind::ParameterOf(id));
        if name == "parameters" {
            self.iterator_over(parameter)
        } else {
            self.tuples(vec![AbstractValue::Plain, parameter])
        }
    }

    fn call_method_of_module(
        &mut self,
        id: ObjectId,
        name: &'a str,
        arguments: &CallArguments<'a>,
        at: NodeId,
    ) -> AbstractValue<'a> {
        match name {
            "to" | "cuda" | "cpu" | "half" | "float" | "double" | "bfloat16" | "apply" | "to_empty" | "compile" => {
                AbstractValue::Object(id)
            }
            "eval" => {
                self.each_part(id, 4, &mut |it| it.is_eval = Some(true));
                AbstractValue::Object(id)
            }
            "train" => {
                let is_train = !matches!(arguments.first(), Some(AbstractValue::Int(0)));
                self.each_part(id, 4, &mut |it| it.is_eval = Some(!is_train));
                AbstractValue::Object(id)
            }
            "requires_grad_" => {
                let is_frozen =
                    arguments.get("requires_grad", 0).is_some_and(|it| !matches!(it, AbstractValue::Int(1)));
                self.each_part(id, 4, &mut |it| it.is_frozen = is_frozen);
                AbstractValue::Object(id)
            }
            "parameters" | "named_parameters" => self.parameters_of(id, name),
            "register_buffer" => {
                if let (Some(AbstractValue::Text(field)), Some(value)) =
                    (arguments.first(), arguments.positional.get(1))
                {
                    self.object_mut(id).fields.insert(field, *value);
                }
                AbstractValue::Nothing
            }
            "forward" => self.forward_of_library(id, arguments, at),
            "backward" | "step" | "zero_grad" | "state_dict" | "load_state_dict" | "save_pretrained" | "generate" => {
                if name != "load_state_dict" {
                    return AbstractValue::Unknown;
                }
                self.object_mut(id).is_guess = false;
                AbstractValue::Nothing
            }
            "log" | "log_dict" | "save_hyperparameters" | "print" => AbstractValue::Nothing,
            _ if is_module_method(name) => AbstractValue::Unknown,
            _ => {
                // `model.features(x)`, `vae.encode(x)`, `model.get_image_features(x)`: a forward of a part.
                let is_library = self.object(id).kind == ObjectKind::Module;
                let has_tensor = arguments.all().any(|it| it.tensor().is_some());
                let is_named = name.starts_with("forward") || name == "features" || name.starts_with("extract_feat");
                if is_library && (has_tensor || is_named) && !name.starts_with('_') {
                    return self.forward_of_library(id, arguments, at);
                }
                AbstractValue::Unknown
            }
        }
    }
}

/// Checks for a method that picks elements, as an output still.
fn is_selection(name: &str) -> bool {
    matches!(name, "detach" | "detach_")
}

/// Checks for a method that makes a number of a tensor.
fn is_reduction(name: &str, arguments: &CallArguments<'_>) -> bool {
    matches!(name, "mean" | "sum" | "max" | "min" | "norm" | "median" | "std" | "var" | "prod")
        && arguments.all().next().is_none()
}

/// Returns the tensor that a chain of in-place methods changes: `mean` of `mean.mul_(0.9).add_(new)`.
fn changed_in_place(mut expression: &Expr) -> &Expr {
    while let Expr::Call(call) = expression
        && let Expr::Attribute(attribute) = &*call.func
        && attribute.attr.as_str().ends_with('_')
    {
        expression = &attribute.value;
    }
    expression
}

/// Returns the device of a tensor after `to(...)`.
fn device_after_to(tensor: TensorValue, arguments: &CallArguments<'_>) -> TensorDevice {
    match arguments.get("device", 0) {
        Some(AbstractValue::Text(name)) if name.starts_with("cpu") => TensorDevice::Host,
        Some(AbstractValue::Text(name)) if name.starts_with("cuda") => TensorDevice::Gpu,
        Some(_) => TensorDevice::Unsure,
        None => tensor.device,
    }
}
