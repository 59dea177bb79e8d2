//! The functions behind hooks: of a name, a bound method, a partial function, a factory, an object with `__call__`.

use ruff_python_ast::Expr;

use super::Model;
use super::data::{Binding, FunctionId};

/// The code run by a hook: a function of the tree or a lambda.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HookFunction {
    pub(crate) function: FunctionId,
    /// The number of parameters in front of those that the hook gets: `self`, and those bound by `partial`.
    pub(crate) bound: usize,
}

impl<'a> Model<'a> {
    /// Returns the function that a hook runs.
    pub(crate) fn hook_function(&self, hook: &'a Expr) -> Option<HookFunction> {
        self.hook_within(hook, 5)
    }

    fn hook_within(&self, hook: &'a Expr, left: usize) -> Option<HookFunction> {
        let left = left.checked_sub(1)?;
        if let Some(function) = self.function_named(hook) {
            return Some(HookFunction { function, bound: 0 });
        }
        match hook {
            Expr::Attribute(it) => {
                let function = self.method_of(self.class_of_object(&it.value)?, it.attr.as_str())?;
                let decorators = &self.tree.functions[function.index()].syntax.decorator_list;
                let is_static = decorators.iter().any(|it| self.source(&it.expression) == "staticmethod");
                Some(HookFunction { function, bound: usize::from(!is_static) })
            }
            Expr::Call(_) => self.hook_of_call(hook, left),
            Expr::Name(name) => match &self.tree.definitions[self.definition(name).index()].binding {
                Binding::Value(value) => self.hook_within(value, left).or_else(|| self.callable(hook)),
                _ => self.callable(hook),
            },
            _ => None,
        }
    }

    fn hook_of_call(&self, hook: &'a Expr, left: usize) -> Option<HookFunction> {
        let call = self.call(hook)?;
        let arguments = &call.syntax.arguments.args;
        if call.is("functools.partial") {
            let inner = self.hook_within(arguments.first()?, left)?;
            return Some(HookFunction {
                bound: inner.bound.saturating_add(arguments.len().saturating_sub(1)),
                ..inner
            });
        }
        match self.callee(call) {
            Some(function) => self.hook_within(self.tree.functions[function.index()].returned.first()?, left),
            None => self.callable(hook),
        }
    }

    /// An object of a class with `__call__`.
    fn callable(&self, object: &'a Expr) -> Option<HookFunction> {
        let function = self.method_of(self.class_of_object(object)?, "__call__")?;
        Some(HookFunction { function, bound: 1 })
    }
}
