//! Qualified names: `F.cross_entropy` is `torch.nn.functional.cross_entropy` after `import torch.nn.functional as F`.

use std::borrow::Cow;

use ruff_python_ast::{Expr, ExprAttribute, ExprName};

use super::Model;
use super::build::UNBOUND;
use super::data::{Binding, DefinitionId};

/// The builtins that rules ask for. Another unbound name comes from `from x import *`.
const BUILTINS: &[&str] = &[
    "bool",
    "dict",
    "enumerate",
    "filter",
    "float",
    "int",
    "iter",
    "len",
    "list",
    "map",
    "max",
    "min",
    "next",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "sorted",
    "str",
    "sum",
    "tuple",
    "zip",
];

/// The largest number of aliases that are followed.
const ALIASES: usize = 8;

impl<'a> Model<'a> {
    /// Returns the dotted path of an expression; for a builtin, its name. `None` for other expressions and for names that the file defines.
    pub(crate) fn path(&self, expression: &'a Expr) -> Option<Cow<'_, str>> {
        self.path_within(expression, ALIASES)
    }

    fn path_within(&self, expression: &'a Expr, left: usize) -> Option<Cow<'_, str>> {
        match expression {
            Expr::Name(name) => self.path_of_name(name, left.checked_sub(1)?),
            Expr::Attribute(attribute) => {
                let base = self.path_within(&attribute.value, left.checked_sub(1)?)?;
                if let Some(definition) = self.linked_name(attribute, &base) {
                    return self.path_of_definition(definition, left.checked_sub(1)?);
                }
                Some(Cow::Owned(format!("{base}.{}", attribute.attr.as_str())))
            }
            _ => None,
        }
    }

    fn path_of_name(&self, name: &'a ExprName, left: usize) -> Option<Cow<'_, str>> {
        match self.definition(name) {
            UNBOUND => BUILTINS.contains(&name.id.as_str()).then_some(Cow::Borrowed(name.id.as_str())),
            definition => self.path_of_definition(definition, left),
        }
    }

    fn path_of_definition(&self, definition: DefinitionId, left: usize) -> Option<Cow<'_, str>> {
        let left = left.checked_sub(1)?;
        match &self.tree.definitions[definition.index()].binding {
            Binding::Import(path) => Some(Cow::Borrowed(path)),
            Binding::Alias(definition) => self.path_of_definition(*definition, left),
            Binding::Value(value @ (Expr::Name(_) | Expr::Attribute(_))) => {
                self.path_within(value, left).filter(|path| path.contains('.'))
            }
            Binding::Join(inputs, _) => self.path_of_all(inputs.iter().filter(|&&it| it != UNBOUND), left),
            Binding::Outer(symbol) => self.path_of_all(&self.tree.symbols[symbol.index()].bindings, left),
            _ => None,
        }
    }

    /// Returns the definition that an expression names: a name, or a name of a linked file, `models.Net`.
    pub(crate) fn named(&self, expression: &'a Expr) -> Option<DefinitionId> {
        match expression {
            Expr::Name(name) => Some(self.definition(name)),
            Expr::Attribute(attribute) if !self.linked.files.is_empty() => {
                let module = self.path_within(&attribute.value, ALIASES)?;
                self.linked_name(attribute, &module)
            }
            _ => None,
        }
    }

    /// Returns the definition of an attribute of a linked file.
    fn linked_name(&self, attribute: &'a ExprAttribute, module: &str) -> Option<DefinitionId> {
        if self.linked.files.is_empty() {
            return None;
        }
        let at = self.id(attribute)?;
        let file = self.tree.ends.iter().position(|end| at < end.0)?;
        let modules = match file.checked_sub(1) {
            Some(index) => &self.linked.files.get(index)?.modules,
            None => &self.linked.modules,
        };
        let exports = &self.tree.files.get(modules.get(module)?.0)?.exports;
        exports.get(attribute.attr.as_str()).copied()
    }

    /// Returns the first path if all definitions have one: `try: import a as x` and `except: import b as x` mean the same.
    fn path_of_all<'d>(
        &self,
        definitions: impl IntoIterator<Item = &'d DefinitionId>,
        left: usize,
    ) -> Option<Cow<'_, str>> {
        // Joins of joins multiply the number of paths.
        let left = left.checked_sub(2)?;
        let mut paths = definitions.into_iter().take(4).map(|&definition| self.path_of_definition(definition, left));
        let first = paths.next()??;
        if paths.all(|path| path.is_some()) { Some(first) } else { None }
    }
}

/// Checks for a builtin that rules ask for.
pub(crate) fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&name)
}

/// Returns the last part of a dotted path.
pub(crate) fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}
