//! The calls of a file, and the calls of each function defined in the file.

use ruff_python_ast::{Expr, ExprCall};

use super::Model;
use super::data::{Binding, ClassId, DefinitionId, FunctionId, NodeId, RegionId, Syntax};

/// The largest number of aliases between a name and its definition.
const ALIASES: usize = 8;

/// A call expression.
#[derive(Clone, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) id: NodeId,
    pub(crate) region: RegionId,
    pub(crate) syntax: &'a ExprCall,
    /// The dotted path of the called function; for a builtin, its name.
    pub(crate) path: Option<Box<str>>,
}

impl<'a> Call<'a> {
    /// Returns object and name of a method call: `loss` and `backward`.
    pub(crate) fn method(&self) -> Option<(&'a Expr, &'a str)> {
        let attribute = self.syntax.func.as_attribute_expr()?;
        Some((&attribute.value, attribute.attr.as_str()))
    }

    /// Checks whether a call is a method call of that name on an object, not on an imported module.
    pub(crate) fn is_method(&self, name: &str) -> bool {
        self.path.is_none() && self.method().is_some_and(|(_, method)| method == name)
    }

    /// Checks whether the called function has that path.
    pub(crate) fn is(&self, path: &str) -> bool {
        self.path.as_deref() == Some(path)
    }

    /// Checks whether the called function has one of these paths.
    pub(crate) fn is_any(&self, paths: &[&str]) -> bool {
        self.path.as_deref().is_some_and(|path| paths.contains(&path))
    }

    /// Returns the value of a keyword.
    pub(crate) fn keyword(&self, name: &str) -> Option<&'a Expr> {
        self.syntax.arguments.find_keyword(name).map(|keyword| &keyword.value)
    }

    /// Returns the value of an argument, by keyword or position.
    pub(crate) fn argument(&self, name: &str, position: usize) -> Option<&'a Expr> {
        self.syntax.arguments.find_argument_value(name, position)
    }

    /// Checks whether arguments are unpacked (`*a`, `**b`), so that some are unknown.
    pub(crate) fn has_unpacked(&self) -> bool {
        let arguments = &self.syntax.arguments;
        arguments.keywords.iter().any(|keyword| keyword.arg.is_none())
            || arguments.args.iter().any(Expr::is_starred_expr)
    }
}

/// Checks whether an expression is the literal `value`.
pub(crate) fn is_bool(expression: &Expr, value: bool) -> bool {
    expression.as_boolean_literal_expr().is_some_and(|literal| literal.value == value)
}

pub(super) fn collect_calls<'a>(model: &Model<'a>) -> Vec<Call<'a>> {
    let call = |&id: &NodeId| match model.node(id).syntax {
        Syntax::Expression(Expr::Call(syntax)) => {
            let path = model.path(&syntax.func).map(Into::into);
            Some(Call { id, region: model.node(id).region, syntax, path })
        }
        _ => None,
    };
    model.tree.calls.iter().filter_map(call).collect()
}

pub(super) fn collect_callees(model: &Model<'_>) -> Vec<Option<FunctionId>> {
    model.calls.iter().map(|call| model.find_callee(call)).collect()
}

pub(super) fn collect_callers(model: &Model<'_>, called: &[Option<FunctionId>]) -> Vec<Vec<usize>> {
    let mut callers = vec![Vec::new(); model.tree.functions.len()];
    for (index, function) in called.iter().enumerate() {
        if let Some(function) = function {
            callers[function.index()].push(index);
        }
    }
    callers
}

impl<'a> Model<'a> {
    /// Returns the calls of the file, in the order of the walk.
    pub(crate) fn calls(&self) -> &[Call<'a>] {
        &self.calls
    }

    /// Returns the calls between two nodes, both included.
    pub(crate) fn calls_between(&self, range: (NodeId, NodeId)) -> &[Call<'a>] {
        let from = self.calls.partition_point(|call| call.id < range.0);
        let to = self.calls.partition_point(|call| call.id <= range.1);
        self.calls.get(from..to).unwrap_or_default()
    }

