//! The class of an object, for classes that the tree defines: through names, attributes of `self`, arguments, functions that return the
//! object, and wrappers that keep it.

use ruff_python_ast::{Expr, ExprCall};

use super::data::{Binding, ClassId, DefinitionId, FunctionId};
use super::names::last;
use super::{Model, known};

/// The largest number of steps of a query.
const STEPS: usize = 12;
/// The largest number of values of one name; a name with more is treated as unknown.
const MOST_VALUES: usize = 16;

impl<'a> Model<'a> {
    /// Returns the class of an object; `None` if the class is unknown, or differs between the values of a name.
    pub(crate) fn class_of_object(&self, object: &'a Expr) -> Option<ClassId> {
        self.class_within(object, STEPS)
    }

    fn class_within(&self, object: &'a Expr, left: usize) -> Option<ClassId> {
        let left = left.checked_sub(1)?;
        match object {
            Expr::Name(name) => self.class_of_definition(self.definition(name), left),
            Expr::Attribute(attribute) => {
                if let Some(definition) = self.named(object) {
                    return self.class_of_definition(definition, left);
                }
                if attribute.attr.as_str() == "module" {
                    return self.class_within(&attribute.value, left);
                }
                let class = self.class_within(&attribute.value, left)?;
                self.only_class(self.assigned_values(class, attribute.attr.as_str()).map(|it| (it, left)))
            }
            Expr::Call(call) => self.class_of_call(object, call, left),
            Expr::Named(it) => self.class_within(&it.value, left),
            Expr::If(it) => self.only_class([(&*it.body, left), (&*it.orelse, left)].into_iter()),
            Expr::Await(it) => self.class_within(&it.value, left),
            _ => None,
        }
    }

