//! Data that stays on the GPU: tensors of a data set, and arrays that are moved as a whole.

use ruff_python_ast::{Expr, ExprCall, Stmt};
use ruff_text_size::Ranged;
use rustc_hash::FxHashSet;

use super::data::{ClassId, FunctionId, NodeId, RegionKind, Syntax};
use super::names::last;
use super::{Call, Model, ValueKind};

impl<'a> Model<'a> {
    /// Returns the calls that place tensors on a GPU which the constructor of a class stores in the object.
    pub(crate) fn stored_on_gpu(&self, class: ClassId) -> Vec<&'a ExprCall> {
        let mut calls: Vec<&'a ExprCall> = Vec::new();
        for function in self.constructing(class) {
            let body = self.tree.functions[function.index()].body;
            calls.extend(
                self.calls_between(body)
                    .iter()
                    .filter(|call| self.places_on_gpu(call) && self.is_stored_in_self(call))
                    .map(|call| call.syntax),
            );
        }
        for value in self.stored_values(class) {
            let is_around = |call: &&'a ExprCall| value.range().contains_range(call.range());
            if !calls.iter().any(is_around)
                && let Some(placed) = self.placed(value)
            {
                let call = value.as_call_expr().unwrap_or(placed);
                calls.extend((!calls.iter().any(|it| it.range() == call.range())).then_some(call));
            }
        }
        calls
    }

    /// Returns the values that the constructor of a class stores in attributes.
    fn stored_values(&self, class: ClassId) -> Vec<&'a Expr> {
        let constructing = self.constructing(class);
        let is_constructing = |value: &Expr| {
            self.id(value)
                .and_then(|id| self.function(self.node(id).region))
                .is_some_and(|it| constructing.contains(&it))
        };
        let unpacked =
            constructing.iter().flat_map(|it| &self.tree.functions[it.index()].syntax.body).flat_map(unpacked);
        let values = self.tree.classes[class.index()].attributes.values().flatten().copied();
        values.chain(unpacked).filter(|it| is_constructing(it) && !self.may_be_module(it)).collect()
    }

    /// Checks whether a call moves a tensor to a GPU, or creates one there; modules are no data.
    pub(crate) fn places_on_gpu(&self, call: &Call<'a>) -> bool {
        let is_tensor = || call.method().is_some_and(|(receiver, _)| !self.may_be_module(receiver));
        self.creates_on_gpu(call) || self.loads_to_gpu(call) || (self.may_move_to_gpu(call) && is_tensor())
    }

    fn may_be_module(&self, receiver: &'a Expr) -> bool {
        let is_made = |call: &Call<'a>| {
            let function = self.source(&*call.syntax.func);
            last(function).starts_with(|first: char| first.is_ascii_uppercase())
                && !call.path.as_deref().is_some_and(super::known::makes_tensor)
        };
        matches!(self.value(receiver), ValueKind::Module | ValueKind::Operation)
            || self.is_model(receiver)
            || self.call(receiver).is_some_and(is_made)
    }

    /// Returns the constructor of a class, and the methods that it calls on the object.
    fn constructing(&self, class: ClassId) -> Vec<FunctionId> {
        let mut functions: Vec<FunctionId> =
            self.tree.classes[class.index()].methods.get("__init__").copied().into_iter().collect();
        let mut next = 0;
        while let Some(&function) = functions.get(next).filter(|_| functions.len() < 12) {
            let body = self.tree.functions[function.index()].body;
            let own = self
                .calls_between(body)
                .iter()
                .filter(|call| call.method().is_some_and(|(it, _)| self.source(it) == "self"));
            let called: Vec<FunctionId> = own.filter_map(|call| self.callee(call)).collect();
            for function in called {
                if !functions.contains(&function) {
                    functions.push(function);
                }
            }
            next += 1;
        }
        functions
    }

    /// Checks whether a value becomes a part of `self`: by an assignment, in a list, or through a local name.
    fn is_stored_in_self(&self, call: &Call<'a>) -> bool {
        let in_lambda = self.regions(call.region).any(|kind| matches!(kind, RegionKind::Lambda));
        let Some((id, statement)) = self.statement(call.id).filter(|_| !in_lambda) else { return false };
        match statement {
            Stmt::Assign(it) => it.targets.iter().any(|target| match target {
                Expr::Name(name) => self.is_passed_to_self(id, name.id.as_str()),
                other => Self::root_is_self(other),
            }),
            Stmt::AnnAssign(it) => Self::root_is_self(&it.target),
            Stmt::Expr(it) => {
                self.collected_by(call.id).is_some_and(Self::root_is_self) || self.is_setattr_of_self(&it.value)
            }
            _ => false,
        }
    }

    /// `setattr(self, name, value)`
    fn is_setattr_of_self(&self, value: &'a Expr) -> bool {
        let Some(call) = value.as_call_expr().filter(|it| self.source(&*it.func) == "setattr") else { return false };
        call.arguments.args.first().is_some_and(|it| self.source(it) == "self")
    }

    /// Returns the list to which a value below a call of `append` is added.
    pub(crate) fn collected_by(&self, mut id: NodeId) -> Option<&'a Expr> {
        loop {
            let parent = self.node(id).parent;
            let Syntax::Expression(expression) = self.node(parent).syntax else { return None };
            if let Some((list, "append" | "extend")) = self.call(expression).and_then(Call::method) {
                return Some(list);
            }
            if parent == id {
                return None;
            }
            id = parent;
        }
    }

    /// Checks whether a statement behind another stores a name in `self`.
    fn is_passed_to_self(&self, behind: NodeId, name: &str) -> bool {
        let function = self.function(self.node(behind).region);
        let is_name = |it: &Expr| it.as_name_expr().is_some_and(|it| it.id.as_str() == name);
        let range = (behind, self.body(function).1);
        let mut appended = self.calls_between(range).iter().filter(|call| call.is_method("append"));
        let is_assigned =
            self.statements().filter(|(id, _)| range.0 <= *id && *id <= range.1).any(|(_, it)| match it {
                Stmt::Assign(it) => {
                    self.mentions(&it.value, name)
                        && it.targets.iter().any(|it| it.is_attribute_expr() && Self::root_is_self(it))
                }
                _ => false,
            });
        is_assigned
            || appended.any(|call| {
                call.syntax
                    .arguments
                    .args
                    .iter()
                    .any(|it| is_name(it) || (it.is_tuple_expr() && self.mentions(it, name)))
                    && call.method().is_some_and(|(it, _)| Self::root_is_self(it))
            })
    }

    /// Returns the classes of data sets, of which loaders or training loops take items.
    pub(crate) fn dataset_classes(&self) -> Vec<ClassId> {
        let mut seen = FxHashSet::default();
        let classes = (0..).map(ClassId).take(self.tree.classes.len());
        classes.filter(|&it| self.is_dataset(it) && seen.insert(it)).collect()
    }

    /// Checks whether a model runs between two nodes, or in a function that is called there.
    pub(crate) fn works_of_model(&self, range: (NodeId, NodeId)) -> bool {
        self.reached_calls(range).into_iter().any(|call| self.is_forward(call) || self.backward_subject(call).is_some())
    }
}

/// Returns the values of `self.x, self.y = x, y`.
fn unpacked(statement: &Stmt) -> Vec<&Expr> {
    let Some(it) = statement.as_assign_stmt() else { return Vec::new() };
    match (it.targets.as_slice(), &*it.value) {
        ([Expr::Tuple(targets)], Expr::Tuple(values)) if targets.elts.len() == values.elts.len() => {
            let pairs = targets.elts.iter().zip(&values.elts);
            pairs.filter(|(target, _)| target.is_attribute_expr()).map(|(_, value)| value).collect()
        }
        _ => Vec::new(),
    }
}