    /// Returns the call at an expression.
    pub(crate) fn call(&self, expression: &Expr) -> Option<&Call<'a>> {
        let id = self.id(expression.as_call_expr()?)?;
        self.calls.binary_search_by_key(&id, |call| call.id).ok().and_then(|index| self.calls.get(index))
    }

    /// Iterates over the calls of a function within this file.
    pub(crate) fn callers(&self, function: FunctionId) -> impl Iterator<Item = &Call<'a>> {
        self.callers.get(function.index()).into_iter().flatten().filter_map(|&index| self.calls.get(index))
    }

    /// Returns the function of the tree that a call runs.
    pub(crate) fn callee(&self, call: &Call<'a>) -> Option<FunctionId> {
        let index = self.calls.binary_search_by_key(&call.id, |it| it.id).ok()?;
        self.callees.get(index).copied().flatten()
    }

    /// Finds the function that a call runs: by name, as a method of `self` or `super()`, or as a method of an object with a known class.
    fn find_callee(&self, call: &Call<'a>) -> Option<FunctionId> {
        if let Some(function) = self.named(&call.syntax.func).and_then(|it| self.function_of(it)) {
            return Some(function);
        }
        let attribute = call.syntax.func.as_attribute_expr()?;
        let name = attribute.attr.as_str();
        if !self.methods.contains(name) {
            return None;
        }
        match &*attribute.value {
            Expr::Name(base) if base.id.as_str() == "self" => {
                self.method_of(self.class_of_self(self.definition(base))?, name)
            }
            Expr::Name(_) | Expr::Attribute(_) => self.method_of(self.class_of_object(&attribute.value)?, name),
            _ => None,
        }
    }

    /// Returns a method of a class, or of the bases that the tree defines.
    pub(crate) fn method_of(&self, class: ClassId, name: &str) -> Option<FunctionId> {
        self.own_and_bases(class).into_iter().find_map(|it| self.tree.classes[it.index()].methods.get(name).copied())
    }

    /// Returns a class and its bases in the tree, nearest first.
    pub(crate) fn own_and_bases(&self, class: ClassId) -> Vec<ClassId> {
        let mut classes = vec![class];
        let mut next = 0;
        while let Some(&class) = classes.get(next).filter(|_| classes.len() < 8) {
            let syntax = self.tree.classes[class.index()].syntax;
            for base in syntax.arguments.iter().flat_map(|arguments| &arguments.args) {
                let base = self.named(base).and_then(|it| self.class_of(it));
                classes.extend(base.filter(|it| !classes.contains(it)));
            }
            next += 1;
        }
        classes
    }

    /// Returns the function of the tree bound by a definition.
    pub(crate) fn function_of(&self, definition: DefinitionId) -> Option<FunctionId> {
        match self.meant(definition, ALIASES)? {
            Binding::Function(function) => Some(*function),
            _ => None,
        }
    }

    /// Returns the class of the tree bound by a definition.
    pub(crate) fn class_of(&self, definition: DefinitionId) -> Option<ClassId> {
        match self.meant(definition, ALIASES)? {
            Binding::Class(class) => Some(*class),
            _ => None,
        }
    }

    /// Returns the binding behind aliases and names of outer scopes; files may import a name from each other.
    fn meant(&self, definition: DefinitionId, left: usize) -> Option<&Binding<'a>> {
        let left = left.checked_sub(1)?;
        match &self.tree.definitions[definition.index()].binding {
            Binding::Alias(definition) => self.meant(*definition, left),
            Binding::Outer(symbol) => match self.tree.symbols[symbol.index()].bindings.as_slice() {
                [only] => self.meant(*only, left),
                _ => None,
            },
            binding => Some(binding),
        }
    }

    /// Returns the class for which a definition is `self`.
    pub(crate) fn class_of_self(&self, definition: DefinitionId) -> Option<ClassId> {
        match &self.tree.definitions[definition.index()].binding {
            Binding::Parameter(function, 0, _) => self.tree.functions[function.index()].class,
            Binding::Outer(symbol) => {
                let binding = self.tree.symbols[symbol.index()].bindings.first()?;
                self.class_of_self(*binding)
            }
            _ => None,
        }
    }

    /// Returns the argument that a call passes to a parameter of a function of this file.
    pub(crate) fn argument_of(
        &self,
        call: &Call<'a>,
        function: FunctionId,
        index: usize,
        name: &str,
    ) -> Option<&'a Expr> {
        let is_bound = call.method().is_some() && self.tree.functions[function.index()].class.is_some();
        let position = if is_bound { index.checked_sub(1)? } else { index };
        call.argument(name, position)
    }
}