    /// Returns the class of all values, if they share one. `None` as a value counts for nothing.
    fn only_class(&self, values: impl Iterator<Item = (&'a Expr, usize)>) -> Option<ClassId> {
        let mut values = values.filter(|(value, _)| !value.is_none_literal_expr()).take(MOST_VALUES);
        let (value, left) = values.next()?;
        let class = self.class_within(value, left)?;
        values.all(|(value, left)| self.class_within(value, left) == Some(class)).then_some(class)
    }

    fn class_of_call(&self, object: &'a Expr, syntax: &'a ExprCall, left: usize) -> Option<ClassId> {
        if let Some(definition) = self.named(&syntax.func) {
            if let Some(class) = self.class_of(definition) {
                return Some(class);
            }
            if let Some(function) = self.function_of(definition) {
                return self.class_returned(function, left);
            }
        }
        let first = syntax.arguments.args.first();
        if let Some(call) = self.call(object)
            && let Some(path) = call.path.as_deref()
        {
            return self.class_within(first.filter(|_| known::keeps_module(path))?, left);
        }
        let attribute = syntax.func.as_attribute_expr()?;
        match attribute.attr.as_str() {
            "to" | "cuda" | "cpu" | "eval" | "train" | "half" | "float" | "bfloat16" | "double" | "requires_grad_"
            | "share_memory" => self.class_within(&attribute.value, left),
            "prepare" | "prepare_model" | "setup" | "setup_module" if syntax.arguments.args.len() == 1 => {
                self.class_within(first?, left)
            }
            name => {
                let class = self.class_within(&attribute.value, left)?;
                self.class_returned(self.method_of(class, name)?, left)
            }
        }
    }

    fn class_returned(&self, function: FunctionId, left: usize) -> Option<ClassId> {
        let returned = &self.tree.functions[function.index()].returned;
        self.only_class(returned.iter().map(|&it| (it, left)))
    }

    fn class_of_definition(&self, definition: DefinitionId, left: usize) -> Option<ClassId> {
        let left = left.checked_sub(1)?;
        match &self.tree.definitions[definition.index()].binding {
            Binding::Value(value) => self.class_within(value, left),
            Binding::Item(value, path) => self.class_of_item(value, path, left),
            Binding::Alias(definition) => self.class_of_definition(*definition, left),
            Binding::Parameter(function, index, parameter) => {
                if *index == 0
                    && parameter.name.as_str() == "self"
                    && let Some(class) = self.tree.functions[function.index()].class
                {
                    return Some(class);
                }
                let annotated = parameter.annotation.as_deref().and_then(|it| self.named(it));
                if let Some(class) = annotated.and_then(|it| self.class_of(it)) {
                    return Some(class);
                }
                let given = self.callers(*function).filter_map(|call| {
                    Some((self.argument_of(call, *function, *index, parameter.name.as_str())?, left))
                });
                self.only_class(given)
            }
            Binding::Join(inputs, _) => self.class_of_all(inputs, left),
            Binding::Outer(symbol) => self.class_of_all(&self.tree.symbols[symbol.index()].bindings, left),
            _ => None,
        }
    }

    fn class_of_all(&self, definitions: &[DefinitionId], left: usize) -> Option<ClassId> {
        let is_nothing = |it: DefinitionId| match &self.tree.definitions[it.index()].binding {
            Binding::Value(value) => value.is_none_literal_expr(),
            Binding::Unbound => true,
            _ => false,
        };
        let mut known = definitions.iter().copied().filter(|&it| !is_nothing(it)).take(MOST_VALUES);
        let left = left.checked_sub(1)?;
        let class = self.class_of_definition(known.next()?, left)?;
        known.all(|it| self.class_of_definition(it, left) == Some(class)).then_some(class)
    }

    /// `model, optimizer = accelerator.prepare(model, optimizer)`, `a, b = A(), B()`, and functions that return such a tuple.
    fn class_of_item(&self, value: &'a Expr, path: &[usize], left: usize) -> Option<ClassId> {
        let left = left.checked_sub(1)?;
        let (&first, rest) = path.split_first()?;
        if let Expr::Tuple(it) = value {
            let item = it.elts.get(first)?;
            return if rest.is_empty() { self.class_within(item, left) } else { self.class_of_item(item, rest, left) };
        }
        let call = self.call(value)?;
        if let Some(function) = self.named(&call.syntax.func).and_then(|it| self.function_of(it)) {
            let mut returned = self.tree.functions[function.index()].returned.iter();
            let class = self.class_of_item(returned.next()?, path, left)?;
            return returned.all(|it| self.class_of_item(it, path, left) == Some(class)).then_some(class);
        }
        let name = call.method().map(|(_, name)| name).or(call.path.as_deref().map(last))?;
        let is_prepared = matches!(name, "prepare" | "setup" | "initialize") && rest.is_empty();
        self.class_within(call.syntax.arguments.args.get(first).filter(|_| is_prepared)?, left)
    }

    /// Returns the values that a class and its bases assign to an attribute of `self`.
    pub(crate) fn assigned_values(&self, class: ClassId, name: &str) -> impl Iterator<Item = &'a Expr> {
        let classes = self.own_and_bases(class);
        let of_class = |it: ClassId| self.tree.classes[it.index()].attributes.get(name).cloned().unwrap_or_default();
        classes.into_iter().flat_map(of_class).collect::<Vec<_>>().into_iter()
    }

    /// Checks whether an imported class of an unknown library is a base of a class: it may wrap the methods, as torchmetrics does.
    pub(crate) fn has_unknown_base(&self, class: ClassId) -> bool {
        self.own_and_bases(class).into_iter().any(|it| {
            let bases = self.tree.classes[it.index()].syntax.arguments.iter().flat_map(|it| &it.args);
            bases.into_iter().any(|base| {
                let is_object = base.as_name_expr().is_some_and(|name| name.id.as_str() == "object");
                let is_known = self.named(base).and_then(|it| self.class_of(it)).is_some();
                !is_object && !is_known && self.path(base).as_deref() != Some("torch.nn.Module")
            })
        })
    }
}
