//! Arguments of calls behind `**options`, and batches behind parameters.

use ruff_python_ast::Expr;

use super::data::{Binding, DefinitionId};
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
            match self.option(&keyword.value, name) {
                GivenArgument::Absent => {}
                known => return known,
            }
        }
        GivenArgument::Absent
    }

    /// `options["num_workers"] = 4`, `options.update(...)`
    pub(super) fn is_dict_changed(&self, dict: &'a Expr) -> bool {
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
        if let Some(call) = self.call(expression) {
            return self.is_batch_of_call(call, left);
        }
        let Some(root) = Self::root(expression) else { return false };
        self.is_definition_of_batch(self.definition(root), left)
    }

    /// Checks for a loader, also one made by `partial` or another name of the class, and for a wrapper around one.
    fn yields_batches(&self, iterated: &'a Expr) -> bool {
        if self.gives_batches(iterated) {
            return true;
        }
        if let Some(call) = self.call(iterated)
            && super::known::wraps_iterable(call)
        {
            return call.syntax.arguments.args.iter().any(|it| self.yields_batches(it));
        }
        self.is_called_loader(iterated)
            || self.option_values(iterated).into_iter().filter_map(|it| self.call(it)).any(|it| self.makes_loader(it))
    }

    fn is_definition_of_batch(&self, definition: DefinitionId, left: usize) -> bool {
        let Some(left) = left.checked_sub(1) else { return false };
        match &self.tree.definitions[definition.index()].binding {
            Binding::Parameter(function, index, parameter) => self.callers(*function).any(|call| {
                let argument = self.argument_of(call, *function, *index, parameter.name.as_str());
                argument.is_some_and(|it| self.is_batch(it, left))
            }),
            Binding::Value(value) | Binding::Item(value, _) => self.is_batch(value, left),
            Binding::Element(value, _) => self.yields_batches(value) || self.is_batch(value, left),
            Binding::Join(inputs, _) => inputs.iter().any(|&it| self.is_definition_of_batch(it, left)),
            _ => false,
        }
    }

    /// `batch.items()`, `next(iter(loader))`, `move(batch)`
    fn is_batch_of_call(&self, call: &Call<'a>, left: usize) -> bool {
        if call.is("next") {
            let iterator = call.syntax.arguments.args.first();
            let made = iterator.map_or_else(Vec::new, |it| self.option_values(it));
            return made.into_iter().any(|it| self.yields_batches(it));
        }
        if let Some((object, name)) = call.method()
            && matches!(name, "items" | "values" | "to" | "cuda" | "float" | "long" | "get" | "pop")
        {
            return self.is_batch(object, left);
        }
        let keeps =
            call.is_any(&["enumerate", "zip", "list", "tuple", "dict", "sorted", "map"]) || self.callee(call).is_some();
        keeps && call.syntax.arguments.args.iter().any(|it| self.is_batch(it, left))
    }

    /// Checks whether a name says that an object is a loader, where the value is unknown.
    pub(crate) fn is_called_loader(&self, object: &'a Expr) -> bool {
        let is_named = |name: &str| {
            let name = name.to_ascii_lowercase();
            name.contains("loader") || name.ends_with("_dl") || name == "dl"
        };
        let (name, is_part) = match object {
            Expr::Name(it) => (it.id.as_str(), false),
            Expr::Attribute(it) => (it.attr.as_str(), false),
            Expr::Subscript(it) => (self.source(&*it.value).rsplit('.').next().unwrap_or_default(), true),
            _ => return self.value(object) == super::ValueKind::Loader,
        };
        let value = self.value(object);
        let is_unknown = matches!(value, super::ValueKind::Unknown | super::ValueKind::Pending);
        let is_plural = name.to_ascii_lowercase().ends_with("loaders") || name.to_ascii_lowercase().ends_with("dls");
        value == super::ValueKind::Loader
            || (is_named(name) && is_plural == is_part && is_unknown && self.class_of_object(object).is_none())
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
