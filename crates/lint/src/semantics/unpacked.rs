//! Arguments of calls behind `**options`, and batches behind parameters.

use ruff_python_ast::Expr;

use super::data::Binding;
use super::{Call, Model};

/// An argument of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum GivenArgument<'a> {
    Value(&'a Expr),
    Absent,
    /// Arguments are unpacked, and not all are known.
    Unsure,
}

impl<'a> Model<'a> {
    /// Returns an argument by keyword or position, also behind `**options` if the dict is known.
    pub(crate) fn given(&self, call: &Call<'a>, name: &str, position: usize) -> GivenArgument<'a> {
        if let Some(value) = call.argument(name, position) {
            return GivenArgument::Value(value);
        }
        if call.syntax.arguments.args.iter().any(Expr::is_starred_expr) {
            return GivenArgument::Unsure;
        }
        for keyword in call.syntax.arguments.keywords.iter().filter(|it| it.arg.is_none()) {
            match self.item_of_dict(&keyword.value, name) {
                GivenArgument::Absent => {}
                known => return known,
            }
        }
        GivenArgument::Absent
    }

    /// Returns the value of a key of a dict that is a literal, or a name of one, and is never changed.
    fn item_of_dict(&self, dict: &'a Expr, name: &str) -> GivenArgument<'a> {
        let made = self.assigned_expressions(dict, 4);
        let [only] = (if dict.is_dict_expr() { vec![dict] } else { made })[..] else { return GivenArgument::Unsure };
        if self.is_dict_changed(dict) {
            return GivenArgument::Unsure;
        }
        match only {
            Expr::Dict(it) => {
                let is_key = |key: &Expr| key.as_string_literal_expr().is_some_and(|it| it.value.to_str() == name);
                let found = it.items.iter().find(|item| item.key.as_ref().is_some_and(is_key));
                let is_known = it.items.iter().all(|item| item.key.as_ref().is_some_and(Expr::is_string_literal_expr));
                match found {
                    Some(item) => GivenArgument::Value(&item.value),
                    None if is_known => GivenArgument::Absent,
                    None => GivenArgument::Unsure,
                }
            }
            Expr::Call(it) if self.call(only).is_some_and(|call| call.is("dict")) && it.arguments.args.is_empty() => {
                let is_known = it.arguments.keywords.iter().all(|it| it.arg.is_some());
                match it.arguments.find_keyword(name) {
                    Some(keyword) => GivenArgument::Value(&keyword.value),
                    None if is_known => GivenArgument::Absent,
                    None => GivenArgument::Unsure,
                }
            }
            _ => GivenArgument::Unsure,
        }
    }

    /// `options["num_workers"] = 4`, `options.update(...)`
    fn is_dict_changed(&self, dict: &'a Expr) -> bool {
        let text = self.source(dict);
        let by_method = self.calls().iter().any(|call| {
            call.method().is_some_and(|(it, name)| matches!(name, "update" | "setdefault") && self.source(it) == text)
        });
        let is_stored =
            |it: &Expr| it.as_subscript_expr().is_some_and(|it| it.ctx.is_store() && self.source(&*it.value) == text);
        by_method || self.expressions(self.whole_text()).any(|(_, it)| is_stored(it))
    }

    /// Returns the first and the last node of all files.
    pub(crate) fn whole_text(&self) -> (super::data::NodeId, super::data::NodeId) {
        let last = u32::try_from(self.tree.nodes.len().saturating_sub(1)).unwrap_or(u32::MAX);
        (super::data::NodeId(0), super::data::NodeId(last))
    }

    /// Checks whether an expression is a batch of a loader or a part of one, also as an argument of the function around.
    pub(crate) fn is_batch(&self, expression: &'a Expr, left: usize) -> bool {
        let Some(left) = left.checked_sub(1) else { return false };
        if self.comes_from_loader(expression) {
            return true;
        }
        let Some(root) = Self::root(expression) else { return false };
        match &self.tree.definitions[self.definition(root).index()].binding {
            Binding::Parameter(function, index, parameter) => self.callers(*function).any(|call| {
                let argument = self.argument_of(call, *function, *index, parameter.name.as_str());
                argument.is_some_and(|it| self.is_batch(it, left))
            }),
            _ => false,
        }
    }

    /// Checks whether a name says that an object is a loader, where the value is unknown.
    pub(crate) fn is_called_loader(&self, object: &'a Expr) -> bool {
        let name = match object {
            Expr::Name(it) => it.id.as_str(),
            Expr::Attribute(it) => it.attr.as_str(),
            _ => return self.value(object) == super::ValueKind::Loader,
        };
        let name = name.to_ascii_lowercase();
        self.value(object) == super::ValueKind::Loader
            || (name.ends_with("loader")
                && self.value(object) == super::ValueKind::Unknown
                && self.class_of_object(object).is_none())
    }

    /// Checks whether a call moves an object to the GPU: `.to(device)` with a parameter or field that is a GPU in all calls and by default.
    pub(crate) fn is_certain_move_to_gpu(&self, call: &Call<'a>) -> bool {
        if self.is_move_to_gpu(call) {
            return true;
        }
        let Some(device) = call.argument("device", 0).filter(|_| call.is_method("to")) else { return false };
        let made = if device.is_name_expr() || device.is_attribute_expr() {
            self.assigned_expressions(device, 4)
        } else {
            Vec::new()
        };
        let is_gpu = |it: &&'a Expr| {
            let inner = if it.is_name_expr() { self.assigned_expressions(it, 4) } else { Vec::new() };
            self.device_of(it) == super::TensorDevice::Gpu
                || (!inner.is_empty() && inner.iter().all(|it| self.device_of(it) == super::TensorDevice::Gpu))
        };
        !made.is_empty() && made.iter().all(is_gpu)
    }
}
